package cache

import (
	"container/list"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"
)

// teardowns are the contexts that end with the teardown of a resource.
type teardowns struct {
	// mu guards waiting and stopped. A context is taken in under it together with the contents it has seen, so that
	// what is published afterwards finds it.
	mu      sync.Mutex
	waiting map[resource.ID]*list.List // of *waiter, in the order in which they came
	stopped bool

	// parents counts the waiters that the end of their parent may take away, for stop to wait for those at it.
	parents sync.WaitGroup
}

// waiter is one context that waits for the end of one incarnation of a resource.
type waiter struct {
	cancel context.CancelCauseFunc
	// forget makes the waiter independent of its parent; false if the parent has ended first.
	forget func() bool
	// seen is the number of the contents that showed the resource running.
	seen uint64
}

// add returns a context that waits for the teardown of the resource until its parent ends.
func (t *teardowns) add(parent context.Context, id resource.ID, newest func() *contents) context.Context {
	ctx, cancel := context.WithCancelCause(parent)

	t.mu.Lock()
	defer t.mu.Unlock()

	if t.stopped {
		cancel(ErrStopped)

		return ctx
	}

	now := newest()

	if !now.running(id) {
		cancel(nil)

		return ctx
	}

	if t.waiting == nil {
		t.waiting = map[resource.ID]*list.List{}
	}

	if t.waiting[id] == nil {
		t.waiting[id] = list.New()
	}

	w := &waiter{cancel: cancel, seen: now.number}
	element := t.waiting[id].PushBack(w)

	t.parents.Add(1)

	w.forget = context.AfterFunc(ctx, func() {
		defer t.parents.Done()

		t.drop(id, element)
	})

	return ctx
}

// drop takes a waiter away whose parent has ended.
func (t *teardowns) drop(id resource.ID, element *list.Element) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.removeLocked(id, element)
}

// removeLocked does nothing for a waiter that is not there any more.
func (t *teardowns) removeLocked(id resource.ID, element *list.Element) {
	all := t.waiting[id]
	if all == nil {
		return
	}

	all.Remove(element)

	if all.Len() == 0 {
		delete(t.waiting, id)
	}
}

// check cancels the contexts that wait for the resource if the contents show it tearing down or gone. When ended is
// set, the incarnation that older contents showed is over, whatever the newest show.
func (t *teardowns) check(id resource.ID, now *contents, ended bool) {
	for _, w := range t.over(id, now, ended) {
		t.end(w, nil)
	}
}

func (t *teardowns) over(id resource.ID, now *contents, ended bool) []*waiter {
	t.mu.Lock()
	defer t.mu.Unlock()

	all := t.waiting[id]
	if all == nil {
		return nil
	}

	var over []*waiter

	running := now.running(id)

	for element := all.Front(); element != nil; {
		w, next := element.Value.(*waiter), element.Next()

		if !running || ended && w.seen < now.number {
			over = append(over, w)
			t.removeLocked(id, element)
		}

		element = next
	}

	return over
}

// end cancels a context that was taken away. The lock must not be held: whoever is cancelled may do anything.
func (t *teardowns) end(w *waiter, cause error) {
	if w.forget() {
		t.parents.Done()
	}

	w.cancel(cause)
}

// stop cancels all contexts, and those that come later. When it returns, nothing that they have started runs.
func (t *teardowns) stop(cause error) {
	t.mu.Lock()
	t.stopped = true
	waiting := t.waiting
	t.waiting = nil
	t.mu.Unlock()

	for _, id := range slices.Sorted(maps.Keys(waiting)) {
		for element := waiting[id].Front(); element != nil; element = element.Next() {
			t.end(element.Value.(*waiter), cause)
		}
	}

	t.parents.Wait()
}
