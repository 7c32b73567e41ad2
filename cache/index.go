package cache

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/resource"
)

const (
	// mostIndexes is how many label keys of a collection are indexed at most.
	mostIndexes = 32
	// patience is how often an index is asked for in vain, for lack of a place, before one goes that was of no use in the
	// meantime. To build one costs as much as some ten reads without.
	patience = 64
)

// indexed is a label key with an ordered set of value and id of all resources that have the label, of one moment.
type indexed struct {
	label string
	set   frozen[struct{}]
	idle  *atomic.Int32
}

// used keeps the index from making place for another one.
func (x indexed) used() {
	if x.idle.Load() != 0 {
		x.idle.Store(0)
	}
}

// index returns the index of a label key, if there is one.
func (c *contents) index(label string) (indexed, bool) {
	if all := c.indexes.Load(); all != nil {
		for _, x := range *all {
			if x.label == label {
				return x, true
			}
		}
	}

	return indexed{}, false
}

// indexes are the label indexes of a run. A reader builds one when it wants it, of contents that do not change, and
// without having the writer wait; from then on the writer keeps it.
type indexes struct {
	// mu guards the fields below, what is published, and the set of indexes of contents. Nobody holds it for long; a
	// reader does not wait for it, and only one who has built an index waits for the writer.
	mu       sync.Mutex
	kept     []*index
	building *building
	ahead    bool // the writer has changed something that is not published
	stale    bool // what is published last has not the indexes as they are kept
}

// index is an index as the writer keeps it.
type index struct {
	label string
	set   tree[struct{}]
	idle  *atomic.Int32 // how often another was wanted in vain since this one was used
}

// shown returns the present index for readers.
func (x *index) shown() indexed { return indexed{label: x.label, set: x.set.freeze(), idle: x.idle} }

// building is an index that is being built, and what has changed in the meantime.
type building struct {
	label   string
	changes []change
}

// change is one of an index.
type change struct {
	key  string
	gone bool
}

func (c change) apply(set *tree[struct{}]) {
	if c.gone {
		set.delete(c.key)
	} else {
		set.set(c.key, struct{}{})
	}
}

// changed brings the indexes up to date with a resource that was put or deleted: old or res is nil if there was none, or
// is none any more.
func (x *indexes) changed(id resource.ID, old, res resource.Resource) {
	x.mu.Lock()
	defer x.mu.Unlock()

	x.ahead = true

	if len(x.kept) == 0 && x.building == nil ||
		old != nil && res != nil && old.Metadata().Labels().Equal(*res.Metadata().Labels()) {
		return
	}

	for _, kept := range x.kept {
		for _, change := range changes(id, kept.label, old, res) {
			change.apply(&kept.set)

			x.stale = true
		}
	}

	if x.building != nil {
		x.building.changes = append(x.building.changes, changes(id, x.building.label, old, res)...)
	}
}

// changes returns what a resource that was put or deleted changes of an index.
func changes(id resource.ID, label string, old, res resource.Resource) []change {
	var was, is string

	had, has := false, false

	if old != nil {
		was, had = old.Metadata().Labels().Get(label)
	}

	if res != nil {
		is, has = res.Metadata().Labels().Get(label)
	}

	if had == has && was == is {
		return nil
	}

	var all []change

	if had {
		all = append(all, change{key: entry(was, id), gone: true})
	}

	if has {
		all = append(all, change{key: entry(is, id)})
	}

	return all
}

// publish shows readers new contents, with the indexes as they are.
func (x *indexes) publish(now *contents, published *atomic.Pointer[contents]) {
	x.mu.Lock()
	defer x.mu.Unlock()

	if x.stale {
		x.showLocked(now)
	} else if last := published.Load(); last != nil {
		now.indexes.Store(last.indexes.Load())
	}

	x.ahead = false

	published.Store(now)
}

