package stateadapter

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/switchyard-run/switchyard/reduced"
)

// outputs remembers what a pass has touched.
type outputs struct {
	// touched is nil until tracking begins for the first time, which it does for few controllers.
	touched atomic.Pointer[touched]
}

// start begins to track, with nothing touched.
func (o *outputs) start() {
	t := o.touched.Load()
	if t == nil {
		o.touched.CompareAndSwap(nil, &touched{})
		t = o.touched.Load()
	}

	t.reset(true)
}

func (o *outputs) stop() {
	if t := o.touched.Load(); t != nil {
		t.reset(false)
	}
}

func (o *outputs) tracking() bool {
	t := o.touched.Load()

	return t != nil && t.tracking()
}

func (o *outputs) touch(key reduced.Key) {
	if t := o.touched.Load(); t != nil {
		t.touch(key)
	}
}

func (o *outputs) has(key reduced.Key) bool {
	t := o.touched.Load()

	return t != nil && t.has(key)
}

// touched is a list of keys. Most passes touch their outputs in order of id, and ask for all of them in order, so the list is in order
// by itself, and what is asked for comes next in it. A set would take several times as long for each.
type touched struct {
	// mu guards the fields below.
	mu sync.Mutex
	on bool
	// keys are in order, each once, unless they are mixed.
	keys  []reduced.Key
	mixed bool
	// next is behind the key that was found last.
	next int
	// before is how many keys there were in the pass before, for which there will be need of room again.
	before int
}

func (t *touched) reset(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if len(t.keys) > 0 {
		t.before = len(t.keys)
	}

	t.on, t.keys, t.mixed, t.next = on, nil, false, 0
}

func (t *touched) tracking() bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.on
}

func (t *touched) touch(key reduced.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if !t.on {
		return
	}

	if len(t.keys) == cap(t.keys) {
		t.grow()
	}

	if last := len(t.keys) - 1; last >= 0 && !t.mixed {
		switch order := byID(t.keys[last], key); {
		case order == 0:
			return
		case order > 0:
			t.mixed = true
		}
	}

	t.keys = append(t.keys, key)
}

// grow makes room for more keys, unless there is enough once each is there only once.
func (t *touched) grow() {
	t.order()

	if 2*len(t.keys) >= cap(t.keys) {
		t.keys = slices.Grow(t.keys, max(len(t.keys), t.before, handful))
	}
}

// handful is for how many keys there is room at least.
const handful = 8

// order puts the keys in order.
func (t *touched) order() {
	if t.mixed {
		slices.SortFunc(t.keys, byID)
		t.keys, t.mixed = slices.Compact(t.keys), false
	}
}

func (t *touched) has(key reduced.Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.order()

	at, found := t.next, t.next < len(t.keys) && t.keys[t.next] == key
	if !found {
		at, found = slices.BinarySearchFunc(t.keys, key, byID)
	}

	if found {
		t.next = at + 1
	}

	return found
}

// byID orders keys by id first, as a list of a kind is ordered.
func byID(a, b reduced.Key) int {
	if order := strings.Compare(a.ID, b.ID); order != 0 {
		return order
	}

	return a.Kind.Compare(b.Kind)
}
