package operator

import (
	"maps"
	"slices"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// references remember which primaries each watched resource was last mapped to, so that one that is mapped to others now wakes
// its former ones too: they have lost something. It is memory only: a controller that starts has all its primaries to work on
// anyway, and all sources are mapped once at the start.
//
// A source has an entry for as long as it is mapped to anything. One that could not be mapped is noted as lost until it can:
// nobody knows then who may have lost something.
type references struct {
	// mu guards the fields below.
	mu   sync.Mutex
	last map[reduced.Key][]resource.ID
	lost map[reduced.Key]struct{}
}

// lose notes that a source could not be mapped.
func (r *references) lose(source reduced.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.lost == nil {
		r.lost = map[reduced.Key]struct{}{}
	}

	r.lost[source] = struct{}{}
}

// isLost tells whether a source could not be mapped the last time.
func (r *references) isLost(source reduced.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	_, lost := r.lost[source]

	return lost
}

// wake notes that a source is mapped to the primaries now, and returns those that have to be woken: these, and those it was
// mapped to before, in order and each once.
func (r *references) wake(source reduced.Key, now []resource.ID) []resource.ID {
	now = sorted(now)

	r.mu.Lock()
	defer r.mu.Unlock()

	before := r.last[source]

	delete(r.lost, source)

	if len(now) == 0 {
		delete(r.last, source)
	} else {
		if r.last == nil {
			r.last = map[reduced.Key][]resource.ID{}
		}

		r.last[source] = now
	}

	return sorted(slices.Concat(before, now))
}

// learn notes what a source is mapped to, unless it was mapped meanwhile.
func (r *references) learn(source reduced.Key, ids []resource.ID) {
	if len(ids) == 0 {
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if _, known := r.last[source]; known {
		return
	}

	if r.last == nil {
		r.last = map[reduced.Key][]resource.ID{}
	}

	r.last[source] = sorted(ids)
}

func sorted(ids []resource.ID) []resource.ID {
	set := map[resource.ID]struct{}{}
	for _, id := range ids {
		set[id] = struct{}{}
	}

	return slices.Sorted(maps.Keys(set))
}
