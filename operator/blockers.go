package operator

import (
	"maps"
	"slices"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// blockers remember what stands in the place of a child and is not adopted, so that who was refused because of it is woken once
// it changes or goes: its labels do not name them. Like references, that is memory only.
type blockers struct {
	// mu guards refused.
	mu      sync.Mutex
	refused map[reduced.Key]map[resource.ID]struct{}
}

// add notes that a primary was refused because of something.
func (b *blockers) add(blocker reduced.Key, primary resource.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.refused == nil {
		b.refused = map[reduced.Key]map[resource.ID]struct{}{}
	}

	if b.refused[blocker] == nil {
		b.refused[blocker] = map[resource.ID]struct{}{}
	}

	b.refused[blocker][primary] = struct{}{}
}

// take returns the primaries that were refused because of something, in order, and forgets them: if they are refused again, they
// are noted again.
func (b *blockers) take(blocker reduced.Key) []resource.ID {
	b.mu.Lock()
	defer b.mu.Unlock()

	ids := b.refused[blocker]
	delete(b.refused, blocker)

	return slices.Sorted(maps.Keys(ids))
}

// forget takes out a primary that is gone.
func (b *blockers) forget(primary resource.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()

	for blocker, ids := range b.refused {
		delete(ids, primary)

		if len(ids) == 0 {
			delete(b.refused, blocker)
		}
	}
}
