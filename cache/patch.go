package cache

import (
	"cmp"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
)

// Patch is what a [View] shows of one id in place of the contents of the cache.
type Patch struct {
	ID resource.ID
	// Resource is shown; nil is that there is none. It is shared as the contents of the cache are, and must not be
	// changed.
	Resource resource.Resource
}

// With returns the view with patches, in place of what it shows of their ids. Of several patches of one id the last one
// counts. The slice is not changed, and must not be while the view is used.
func (v View) With(patches ...Patch) View {
	if len(patches) == 0 {
		return v
	}

	if len(v.patch) > 0 {
		patches = slices.Concat(v.patch, patches)
	}

	ordered := func(i int) bool { return i == 0 || patches[i-1].ID < patches[i].ID }

	for i := range patches {
		if !ordered(i) {
			patches = sorted(patches)

			break
		}
	}

	v.patch = patches

	return v
}

// sorted returns the patches in order of id, with the last one of each.
func sorted(patches []Patch) []Patch {
	patches = slices.Clone(patches)
	slices.Reverse(patches)
	slices.SortStableFunc(patches, func(a, b Patch) int { return cmp.Compare(a.ID, b.ID) })

	return slices.CompactFunc(patches, func(a, b Patch) bool { return a.ID == b.ID })
}

// find returns what the view shows of an id.
func (v View) find(id resource.ID) (resource.Resource, bool) {
	if len(v.patch) > 0 {
		at, there := slices.BinarySearchFunc(v.patch, id, func(p Patch, id resource.ID) int { return cmp.Compare(p.ID, id) })
		if there {
			return v.patch[at].Resource, v.patch[at].Resource != nil
		}
	}

	return v.now.tree.get(id)
}

// walk yields what the view shows in place of what comes from the source: patches are merged in, and of all that only is
// kept what is to be. The source may leave out what is not.
func (v View) walk(from source, keep, yield each) {
	switch {
	case len(v.patch) > 0:
		v.merge(from, keep, yield)
	case keep == nil:
		from(yield)
	default:
		from(func(id resource.ID, res resource.Resource) bool { return !keep(id, res) || yield(id, res) })
	}
}

// merge is walk with patches.
func (v View) merge(from source, keep, yield each) {
	patches, more := v.patch, true

	offer := func(id resource.ID, res resource.Resource) bool {
		more = res == nil || keep != nil && !keep(id, res) || yield(id, res)

		return more
	}

	from(func(id resource.ID, res resource.Resource) bool {
		for len(patches) > 0 && patches[0].ID <= id {
			p := patches[0]
			patches = patches[1:]

			if !offer(p.ID, p.Resource) {
				return false
			}

			if p.ID == id {
				return true
			}
		}

		return offer(id, res)
	})

	for _, p := range patches {
		if !more || !offer(p.ID, p.Resource) {
			return
		}
	}
}