// showLocked gives contents that are the newest the indexes as they are.
func (x *indexes) showLocked(now *contents) {
	all := make([]indexed, 0, len(x.kept))

	for _, kept := range x.kept {
		all = append(all, kept.shown())
	}

	now.indexes.Store(&all)

	x.stale = false
}

// want builds an index of the newest contents, and returns it if those are the contents that it is wanted of. It does
// nothing if others are in the way: the writer is at work, another index is being built, or there are enough.
func (x *indexes) want(label string, of *contents, published *atomic.Pointer[contents]) (indexed, bool) {
	if newest := x.begin(label, published); newest != nil {
		defer x.over()

		var set tree[struct{}]

		for _, key := range entries(newest.tree, label) {
			set.set(key, struct{}{})
		}

		x.end(set, newest, published)
	}

	return of.index(label)
}

// begin returns the newest contents if the caller is to build an index of them. From then on, changes are taken down.
func (x *indexes) begin(label string, published *atomic.Pointer[contents]) *contents {
	if !x.mu.TryLock() {
		return nil
	}
	defer x.mu.Unlock()

	if x.ahead || x.building != nil {
		return nil
	}

	newest := published.Load()

	if _, there := newest.index(label); there || !x.roomLocked() {
		return nil
	}

	x.building = &building{label: label}

	return newest
}

// roomLocked tells whether there may be another index, and counts it against the present ones if there may not. The one
// that was of no use for longest goes.
func (x *indexes) roomLocked() bool {
	if len(x.kept) < mostIndexes {
		return true
	}

	longest := 0

	for i, kept := range x.kept {
		if kept.idle.Add(1) > x.kept[longest].idle.Load() {
			longest = i
		}
	}

	if x.kept[longest].idle.Load() < patience {
		return false
	}

	x.kept = slices.Delete(x.kept, longest, longest+1)
	x.stale = true

	return true
}

// end takes in an index that was built of contents, which are not the newest any more if the writer was at work.
func (x *indexes) end(set tree[struct{}], of *contents, published *atomic.Pointer[contents]) {
	x.mu.Lock()
	defer x.mu.Unlock()

	kept := &index{label: x.building.label, set: set, idle: new(atomic.Int32)}

	var all []indexed

	if others := of.indexes.Load(); others != nil {
		all = slices.Clone(*others)
	}

	all = append(all, kept.shown())
	of.indexes.Store(&all)

	for _, change := range x.building.changes {
		change.apply(&kept.set)
	}

	x.kept = append(x.kept, kept)
	x.stale = true

	if !x.ahead {
		x.showLocked(published.Load())
	}
}

// over ends the taking down of changes, also if the building has failed, which is the fault of a resource.
func (x *indexes) over() {
	x.mu.Lock()
	defer x.mu.Unlock()

	x.building = nil
}

// entries returns what an index of the resources holds, in order.
func entries(resources frozen[resource.Resource], label string) []string {
	var all []string

	resources.scan(span{}, func(id resource.ID, res resource.Resource) bool {
		if value, there := res.Metadata().Labels().Get(label); there {
			all = append(all, entry(value, id))
		}

		return true
	})

	slices.Sort(all)

	return all
}

// The keys of an index are such that they are in order of value, and of id for one value, whatever bytes are in them:
// zero bytes of a value are followed by one that is greater than that which follows the zero byte at its end.
const (
	zero   = "\x00\xff"
	ending = "\x00\x01"
	beyond = "\x00\x02" // after all ids of a value
)

// escaped returns a value as it stands in the keys of an index.
func escaped(value string) string { return strings.ReplaceAll(value, "\x00", zero) }

// entry returns the key of a value and an id.
func entry(value string, id resource.ID) string { return escaped(value) + ending + id }

// valueOf returns the value in a key, and what it is followed by.
func valueOf(key string) (value string, id resource.ID) {
	value, id, _ = strings.Cut(key, ending)

	return strings.ReplaceAll(value, zero, "\x00"), id
}
