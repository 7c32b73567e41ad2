package rivalry

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/internal/index"
)

// existence is the path under which a resource that is created and destroyed by turns is named.
const existence = "existence"

// contents are what a version of a resource holds, but for times: a hash for each field, in order of path. No value can be
// found out from them. Of a resource that has gone, they may be those that it had.
type contents struct {
	gone    bool
	version uint64
	leaves  []leaf
}

// leaf is a field: a path like spec.size, and the hash of its value, which is not 0.
type leaf struct {
	path string
	hash uint64
}

// change is a field that differs between two contents; 0 is that it was not there.
type change struct {
	path     string
	from, to uint64
}

// contentsOf returns the contents of a resource, or false where what is called for it panics.
func contentsOf(res resource.Resource) (c contents, ok bool) {
	defer func() {
		if recover() != nil {
			c, ok = contents{}, false
		}
	}()

	md := res.Metadata()
	b := walk{}

	b.text("metadata.phase", md.Phase().String())
	b.text("metadata.owner", md.Owner())
	b.texts("metadata.labels.", md.Labels().Raw())
	b.texts("metadata.annotations.", md.Annotations().Raw())

	for _, fin := range *md.Finalizers() {
		b.text("metadata.finalizers."+fin, "")
	}

	b.value("spec", reflect.ValueOf(res.Spec()), 0)

	return contents{version: md.Version().Value(), leaves: b.finish()}, true
}

// until returns what differs between the contents and later ones.
func (c contents) until(later contents) (changes []change) {
	if c.gone != later.gone {
		changes = append(changes, change{existence, present(c.gone), present(later.gone)})
	}

	for a, b := c.leaves, later.leaves; len(a) > 0 || len(b) > 0; {
		switch order := compare(a, b); {
		case order < 0:
			changes = append(changes, change{path: a[0].path, from: a[0].hash})
			a = a[1:]
		case order > 0:
			changes = append(changes, change{path: b[0].path, to: b[0].hash})
			b = b[1:]
		default:
			if a[0].hash != b[0].hash {
				changes = append(changes, change{a[0].path, a[0].hash, b[0].hash})
			}

			a, b = a[1:], b[1:]
		}
	}

	return changes
}

// compare tells which list of leaves has the next path; both have not come to their end.
func compare(a, b []leaf) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	default:
		return cmp.Compare(a[0].path, b[0].path)
	}
}

func present(gone bool) uint64 {
	if gone {
		return 0
	}

	return 1
}

func (w *walk) text(path, value string) { w.leaf(path, index.Hash(value, 0)) }

func (w *walk) texts(prefix string, values map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		w.text(prefix+key, values[key])
	}
}
