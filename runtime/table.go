package runtime

import (
	"iter"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
)

// table is what a watch knows of the resources of its kind, so that after a gap it can tell what has changed and what
// has gone. For a cached kind the cache is the table.
type table struct {
	cached *cache.Collection
	known  map[resource.ID]reduced.Facts
	// gone are ids to look at when the cache is published next: destroyed, or tearing down.
	gone []resource.ID
	// complete tells that all contents have come, which the readers of the cache are let in for with the next publication:
	// they see what else came with the end of the contents.
	complete bool
}

func newTable(cached *cache.Collection) *table {
	t := &table{cached: cached}

	if cached == nil {
		t.known = map[resource.ID]reduced.Facts{}
	}

	return t
}

// expect makes room for so many resources, if there are none yet.
func (t *table) expect(n int) {
	if t.cached == nil && len(t.known) == 0 {
		t.known = make(map[resource.ID]reduced.Facts, n)
	}
}

func (t *table) lookup(id resource.ID) (reduced.Facts, bool) {
	if t.cached == nil {
		facts, ok := t.known[id]

		return facts, ok
	}

	res, ok := t.cached.Lookup(id)
	if !ok {
		return reduced.Facts{}, false
	}

	return reduced.Of(res, false).Facts, true
}

func (t *table) put(res resource.Resource, md *reduced.Metadata) {
	if t.cached == nil {
		t.known[md.ID()] = md.Facts

		return
	}

	t.cached.Put(res)

	if md.Phase() == resource.PhaseTearingDown {
		t.gone = append(t.gone, md.ID())
	}
}

func (t *table) remove(id resource.ID) {
	if t.cached == nil {
		delete(t.known, id)

		return
	}

	t.cached.Delete(id)
	t.gone = append(t.gone, id)
}

// publish shows the readers of the cache what was put and removed.
func (t *table) publish() {
	if t.cached == nil {
		return
	}

	t.cached.Publish(t.gone...)
	t.gone = t.gone[:0]

	if t.complete {
		t.complete = false
		t.cached.Complete()
	}
}

// load says that all contents are going to be asked for.
func (t *table) load() {
	if t.cached != nil {
		t.cached.Load()
	}
}

// loaded says that all contents have come. The readers of the cache are let in with the next publication.
func (t *table) loaded() {
	if t.cached != nil {
		t.cached.Loaded()
		t.complete = true
	}
}

// all yields what is known, in order of id.
func (t *table) all() iter.Seq2[resource.ID, reduced.Facts] {
	return func(yield func(resource.ID, reduced.Facts) bool) {
		if t.cached != nil {
			for id, res := range t.cached.All() {
				if !yield(id, reduced.Of(res, false).Facts) {
					return
				}
			}

			return
		}

		ids := make([]resource.ID, 0, len(t.known))
		for id := range t.known {
			ids = append(ids, id)
		}

		slices.Sort(ids)

		for _, id := range ids {
			if !yield(id, t.known[id]) {
				return
			}
		}
	}
}

// keys returns the known keys in order of id: all of the kind, or those among the ids.
func (t *table) keys(kind reduced.Kind, whole bool, ids []resource.ID) []reduced.Key {
	var keys []reduced.Key

	if !whole {
		for _, id := range ids {
			if _, ok := t.lookup(id); ok {
				keys = append(keys, reduced.Key{Kind: kind, ID: id})
			}
		}

		return keys
	}

	for id := range t.all() {
		keys = append(keys, reduced.Key{Kind: kind, ID: id})
	}

	return keys
}

// len returns how many resources are known.
func (t *table) len() int {
	if t.cached != nil {
		return t.cached.Len()
	}

	return len(t.known)
}
