package cache

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// Writes are the writes of one controller to one cached kind that the cache does not show yet. Its owner reads through
// them, so that it never sees less than it has written. All methods are safe for concurrent use.
//
// A write is noted before it is made and forgotten once the contents show it, or something newer: the same incarnation
// at the same version or above, or the end of that incarnation. While nothing is noted, reading costs one load more.
// The value of a write is kept only for owners that are found reading what they wrote; else the state is asked for it.
//
// What a write has destroyed, or marked as tearing down, is taken to be the incarnation that the owner has written last,
// or else the one that the cache shows.
type Writes struct {
	collection *Collection
	// pending counts the notes, for those who only want to know whether there are any.
	pending atomic.Int64
	// keep is of how many writes to come the value is kept.
	keep atomic.Int64

	// notes is the newest, and guarded as all of them are by the lock of the collection's ledger.
	notes *note
}

const (
	// worth is for how many writes the value is kept for each time that the owner has read what the cache has not shown:
	// to ask the state costs more than a copy, but not so many times as much.
	worth = 16
	// mostKept is the most that comes of it, so that an owner that does so no more has nothing kept after a while.
	mostKept = 1 << 14
)

// Writes returns the register of a new owner.
func (c *Collection) Writes() *Writes {
	return &Writes{collection: c}
}

// Write is one write. It is begun before the write is made, told what the write came to, and ended, whatever has become of
// it. The zero value stands for a write that nobody follows.
type Write struct {
	note  *note
	to    target
	value resource.Resource
	// base is the version that the write is made on top of, where based tells that it is known.
	base  uint64
	based bool
	// ends is the incarnation that was there before the write, turn that of the note when the write was begun.
	ends int64
	turn uint64
}

// Begin notes a write to the resource. It is to be called before the write is made.
func (w *Writes) Begin(id resource.ID) Write {
	l := &w.collection.ledger

	l.mu.Lock()
	defer l.mu.Unlock()

	n := l.find(w, id)
	if n == nil {
		n = l.add(w, id)
	}

	n.open++

	return Write{note: n, turn: n.turn}
}

// Known tells whether it is known which incarnation the write would mark as tearing down, or destroy; if not, Learn is to
// be called before it is made.
func (wr *Write) Known() bool {
	if wr.note == nil {
		return true
	}

	l := &wr.note.owner.collection.ledger

	l.mu.Lock()
	defer l.mu.Unlock()

	wr.ends = wr.note.incarnation()

	return wr.ends != 0
}

// Knows tells whether the resource is of the incarnation that is known to be there, as [Write.Known] has it. One that is not
// may have been given another time of creation by its maker.
func (wr *Write) Knows(res resource.Resource) bool {
	return wr.Known() && wr.ends == createdOf(res.Metadata())
}

// Learn tells which incarnation of the resource is there before the write.
func (wr *Write) Learn(res resource.Resource) {
	wr.ends = createdOf(res.Metadata())
}

// OnTopOf tells on top of which version the write is made, or that it makes a first one where that is 0. It is called before
// Wrote. Then a later version is known to be new, and is not looked for in what was shown before the write.
func (wr *Write) OnTopOf(version resource.Version) { wr.base, wr.based = version.Value(), true }

// Wrote tells that the write was made, and that the resource is as it is now in the state.
func (wr *Write) Wrote(res resource.Resource) {
	if wr.note == nil {
		return
	}

	if keep := &wr.note.owner.keep; keep.Load() > 0 {
		keep.Add(-1)

		wr.value = res.DeepCopy()
	}

	wr.to = shownBy(res)
	wr.to.made = wr.based && wr.to.version > wr.base
}

// Followed tells whether anybody follows the write.
func (wr *Write) Followed() bool { return wr.note != nil }

// WroteUnknown tells that the write was made, and that it is not known what the resource is like now: the state is asked
// by whoever reads it.
func (wr *Write) WroteUnknown() { wr.to = target{what: at, created: math.MaxInt64} }

// TearingDown tells that the write has marked the resource as tearing down.
func (wr *Write) TearingDown() { wr.to.what = tearing }

// Destroyed tells that the write has destroyed the resource.
func (wr *Write) Destroyed() { wr.to.what = gone }

// End ends the write. If nothing was told of what it came to, it has come to nothing.
func (wr *Write) End() {
	n := wr.note
	if n == nil {
		return
	}

	l := &n.owner.collection.ledger

	l.mu.Lock()
	defer l.mu.Unlock()

	n.open--

	if wr.to.what == tearing || wr.to.what == gone {
		wr.to.created = wr.ends
	}

	// It may have been tearing down before, and then this write has made no version of its own.
	if wr.to.what == tearing && wr.to.created == n.target.created {
		wr.to.version = n.target.version
	}

	alone := n.turn == wr.turn

	if wr.to.created != 0 && (alone && n.open == 0 || n.target.older(wr.to)) {
		l.set(n, wr.to, wr.value, n.reloaded || !alone || wr.to.created == math.MaxInt64)
	} else if wr.to.created != 0 {
		n.unsure = true
	}

	if n.open == 0 {
		n.reloaded = false
	}

	l.settle(n, n.owner.collection.run.Load())
}

