package reduced_test

import (
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// thing is a resource without a spec.
type thing struct{ md resource.Metadata }

func (t *thing) Metadata() *resource.Metadata { return &t.md }
func (t *thing) Spec() any                    { return nil }
func (t *thing) DeepCopy() resource.Resource  { return &thing{t.md} }

// at returns a version of a resource that was created at a second of the epoch.
func at(created int64, version uint64) *thing {
	v := resource.VersionUndefined
	for range version {
		v = v.Next()
	}

	t := &thing{resource.NewMetadata("n", "T", "a", v)}
	t.md.SetCreated(time.Unix(created, 0))

	return t
}
