package queue

import (
	"cmp"
	"slices"
	"time"
)

const (
	// fanout is the number of children of a node of the heap. Four make the tree half as deep as two do, and the
	// children of a node lie side by side in memory.
	fanout = 4

	// smallHeap is the capacity below which a heap keeps its memory.
	smallHeap = 64
)

// deadlines holds elements by the time at which they are due, the earliest first, and the first pushed first among
// equals. Pushing, popping and removing take logarithmic time. It knows no clock: times are durations since whatever
// the owner counts from.
//
// Invariant: no slot comes before its parent, and an element has last been told its own position.
type deadlines[E any] struct {
	slots []slot[E]
	// pushed counts the elements ever pushed; it orders those that are due together.
	pushed uint64
	// moved is told the position of an element whenever that changes, for the sake of remove. Nil if nobody removes.
	moved func(element E, pos int)
}

type slot[E any] struct {
	turn

	element E
}

// turn says when it is an element's turn.
type turn struct {
	due   time.Duration
	order uint64
}

func (t *turn) before(other *turn) bool {
	return t.due < other.due || t.due == other.due && t.order < other.order
}

func (d *deadlines[E]) len() int { return len(d.slots) }

// next returns when the earliest element is due, and false if there is none.
func (d *deadlines[E]) next() (due time.Duration, ok bool) {
	if len(d.slots) == 0 {
		return 0, false
	}

	return d.slots[0].due, true
}

// first returns the turn of the earliest element, nil if there is none. It is good until something is pushed or removed.
func (d *deadlines[E]) first() *turn {
	if len(d.slots) == 0 {
		return nil
	}

	return &d.slots[0].turn
}

func (d *deadlines[E]) push(due time.Duration, element E) {
	d.slots = append(d.slots, slot[E]{})
	d.up(len(d.slots)-1, slot[E]{turn: turn{due: due, order: d.pushed}, element: element})
	d.pushed++
}

// pop removes and returns the earliest element and its due time. There must be one.
func (d *deadlines[E]) pop() (due time.Duration, element E) {
	head := d.slots[0]
	d.remove(0)

	return head.due, head.element
}

// remove takes out the element at the position that moved was last told for it.
func (d *deadlines[E]) remove(pos int) {
	end := len(d.slots) - 1
	last := d.slots[end]
	d.slots[end] = slot[E]{}
	d.slots = d.slots[:end]

	switch {
	case pos == end:
	case pos > 0 && last.before(&d.slots[(pos-1)/fanout].turn):
		d.up(pos, last)
	default:
		d.down(pos, last)
	}

	if c := cap(d.slots); c > smallHeap && end < c/4 {
		d.slots = append(make([]slot[E], 0, c/2), d.slots...)
	}
}

// up places s at the hole pos or above it.
func (d *deadlines[E]) up(pos int, s slot[E]) {
	for pos > 0 {
		parent := (pos - 1) / fanout
		if !s.before(&d.slots[parent].turn) {
			break
		}

		d.set(pos, d.slots[parent])
		pos = parent
	}

	d.set(pos, s)
}

// down places s at the hole pos or below it.
func (d *deadlines[E]) down(pos int, s slot[E]) {
	for {
		first := pos*fanout + 1
		if first >= len(d.slots) {
			break
		}

		least := first
		for child := first + 1; child < min(first+fanout, len(d.slots)); child++ {
			if d.slots[child].before(&d.slots[least].turn) {
				least = child
			}
		}

		if !d.slots[least].before(&s.turn) {
			break
		}

		d.set(pos, d.slots[least])
		pos = least
	}

	d.set(pos, s)
}

func (d *deadlines[E]) set(pos int, s slot[E]) {
	d.slots[pos] = s

	if d.moved != nil {
		d.moved(s.element, pos)
	}
}

// sorted returns a copy of the slots in the order in which they are due.
func (d *deadlines[E]) sorted() []slot[E] {
	slots := slices.Clone(d.slots)
	slices.SortFunc(slots, func(a, b slot[E]) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.order, b.order))
	})

	return slots
}
