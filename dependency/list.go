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

	list *list[T]
	// pass is the input update in which the entry may still be given a new place; guarded by Database.mu.
	pass uint64
}

// list holds dependents in the order in which they were added. One writer at a time (under Database.mu) appends
// behind what readers can see and then publishes the longer view; readers load the view and wait for nobody.
type list[T any] struct {
	view atomic.Pointer[[]*dependent[T]]

	// gone counts hidden entries; guarded by Database.mu.
	gone int
}

func (l *list[T]) load() []*dependent[T] {
	if view := l.view.Load(); view != nil {
		return *view
	}

	return nil
}

func (l *list[T]) add(d *dependent[T]) {
	d.list = l
	view := append(l.load(), d)
	l.view.Store(&view)
}

// remove hides the entry, and drops hidden entries once they are the larger half, which makes it cheap on average.
func (l *list[T]) remove(d *dependent[T]) {
	d.gone.Store(true)
	l.gone++

	view := l.load()
	if 2*l.gone <= len(view) {
		return
	}

	kept := make([]*dependent[T], 0, 2*(len(view)-l.gone))

	for _, d := range view {
		if !d.gone.Load() {
			kept = append(kept, d)
		}
	}

	l.gone = 0
	l.view.Store(&kept)
}

// empty tells whether nobody is left; guarded by Database.mu.
func (l *list[T]) empty() bool { return len(l.load()) == l.gone }
