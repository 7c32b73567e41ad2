package reduced

import (
	"reflect"

	"github.com/cosi-project/runtime/pkg/resource"
)

// Tombstones tells tombstones from other resources, which is a matter of their type. Asking for it is a search by type, so the last type that
// was none is remembered: that of most that follow. It is not safe for concurrent use.
type Tombstones struct{ living reflect.Type }

// Has tells whether the resource is a tombstone.
func (t *Tombstones) Has(res resource.Resource) bool {
	typ := reflect.TypeOf(res)
	if typ == t.living {
		return false
	}

	if resource.IsTombstone(res) {
		return true
	}

	t.living = typ

	return false
}
