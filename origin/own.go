package origin

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

const (
	// mostNotes is of how many resources there are notes at most. With more, which takes a watch that is far behind, those
	// on which no write is under way are dropped, and what they were for counts as somebody else's.
	mostNotes = 4096
	// spareNotes is how many notes are kept to be used again.
	spareNotes = 16
)

// Own knows which changes of its inputs a controller has made itself. A change is own if all events that were merged into
// it are. A note on a write is dropped when the change that it was for is judged, and with any change that somebody else
// has made, so every note is for a change that is still to come: where two are mistaken for each other, because a
// resource was destroyed and created again, the one that comes later counts as somebody else's, and is on its way.
//
// All methods are safe for concurrent use. Those of nil follow nothing.
type Own struct {
	follows []followed
	release func(md reduced.Metadata, kind controller.InputKind, own bool)

	// made counts the writes that have made a change, but for those of a [Hand].
	made atomic.Uint64
	// hands tells that there are some.
	hands atomic.Bool
	// pending counts the notes.
	pending atomic.Int64

	// mu guards the fields below, and the notes of what is followed.
	mu    sync.Mutex
	spare []*note
	// loads counts the loads of contents, and when something was let go: what was begun before may never come as a change.
	loads uint64
}

// followed is a kind on which the controller has inputs.
type followed struct {
	kind  reduced.Kind
	whole bool
	ids   []resource.ID
	// primary and mapped tell what they are; ends is that it is told only of resources that have gone, or are about to.
	primary, mapped, ends bool
	// notes are on resources of the kind, by id, all of them in the first that is followed of a kind.
	notes map[resource.ID]*note
}

// NewOwn returns the register of a controller with the inputs, or nil if nothing can be followed. A kind that is both a
// primary and a mapped input is not: its changes are told of twice.
//
// Release is called with changes that were held, when it is known whose they are. It is called with the Own locked, so
// that a later change of the same resource comes after them, and must not call it.
func NewOwn(inputs []controller.Input, release func(md reduced.Metadata, kind controller.InputKind, own bool)) *Own {
	var follows []followed

	for _, in := range inputs {
		kind := reduced.Kind{Namespace: in.Namespace, Type: in.Type}
		ends := in.Kind == controller.InputQMappedDestroyReady

		at := slices.IndexFunc(follows, func(f followed) bool { return f.kind == kind && f.ends == ends })
		if at < 0 {
			at = len(follows)
			follows = append(follows, followed{kind: kind, ends: ends})
		}

		f := &follows[at]
		f.primary = f.primary || in.Kind == controller.InputQPrimary
		f.mapped = f.mapped || in.Kind != controller.InputQPrimary

		if id, byID := in.ID.Get(); byID {
			f.ids = append(f.ids, id)
		} else {
			f.whole = true
		}
	}

	both := func(f followed) bool {
		primary := slices.ContainsFunc(follows, func(g followed) bool { return g.kind == f.kind && g.primary })
		mapped := slices.ContainsFunc(follows, func(g followed) bool { return g.kind == f.kind && g.mapped })

		return primary && mapped
	}

	kept := make([]followed, 0, len(follows))

	for _, f := range follows {
		if !both(f) {
			kept = append(kept, f)
		}
	}

	if len(kept) == 0 {
		return nil
	}

	return &Own{follows: kept, release: release}
}

// find returns the first that is followed of a kind, or nil. It may be called without the lock.
func (o *Own) find(kind reduced.Kind) *followed {
	for i := range o.follows {
		if f := &o.follows[i]; f.kind == kind {
			return f
		}
	}

	return nil
}

// shown tells whether the controller is told of every change of the resource, or at least of its end.
func (o *Own) shown(key reduced.Key) (changes, end bool) {
	for i := range o.follows {
		f := &o.follows[i]

		if f.kind != key.Kind || !f.whole && !slices.Contains(f.ids, key.ID) {
			continue
		}

		if !f.ends {
			return true, true
		}

		end = true
	}

	return false, end
}

// Made counts the writes that have changed what the controller is told of, but for those that a [Hand] has counted. It only grows.
func (o *Own) Made() uint64 {
	if o == nil {
		return 0
	}

	return o.made.Load()
}

// Idle tells that any change is somebody else's.
func (o *Own) Idle() bool { return o == nil || o.pending.Load() == 0 }

// Verdict is what [Own.Judge] has come to about a change.
type Verdict uint8

