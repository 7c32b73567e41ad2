package cache

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/tidwall/btree"

	"github.com/switchyard-run/switchyard/reduced"
)

// degree of the trees: nodes of up to 31 resources, small enough to copy for every published change.
const degree = 16

// ErrStopped is the cause of contexts from [Collection.ContextWithTeardown] when the engine stops first: nothing
// watches the resource any more.
var ErrStopped = errors.New("cache: the engine has stopped")

// Cache is the set of cached kinds of an engine. The set is fixed when it is made.
type Cache struct {
	collections map[reduced.Kind]*Collection
	kinds       []reduced.Kind
}

// New returns a cache for the kinds, which may repeat.
func New(kinds ...reduced.Kind) *Cache {
	c := &Cache{collections: make(map[reduced.Kind]*Collection, len(kinds))}

	for _, kind := range kinds {
		if _, ok := c.collections[kind]; !ok {
			c.collections[kind] = &Collection{kind: kind}
			c.kinds = append(c.kinds, kind)
		}
	}

	return c
}

// Collection returns the collection of the kind, or nil when the kind is not cached.
func (c *Cache) Collection(kind reduced.Kind) *Collection { return c.collections[kind] }

// Kinds returns the cached kinds in the order in which they were given. The slice is shared, do not change it.
func (c *Cache) Kinds() []reduced.Kind { return c.kinds }

// Collection caches the resources of one kind.
//
// The writer's methods (Start, Lookup, All, Put, Delete, Publish, Complete, Stop) belong to one goroutine at a time;
// all others are safe for concurrent use.
type Collection struct {
	kind reduced.Kind
	run  atomic.Pointer[run]

	// mu guards waiting.
	mu      sync.Mutex
	waiting map[string]int
}

// run is the collection from Start to Stop.
type run struct {
	complete  chan struct{} // closed by the writer once the first contents are published
	stopped   chan struct{} // closed by Stop
	published atomic.Pointer[contents]
	teardowns teardowns

	// The fields below are the writer's: the tree that it works on, and the ids of which an incarnation has ended since
	// the last Publish.
	work  *btree.Map[resource.ID, resource.Resource]
	ended []resource.ID
}

// contents is what readers see; it does not change. Contents are numbered from 1 in the order of their publication.
type contents struct {
	tree   *btree.Map[resource.ID, resource.Resource]
	number uint64
}

// running tells whether the resource is there and not tearing down.
func (c *contents) running(id resource.ID) bool {
	res, ok := c.tree.Get(id)

	return ok && res.Metadata().Phase() != resource.PhaseTearingDown
}

// Kind returns the kind that is cached.
func (c *Collection) Kind() reduced.Kind { return c.kind }

// Start begins a run without contents; readers wait until [Collection.Complete].
func (c *Collection) Start() { c.run.Store(newRun()) }

func newRun() *run {
	return &run{
		complete: make(chan struct{}),
		stopped:  make(chan struct{}),
		work:     btree.NewMap[resource.ID, resource.Resource](degree),
	}
}

// current returns the run, or one that nobody reads: a writer may come to know late that the run was stopped.
func (c *Collection) current() *run {
	if r := c.run.Load(); r != nil {
		return r
	}

	return newRun()
}

// Stop ends the run: readers that wait are let go, contexts with teardown are cancelled, and the contents dropped. When
// it returns, nothing runs on behalf of those contexts.
func (c *Collection) Stop() {
	if r := c.run.Swap(nil); r != nil {
		close(r.stopped)
		r.teardowns.stop(ErrStopped)
	}
}

// Lookup returns the writer's present value. It is the cached object itself and must not be changed.
func (c *Collection) Lookup(id resource.ID) (resource.Resource, bool) {
	return c.current().work.Get(id)
}

// All yields the writer's present values in order of id. They are the cached objects themselves.
func (c *Collection) All() iter.Seq2[resource.ID, resource.Resource] {
	return func(yield func(resource.ID, resource.Resource) bool) { c.current().work.Scan(yield) }
}

// Put adds or replaces a resource, which the cache keeps: nobody may change it afterwards. Readers see it with the next
// Publish.
func (c *Collection) Put(res resource.Resource) {
	r := c.current()
	md := res.Metadata()

	if old, replaced := r.work.Set(md.ID(), res); replaced && !old.Metadata().Created().Equal(md.Created()) {
		r.ended = append(r.ended, md.ID())
	}
}

// Delete takes a resource away. Readers see it with the next Publish.
func (c *Collection) Delete(id resource.ID) {
	r := c.current()

	if _, there := r.work.Delete(id); there {
		r.ended = append(r.ended, id)
	}
}

// Publish shows readers what was changed. The ids are those that were put tearing down since the last call; others may
// be among them. Contexts that wait for their teardown are cancelled, and so are those that wait for the teardown of
// resources that were deleted, or replaced by a new incarnation, whether or not they are there again.
func (c *Collection) Publish(changed ...resource.ID) {
	r := c.current()
	now := &contents{tree: r.work.Copy(), number: 1}

	if last := r.published.Load(); last != nil {
		now.number = last.number + 1
	}

	r.published.Store(now)

	for _, id := range r.ended {
		r.teardowns.check(id, now, true)
	}

	r.ended = nil

	for _, id := range changed {
		r.teardowns.check(id, now, false)
	}
}

// Complete publishes the contents as complete, which readers wait for after Start. Further calls do nothing.
func (c *Collection) Complete() {
	r := c.current()

	select {
	case <-r.complete:
	default:
		c.Publish()
		close(r.complete)
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
		if now := r.published.Load(); now != nil {
			return now.tree.Len()
		}
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
// is to read the state. The error is that of the context. The name tells who waits, for [Collection.Waiting].
func (c *Collection) View(ctx context.Context, name string) (view View, ok bool, err error) {
	r, err := c.await(ctx, name)
	if r == nil {
		return View{}, false, err
	}

	return View{kind: c.kind, tree: r.published.Load().tree}, true, nil
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
