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
	// shown are notes that the contents published next will show, fresh those to be looked for in them: a write that has
	// changed nothing may have come to what was taken in before the write was begun, and is published after it.
	shown, fresh []*note
	// loads counts the loads of all contents that were begun.
	loads uint64
	// spare are notes to be used again.
	spare []*note
}

// spareNotes is how many notes are kept to be used again.
const spareNotes = 64

// note is what one owner has written to one resource.
type note struct {
	owner *Writes // nil while it is spare
	id    resource.ID
	next  *note // another owner's of the same resource

	// open counts the writes under way, reloaded tells that a load has ended since the first of them was begun.
	open     int
	reloaded bool

	// target is what the last write came to, value the resource as it was then, if it was kept. Turn numbers the targets.
	target target
	value  resource.Resource
	turn   uint64
	// loads is how many loads had begun when the target was set. Unsure is set once a load has ended that was begun after
	// that: the end of the incarnation may have been passed unseen.
	loads  uint64
	unsure bool

	// seen is what the stream has shown since the note was made, an entry for each incarnation. Shown is the number of
	// the contents that show the target, 0 while none do.
	seen  []sighting
	shown uint64
	// fresh tells that the note is among the fresh ones of the ledger.
	fresh bool
}

// what a write came to.
type what uint8

const (
	nothing what = iota
	at           // the incarnation at the version or above
	tearing      // the same, and tearing down
	gone         // the end of the incarnation
)

type target struct {
	what    what
	created int64
	version uint64
}

// older tells whether the target is superseded by another one, when two writes have run at once and it is not known which
// was the last.
func (t target) older(than target) bool {
	switch {
	case t.what == nothing || t.created < than.created:
		return true
	case t.created > than.created:
		return false
	case t.what == at && than.what == at:
		return t.version < than.version
	default:
		return t.what < than.what
	}
}

type sighting struct {
	created int64
	version uint64
	tearing bool
	ended   bool
	number  uint64
}

// shows tells whether what was seen is the target or newer.
func (s *sighting) shows(t target) bool {
	if s.created != t.created {
		return false
	}

	return s.ended || t.what != gone && s.version >= t.version && (t.what == at || s.tearing)
}

// incarnation is the one that a write that is about to be made is taken to end: what was written last, else what the cache
// shows. 0 if neither is known.
func (n *note) incarnation() int64 {
	if n.target.what == at || n.target.what == tearing {
		return n.target.created
	}

	if r := n.owner.collection.run.Load(); r != nil {
		created := r.newest().created(n.id)
		if created != 0 && (n.target.what != gone || n.target.created != created) {
			return created
		}
	}

	return 0
}

// see notes what the contents of the number will show, and tells whether the target is among it for the first time.
func (n *note) see(s sighting) bool {
	known := false

	for i := range n.seen {
		if old := &n.seen[i]; old.created == s.created {
			*old = sighting{
				created: s.created, version: max(old.version, s.version), tearing: old.tearing || s.tearing,
				ended: old.ended || s.ended, number: s.number,
			}
			s, known = *old, true
		}
	}

	if !known {
		n.seen = append(n.seen, s)
	}

	if n.shown != 0 || n.target.what == nothing || !s.shows(n.target) {
		return false
	}

	n.shown = s.number

	return true
}

// set says what the last write came to.
func (l *ledger) set(n *note, to target, value resource.Resource, unsure bool) {
	n.target, n.value, n.unsure, n.loads, n.shown = to, value, unsure, l.loads, 0
	n.turn++

	for i := range n.seen {
		if n.seen[i].shows(to) {
			n.shown = n.seen[i].number
		}
	}

	if !n.fresh {
		n.fresh = true
		l.fresh = append(l.fresh, n)
	}
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
	owner.notes[id] = n
	owner.pending.Add(1)
	l.pending.Add(1)

	return n
}

// remove forgets a note. What points to it still, finds by its owner that it is another one.
func (l *ledger) remove(n *note) {
	delete(n.owner.notes, n.id)
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

	if len(l.spare) < spareNotes {
		*n = note{turn: n.turn + 1, fresh: n.fresh, seen: n.seen[:0]}
		l.spare = append(l.spare, n)
	}
}

// settle forgets a note that has nothing to say any more: no write is under way, and the newest contents show what it
// came to, or nothing is cached now and r is nil.
func (l *ledger) settle(n *note, r *run) {
	if n.owner == nil || n.open > 0 || n.owner.notes[n.id] != n {
		return
	}

	if r != nil && n.target.what != nothing {
		now := r.newest()

		if n.shown == 0 && now.shows(n.id, n.target) {
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

// created returns which incarnation of the resource the contents show, or 0.
func (c *contents) created(id resource.ID) int64 {
	res, ok := c.tree.get(id)
	if !ok {
		return 0
	}

	return createdOf(res.Metadata())
}

// shows tells whether the contents show the target or a later version of its incarnation. Its end they can not show.
func (c *contents) shows(id resource.ID, t target) bool {
	if t.what == gone {
		return false
	}

	res, ok := c.tree.get(id)
	if !ok {
		return false
	}

	md := res.Metadata()

	return (&sighting{
		created: createdOf(md), version: md.Version().Value(), tearing: md.Phase() == resource.PhaseTearingDown,
	}).shows(t)
}
