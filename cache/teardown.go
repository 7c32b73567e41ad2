package cache

import (
	"context"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/tidwall/btree"
)

// teardowns are the contexts that end with the teardown of a resource.
type teardowns struct {
	// mu guards waiting.
	mu      sync.Mutex
	waiting map[resource.ID]map[*waiter]struct{}
}

type waiter struct{ cancel context.CancelCauseFunc }

// add returns a context that waits for the teardown of the resource until its parent ends.
func (t *teardowns) add(parent context.Context, id resource.ID) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	w := &waiter{cancel}

	t.mu.Lock()
	if t.waiting == nil {
		t.waiting = map[resource.ID]map[*waiter]struct{}{}
	}

	if t.waiting[id] == nil {
		t.waiting[id] = map[*waiter]struct{}{}
	}

	t.waiting[id][w] = struct{}{}
	t.mu.Unlock()

	context.AfterFunc(ctx, func() { t.drop(id, w) })

	return ctx
}

func (t *teardowns) drop(id resource.ID, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()

	delete(t.waiting[id], w)

	if len(t.waiting[id]) == 0 {
		delete(t.waiting, id)
	}
}

// check cancels the contexts that wait for the resource if the view shows it tearing down or gone.
func (t *teardowns) check(id resource.ID, view *btree.Map[resource.ID, resource.Resource]) {
	t.mu.Lock()
	waiting := t.waiting[id]
	none := len(waiting) == 0
	t.mu.Unlock()

	if none {
		return
	}

	if res, ok := view.Get(id); ok && res.Metadata().Phase() != resource.PhaseTearingDown {
		return
	}

	t.mu.Lock()
	waiting = t.waiting[id]
	delete(t.waiting, id)
	t.mu.Unlock()

	for w := range waiting {
		w.cancel(nil)
	}
}

func (t *teardowns) cancelAll(cause error) {
	t.mu.Lock()
	all := t.waiting
	t.waiting = nil
	t.mu.Unlock()

	for _, waiting := range all {
		for w := range waiting {
			w.cancel(cause)
		}
	}
}

// len returns how many contexts wait.
func (t *teardowns) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()

	count := 0

	for _, waiting := range t.waiting {
		count += len(waiting)
	}

	return count
}