const (
	// Others is that somebody else has made the change, or a part of it, or that nothing is known of it.
	Others Verdict = iota
	// Itself is that the controller has made all of it.
	Itself
	// Kept is that the change is not to be delivered by whoever asks: it was released, or will be.
	Kept
)

// Judge tells whether the controller has made changes itself that are about to be delivered as inputs of the kind. Verdicts
// is as long as changes, and all of them are Others before. While a write is under way that may have made a change, that is
// held, and released later. A change that follows one that was held is released with it.
func (o *Own) Judge(changes []reduced.Metadata, kind controller.InputKind, verdicts []Verdict) {
	if o.Idle() {
		return
	}

	o.mu.Lock()
	defer o.mu.Unlock()

	var in *followed

	for i := range changes {
		key := changes[i].Key()

		if in == nil || in.kind != key.Kind {
			if in = o.find(key.Kind); in == nil {
				continue
			}
		}

		if n := in.notes[key.ID]; n != nil {
			verdicts[i] = o.judge(in, n, &changes[i], kind)
		}
	}
}

func (o *Own) judge(in *followed, n *note, md *reduced.Metadata, kind controller.InputKind) Verdict {
	verdict, long := Others, false

	if n.held != nil {
		merged := reduced.Merge(n.held.md, *md)
		long = n.held.long
		md, n.held, verdict = &merged, nil, Kept
	}

	if n.undecided(md) {
		n.held = &heldChange{*md, kind, long}

		return Kept
	}

	own := n.saw(md)

	switch {
	case verdict == Kept:
		o.release(*md, kind, own)
	case own:
		verdict = Itself
	}

	o.settle(in, md.ID(), n)

	return verdict
}

// Loaded says that all contents of a kind were loaded: what was written before may have been among them.
func (o *Own) Loaded(kind reduced.Kind) {
	if o.Idle() {
		return
	}

	o.mu.Lock()
	defer o.mu.Unlock()

	o.loads++

	if in := o.find(kind); in != nil {
		for _, id := range slices.Sorted(maps.Keys(in.notes)) {
			n := in.notes[id]

			n.made.clear()
			o.settle(in, id, n)
		}
	}
}

// LetGo releases what was held already when it was called last, as somebody else's: a call of the state that takes so long may
// never return. It is called from time to time.
func (o *Own) LetGo() {
	if o.Idle() {
		return
	}

	o.mu.Lock()
	defer o.mu.Unlock()

	for i := range o.follows {
		notes := o.follows[i].notes

		for _, id := range slices.Sorted(maps.Keys(notes)) {
			o.letGo(notes[id])
		}
	}
}

func (o *Own) letGo(n *note) {
	switch h := n.held; {
	case h == nil:
	case !h.long:
		h.long = true
	default:
		n.held = nil
		n.made.clear()
		o.loads++ // should the call return after all, its change does not come any more
		o.release(h.md, h.kind, false)
	}
}

// begin notes that a write is under way.
func (o *Own) begin(in *followed, id resource.ID) *note {
	n := in.notes[id]
	if n != nil {
		n.open++

		return n
	}

	if o.pending.Load() >= mostNotes {
		o.clear()
	}

	if last := len(o.spare) - 1; last >= 0 {
		n, o.spare = o.spare[last], o.spare[:last]
	} else {
		n = newNote()
	}

	if in.notes == nil {
		in.notes = map[resource.ID]*note{}
	}

	n.open = 1
	in.notes[id] = n
	o.pending.Add(1)

	return n
}

// clear drops the notes on writes that have ended.
func (o *Own) clear() {
	for i := range o.follows {
		for id, n := range o.follows[i].notes {
			if n.open == 0 {
				delete(o.follows[i].notes, id)
				o.pending.Add(-1)
			}
		}
	}
}

// settle releases what is held and can not have been made by a write under way any more, and drops a note that has nothing
// to say.
func (o *Own) settle(in *followed, id resource.ID, n *note) {
	if h := n.held; h != nil && !n.undecided(&h.md) {
		n.held = nil
		o.release(h.md, h.kind, n.saw(&h.md))
	}

	if n.open > 0 || !n.made.empty() {
		return
	}

	delete(in.notes, id)
	o.pending.Add(-1)

	if len(o.spare) < spareNotes {
		n.made.clear()
		o.spare = append(o.spare, n)
	}
}
