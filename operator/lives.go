package operator

import (
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
)

// lives remember in which of its lives each primary was seen last, so that what is left of an earlier one wakes nobody. A
// primary that is gone has no entry.
type lives struct {
	// mu guards seen.
	mu   sync.Mutex
	seen map[resource.ID]string
}

func (l *lives) is(id resource.ID, incarnation string) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.seen == nil {
		l.seen = map[resource.ID]string{}
	}

	l.seen[id] = incarnation
}

func (l *lives) forget(id resource.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()

	delete(l.seen, id)
}

// other tells whether a primary is known to be in another life.
func (l *lives) other(id resource.ID, incarnation string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	seen, known := l.seen[id]

	return known && seen != incarnation
}

// parents returns whom a child wakes: the primary that its labels name, if it is the one that made it.
func (q *qController) parents(child controller.ReducedResourceMetadata) []resource.ID {
	id, ok := parentID(q.def.primary, child.Labels())
	if !ok {
		return nil
	}

	if uid, _ := child.Labels().Get(ParentUIDLabel); q.lives.other(id, uid) {
		return nil
	}

	return []resource.ID{id}
}
