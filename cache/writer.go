package cache

import (
	"iter"
	"strings"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/resource"
)

// run is the collection from Start to Stop.
type run struct {
	complete  chan struct{} // closed by the writer once the first contents are published
	stopped   chan struct{} // closed by Stop
	published atomic.Pointer[contents]
	none      contents // stands for what is published before anything is
	teardowns teardowns
	indexes   indexes

	// The fields below are the writer's: the tree that it works on, how many ids in it have several lines, and the ids of
	// which an incarnation has ended since the last Publish.
	work  tree[resource.Resource]
	lined int
	ended []resource.ID
}

// contents is what readers see. Contents are numbered from 1 in the order of their publication. Nothing of them changes,
// but that indexes may be added, or taken away when others are wanted more.
type contents struct {
	tree    frozen[resource.Resource]
	indexes atomic.Pointer[[]indexed]
	lined   int
	number  uint64
}

// running tells whether the resource is there and not tearing down.
func (c *contents) running(id resource.ID) bool {
	res, ok := c.tree.get(id)

	return ok && res.Metadata().Phase() != resource.PhaseTearingDown
}

// newest returns the contents that readers see, those of the number 0 before any were published.
func (r *run) newest() *contents {
	if now := r.published.Load(); now != nil {
		return now
	}

	return &r.none
}

func newRun() *run {
	return &run{complete: make(chan struct{}), stopped: make(chan struct{})}
}

// current returns the run, or one that nobody reads: a writer may come to know late that the run was stopped.
func (c *Collection) current() *run {
	if r := c.run.Load(); r != nil {
		return r
	}

	return newRun()
}

// Lookup returns the writer's present value. It is the cached object itself and must not be changed.
func (c *Collection) Lookup(id resource.ID) (resource.Resource, bool) {
	return c.current().work.get(id)
}

// All yields the writer's values in order of id, as they are when it begins. They are the cached objects themselves.
func (c *Collection) All() iter.Seq2[resource.ID, resource.Resource] {
	return func(yield func(resource.ID, resource.Resource) bool) { c.current().work.freeze().scan(span{}, yield) }
}

// Put adds or replaces a resource, which the cache keeps: nobody may change it afterwards. Readers see it with the next
// Publish.
func (c *Collection) Put(res resource.Resource) {
	r := c.current()
	md := res.Metadata()
	id := md.ID()

	if c.detect != nil {
		res = newLoan(res)
	}

	old, replaced := r.work.set(id, res)
	number := r.newest().number + 1

	if replaced && !old.Metadata().Created().Equal(md.Created()) {
		r.ended = append(r.ended, id)
		c.ledger.ended(old, number)
	}

	c.ledger.put(res, number)

	if !replaced {
		r.lined += lines(id)
		r.indexes.changed(id, nil, res)

		return
	}

	r.indexes.changed(id, old, res)

	c.returned(old)
}

// Delete takes a resource away. Readers see it with the next Publish.
func (c *Collection) Delete(id resource.ID) {
	r := c.current()

	old, there := r.work.delete(id)
	if !there {
		return
	}

	r.lined -= lines(id)
	r.ended = append(r.ended, id)
	c.ledger.ended(old, r.newest().number+1)
	r.indexes.changed(id, old, nil)

	c.returned(old)
}

// lines returns 1 if the id has several lines: it may match a regular expression where another would not.
func lines(id resource.ID) int { return min(1, strings.Count(id, "\n")) }

// Publish shows readers what was changed. The ids are those that were put tearing down since the last call; others may
// be among them. Contexts that wait for their teardown are cancelled, and so are those that wait for the teardown of
// resources that were deleted, or replaced by a new incarnation, whether or not they are there again.
func (c *Collection) Publish(changed ...resource.ID) {
	r := c.current()
	now := &contents{tree: r.work.freeze(), lined: r.lined, number: r.newest().number + 1}

	r.indexes.publish(now, &r.published)
	c.ledger.published(r)

	for _, id := range r.ended {
		r.teardowns.check(id, now, true)
	}

	r.ended = nil

	for _, id := range changed {
		r.teardowns.check(id, now, false)
	}
}

// Load says that all contents are going to be asked for, which are complete with the next call of [Collection.Loaded].
func (c *Collection) Load() { c.ledger.loading() }

// Loaded says that what was put, and will be published next, are all contents that the state had after the last call of
// [Collection.Load].
func (c *Collection) Loaded() { c.ledger.loaded(c.current().newest().number + 1) }

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
