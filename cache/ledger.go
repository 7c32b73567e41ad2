package cache

import (
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/resource"
)

// ledger holds the notes of all owners on the writes to one collection, and sees what the stream shows meanwhile. The
// writer of the collection tells it; while there are no notes that costs one load.
type ledger struct {
	// pending counts the notes.
	pending atomic.Int64

	// mu guards the fields below, and all notes.
	mu    sync.Mutex
	notes map[resource.ID]*note // the first of the resource
	// shown are notes that the contents published next will show, fresh those to be looked for in them: a write that may have
	// changed nothing may have come to what was taken in before the write was begun, and is published after it.
	shown, fresh []*note
	// loads counts the loads of all contents that were begun.
	loads uint64
	// spare are notes to be used again.
	spare []*note
}

// spareNotes is how many notes are kept to be used again.
const spareNotes = 64

// set says what the last write came to.
func (l *ledger) set(n *note, to target, value resource.Resource, unsure bool) {
	n.target, n.value, n.unsure, n.loads, n.shown = to, value, unsure, l.loads, 0
	n.read = false
	n.turn++

	for i := range n.seen {
		if n.seen[i].shows(to) {
			n.shown = n.seen[i].number
		}
	}

	if !n.fresh && !to.made {
		n.fresh = true
		l.fresh = append(l.fresh, n)
	}
}

// find returns the note of an owner on a resource, or nil.
func (l *ledger) find(owner *Writes, id resource.ID) *note {
	n := l.notes[id]
	for n != nil && n.owner != owner {
		n = n.next
	}

	return n
}

func (l *ledger) add(owner *Writes, id resource.ID) *note {
	if l.notes == nil {
		l.notes = map[resource.ID]*note{}
	}

	n := &note{}
	if last := len(l.spare) - 1; last >= 0 {
		n, l.spare = l.spare[last], l.spare[:last]
	}

	n.owner, n.id, n.next = owner, id, l.notes[id]
	l.notes[id] = n

	if n.after = owner.notes; n.after != nil {
		n.after.before = n
	}

	owner.notes = n
	owner.pending.Add(1)
	l.pending.Add(1)

	return n
}

// remove forgets a note. What points to it still, finds by its owner that it is another one.
func (l *ledger) remove(n *note) {
	if n.after != nil {
		n.after.before = n.before
	}

	if n.before != nil {
		n.before.after = n.after
	} else {
		n.owner.notes = n.after
	}

	n.owner.pending.Add(-1)
	l.pending.Add(-1)

	if first := l.notes[n.id]; first != n {
		for first.next != n {
			first = first.next
		}

		first.next = n.next
	} else if n.next != nil {
		l.notes[n.id] = n.next
	} else {
		delete(l.notes, n.id)
	}

	*n = note{turn: n.turn + 1, fresh: n.fresh, seen: n.seen[:0]}

	if len(l.spare) < spareNotes {
		l.spare = append(l.spare, n)
	}
}

// settle forgets a note that has nothing to say any more: no write is under way, and the newest contents show what it
// came to, or nothing is cached now and r is nil.
func (l *ledger) settle(n *note, r *run) {
	if n.owner == nil || n.open > 0 || n.asking > 0 {
		return
	}

	if r != nil && n.target.what != nothing {
		now := r.newest()

		if n.shown == 0 && !n.target.made && now.shows(n.id, n.target) {
			n.shown = now.number
		}

		switch {
		case n.shown == 0:
			return
		case n.shown > now.number:
			l.shown = append(l.shown, n)

			return
		}
	}

	l.remove(n)
}

// put is told that the contents of the number will show the resource.
func (l *ledger) put(res resource.Resource, number uint64) {
	if l.pending.Load() == 0 {
		return
	}

	md := res.Metadata()
	l.see(md.ID(), sighting{
		created: createdOf(md), version: md.Version().Value(), tearing: md.Phase() == resource.PhaseTearingDown, number: number,
	})
}

// ended is told that the contents of the number will not show the incarnation any more.
func (l *ledger) ended(res resource.Resource, number uint64) {
	if l.pending.Load() == 0 {
		return
	}

	md := res.Metadata()
	l.see(md.ID(), sighting{created: createdOf(md), version: md.Version().Value(), ended: true, number: number})
}

func (l *ledger) see(id resource.ID, s sighting) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for n := l.notes[id]; n != nil; n = n.next {
		if n.see(s) {
			l.shown = append(l.shown, n)
		}
	}
}

// published forgets the notes that the contents show.
func (l *ledger) published(r *run) {
	if l.pending.Load() == 0 {
		return
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	shown, fresh := l.shown, l.fresh
	l.shown, l.fresh = nil, nil

	for _, n := range shown {
		l.settle(n, r)
	}

	for _, n := range fresh {
		n.fresh = false
		l.settle(n, r)
	}
}

// loading is told that all contents are going to be asked for.
func (l *ledger) loading() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.loads++
}

// loaded is told that the contents of the number will be all that there was after the last call of loading, so that they
// show every write that had ended before it. Of the others nobody knows.
func (l *ledger) loaded(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for _, first := range l.notes {
		for n := first; n != nil; n = n.next {
			n.reloaded = n.reloaded || n.open > 0

			switch {
			case n.target.what == nothing || n.shown != 0:
			case n.loads < l.loads:
				n.shown = number
				l.shown = append(l.shown, n)
			default:
				n.unsure = true
			}
		}
	}
}

// clear forgets everything.
func (l *ledger) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()

	var all []*note

	for _, first := range l.notes {
		for n := first; n != nil; n = n.next {
			all = append(all, n)
		}
	}

	for _, n := range all {
		n.target = target{}
		l.settle(n, nil)
	}

	for _, n := range l.fresh {
		n.fresh = false
	}

	l.shown, l.fresh = nil, nil
}