// View is [Collection.View] for the owner: with the newest contents that it may see, of the one resource, or of all with
// an empty id. Get reads the state; it is called for what was written and neither kept nor shown yet.
func (w *Writes) View(
	ctx context.Context, name string, id resource.ID, get func(resource.ID) (resource.Resource, error),
) (view View, ok bool, err error) {
	r, err := w.collection.await(ctx, name)
	if r == nil {
		return View{}, false, err
	}

	// The notes are looked at before the contents: what is forgotten is in the contents already, or the run is over.
	if w.pending.Load() == 0 {
		return w.collection.view(r, r.newest(), name), w.collection.run.Load() == r, nil
	}

	now, patches, ask := w.unseen(r, id)

	if len(ask) > 0 {
		answers, err := w.askAll(r, ask, get)
		if err != nil {
			return View{}, false, err
		}

		patches = append(patches, answers...)
	}

	// Where the run has ended in the meantime, notes may have been forgotten that were not shown.
	return w.collection.view(r, now, name).With(patches...), w.collection.run.Load() == r, nil
}

// Unseen tells whether the cache may show less of the resource than the owner has written.
func (w *Writes) Unseen(id resource.ID) bool {
	if w.pending.Load() == 0 {
		return false
	}

	l := &w.collection.ledger

	l.mu.Lock()
	defer l.mu.Unlock()

	n := l.find(w, id)

	return n != nil && n.target.what != nothing
}

// question is a note of which the value is to be asked of the state.
type question struct {
	note *note
	id   resource.ID
	turn uint64
}

// unseen returns the newest contents, what is to be put over them, and of what the value is not known.
func (w *Writes) unseen(r *run, id resource.ID) (now *contents, patches []Patch, ask []question) {
	l := &w.collection.ledger

	l.mu.Lock()
	defer l.mu.Unlock()

	now = r.newest()

	look := func(n *note) {
		switch {
		case n.target.what == nothing || n.shown != 0 && n.shown <= now.number:
		case n.unsure || n.target.what == tearing || n.target.what == at && n.value == nil:
			n.asking++

			ask = append(ask, question{n, n.id, n.turn})
		default:
			if !n.read {
				n.read = true

				w.needed()
			}

			patches = append(patches, Patch{ID: n.id, Resource: n.value})
		}
	}

	if id != "" {
		if n := l.find(w, id); n != nil {
			look(n)
		}

		return now, patches, ask
	}

	for n := w.notes; n != nil; n = n.after {
		look(n)
	}

	slices.SortFunc(ask, func(a, b question) int { return cmp.Compare(a.id, b.id) })

	return now, patches, ask
}

// needed is called when the owner reads what it wrote and the cache has not shown.
func (w *Writes) needed() {
	if w.keep.Load() < mostKept {
		w.keep.Add(worth)
	}
}

// askAll asks one question after the other.
func (w *Writes) askAll(r *run, ask []question, get func(resource.ID) (resource.Resource, error)) (answers []Patch, err error) {
	defer func() { w.unasked(r, ask[len(answers):]) }() // the state may panic

	for _, q := range ask {
		patch, err := w.ask(r, q, get)
		if err != nil {
			return answers, err
		}

		answers = append(answers, patch)
	}

	return answers, nil
}

// ask reads the state, which is as new as the write at least, and notes what it has shown.
func (w *Writes) ask(r *run, q question, get func(resource.ID) (resource.Resource, error)) (Patch, error) {
	w.needed()

	before := r.newest().created(q.id)

	res, err := get(q.id)

	switch {
	case state.IsNotFoundError(err):
		res = nil
	case err != nil:
		return Patch{}, err
	}

	l := &w.collection.ledger

	l.mu.Lock()
	defer l.mu.Unlock()

	n := q.note
	n.asking--

	switch {
	case n.target.what == nothing:
		// The run has ended meanwhile, and everything was forgotten.
	case n.turn == q.turn:
		switch {
		case res != nil:
			l.set(n, shownBy(res), res, false)
		case n.unsure && before != 0, before > n.target.created:
			// What the cache shows is on its way out.
			l.set(n, target{what: gone, created: before}, nil, false)
		default:
			l.set(n, target{what: gone, created: n.target.created}, nil, n.unsure && r.newest().created(n.id) != 0)
		}
	case res != nil && n.target.older(shownBy(res)):
		// Another reader's answer has come first, which was older than this one.
		l.set(n, shownBy(res), res, false)
	}

	l.settle(n, r)

	return Patch{ID: q.id, Resource: res}, nil
}

// unasked is told that nobody waits for the answers any more.
func (w *Writes) unasked(r *run, ask []question) {
	l := &w.collection.ledger

	l.mu.Lock()
	defer l.mu.Unlock()

	for _, q := range ask {
		q.note.asking--

		l.settle(q.note, r)
	}
}
