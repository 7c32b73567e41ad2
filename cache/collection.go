package cache

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// ErrStopped is the cause of contexts from [Collection.ContextWithTeardown] when the engine stops first: nothing
// watches the resource any more.
var ErrStopped = errors.New("cache: the engine has stopped")

// Collection caches the resources of one kind.
//
// The writer's methods (Start, Lookup, All, Put, Delete, Publish, Complete, Stop) belong to one goroutine at a time;
// all others are safe for concurrent use.
type Collection struct {
	kind   reduced.Kind
	detect func(*MutationError) // nil is not to
	run    atomic.Pointer[run]

	// ledger holds what was written and is not shown yet.
	ledger ledger

	// mu guards waiting.
	mu      sync.Mutex
	waiting map[string]int
}

// Kind returns the kind that is cached.
func (c *Collection) Kind() reduced.Kind { return c.kind }

// Start begins a run without contents; readers wait until [Collection.Complete].
func (c *Collection) Start() { c.run.Store(newRun()) }

// Stop ends the run: readers that wait are let go, contexts with teardown are cancelled, and the contents dropped. When
// it returns, nothing runs on behalf of those contexts.
func (c *Collection) Stop() {
	if r := c.run.Swap(nil); r != nil {
		close(r.stopped)
		c.ledger.clear()
		r.teardowns.stop(ErrStopped)
		c.check(r)
	}
}

// Synced tells whether the first contents are complete in this run.
func (c *Collection) Synced() bool {
	r := c.run.Load()
	if r == nil {
		return false
	}

	select {
	case <-r.complete:
		return true
	default:
		return false
	}
}

// Len returns the number of cached resources; 0 while no engine runs.
func (c *Collection) Len() int {
	if r := c.run.Load(); r != nil {
		return r.newest().tree.len()
	}

	return 0
}

// Waiting returns the names of those who wait for the first contents, in order.
func (c *Collection) Waiting() []string {
	c.mu.Lock()
	defer c.mu.Unlock()

	names := make([]string, 0, len(c.waiting))

	for name := range c.waiting {
		names = append(names, name)
	}

	slices.Sort(names)

	return names
}

// View returns the newest contents, after waiting for the first ones. While no engine runs, ok is false and the caller
// is to read the state. The error is that of the context. The name tells who waits, for [Collection.Waiting], and who
// reads, for a [MutationError].
func (c *Collection) View(ctx context.Context, name string) (view View, ok bool, err error) {
	r, err := c.await(ctx, name)
	if r == nil {
		return View{}, false, err
	}

	return c.view(r, r.newest(), name), true, nil
}

func (c *Collection) view(r *run, now *contents, name string) View {
	return View{of: c, run: r, now: now, reader: name}
}

// ContextWithTeardown returns a context that is cancelled when the resource is tearing down or gone, which it may be
// already, or with [ErrStopped] when the engine stops. It costs no goroutine, and nothing once the context it was made
// from has ended. While no engine runs, ok is false.
func (c *Collection) ContextWithTeardown(ctx context.Context, name string, id resource.ID) (_ context.Context, ok bool, err error) {
	r, err := c.await(ctx, name)
	if r == nil {
		return nil, false, err
	}

	return r.teardowns.add(ctx, id, r.published.Load), true, nil
}

// await returns the run once its first contents are complete, or nil when there is no run.
func (c *Collection) await(ctx context.Context, name string) (*run, error) {
	r := c.run.Load()
	if r == nil {
		return nil, nil
	}

	select {
	case <-r.complete:
		return r, nil
	default:
	}

	c.wait(name, 1)
	defer c.wait(name, -1)

	select {
	case <-r.complete:
		return r, nil
	case <-r.stopped:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *Collection) wait(name string, delta int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.waiting == nil {
		c.waiting = map[string]int{}
	}

	c.waiting[name] += delta

	if c.waiting[name] == 0 {
		delete(c.waiting, name)
	}
}
