package dependency

import (
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
)

// dependent is one input of one controller, as the reverse look-ups hold it.
type dependent[T any] struct {
	// What routing reads lies close together: the kind of the input is at its end.
	input controller.Input
	node  *Node[T]
	// gone hides the entry from readers until the list is compacted.
	gone atomic.Bool
	// moved tells that the entry may be given a new place by the input update under way; guarded by Database.mu.
	moved bool
}

// list holds dependents in the order in which they were added. One writer at a time (under Database.mu) appends
// behind what readers can see and then shows one more; readers load what there is and wait for nobody.
type list[T any] struct {
	block atomic.Pointer[block[T]]

	// gone counts hidden entries; guarded by Database.mu.
	gone int
}

// block is the memory of a list until it is full, or a list of which much has gone is made anew.
type block[T any] struct {
	used  atomic.Int64 // how many slots readers can see
	slots []*dependent[T]
}

func (l *list[T]) load() []*dependent[T] {
	if b := l.block.Load(); b != nil {
		return b.slots[:b.used.Load()]
	}

	return nil
}

func (l *list[T]) add(d *dependent[T]) {
	b := l.block.Load()
	if b == nil || int(b.used.Load()) == len(b.slots) {
		b = l.renew(l.load(), max(1, 2*len(l.load())))
	}

	used := b.used.Load()
	b.slots[used] = d
	b.used.Store(used + 1)
}

// renew moves the list to a block of another size.
func (l *list[T]) renew(entries []*dependent[T], size int) *block[T] {
	b := &block[T]{slots: make([]*dependent[T], size)}
	b.used.Store(int64(copy(b.slots, entries)))
	l.block.Store(b)

	return b
}

// remove hides the entry, and drops hidden entries once they are the larger half, which makes it cheap on average.
func (l *list[T]) remove(d *dependent[T]) {
	d.gone.Store(true)
	l.gone++

	entries := l.load()
	if 2*l.gone <= len(entries) {
		return
	}

	kept := make([]*dependent[T], 0, len(entries)-l.gone)

	for _, d := range entries {
		if !d.gone.Load() {
			kept = append(kept, d)
		}
	}

	l.gone = 0
	l.renew(kept, 2*len(kept))
}

// empty tells whether nobody is left; guarded by Database.mu.
func (l *list[T]) empty() bool { return len(l.load()) == l.gone }
