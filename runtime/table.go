package runtime

import (
	"iter"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/internal/index"
	"github.com/switchyard-run/switchyard/reduced"
)

// table is what a watch knows of the resources of its kind, so that after a gap it can tell what has changed and what
// has gone. For a cached kind the cache is the table.
type table struct {
	cached *cache.Collection
	known  index.Map[reduced.State] // nothing, where the kind is cached
	// gone are ids to look at when the cache is published next: destroyed, or tearing down.
	gone []resource.ID
	// complete tells that all contents have come, which the readers of the cache are let in for with the next publication:
	// they see what else came with the end of the contents.
	complete bool
}

func newTable(cached *cache.Collection) *table { return &table{cached: cached} }

// lookup returns what is known of a resource.
func (t *table) lookup(id resource.ID) (facts reduced.Facts, ok bool) {
	facts, ok, _ = t.find(id)

	return facts, ok
}

// find is lookup for who is going to put the resource then: it also returns the place for that, or nil.
func (t *table) find(id resource.ID) (facts reduced.Facts, ok bool, place *reduced.State) {
	if t.cached == nil {
		if place = t.known.At(id); place == nil {
			return facts, false, nil
		}

		return place.Facts(), true, place
	}

	res, ok := t.cached.Lookup(id)
	if !ok {
		return facts, false, nil
	}

	return reduced.Of(res, false).Facts, true, nil
}

// put has a resource be known. Place is that of the resource, or nil, which is slower.
func (t *table) put(place *reduced.State, res resource.Resource, md *reduced.Metadata) {
	switch {
	case place != nil:
		*place = md.State()

		return
	case t.cached == nil:
		t.known.Put(md.ID(), md.State())

		return
	}

	t.cached.Put(res)

	if md.Phase() == resource.PhaseTearingDown {
		t.gone = append(t.gone, md.ID())
	}
}

func (t *table) remove(id resource.ID) {
	if t.cached == nil {
		t.known.Delete(id)

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

		for id, state := range t.known.All() {
			if !yield(id, state.Facts()) {
				return
			}
		}
	}
}

// ids returns the known ids in order: all of them, or those among the ones given.
func (t *table) ids(whole bool, among []resource.ID) []resource.ID {
	if !whole {
		var ids []resource.ID

		for _, id := range among {
			if _, ok := t.lookup(id); ok {
				ids = append(ids, id)
			}
		}

		return ids
	}

	ids := make([]resource.ID, 0, t.len())

	for id := range t.all() {
		ids = append(ids, id)
	}

	return ids
}

// len returns how many resources are known.
func (t *table) len() int {
	if t.cached != nil {
		return t.cached.Len()
	}

	return t.known.Len()
}
