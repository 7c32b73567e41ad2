package cause

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

const (
	// DefaultPasses is how many passes of a controller are remembered.
	DefaultPasses = 32
	// mostAccesses is how many reads, and how many writes, of one pass are remembered.
	mostAccesses = 16
)

// Config is what a tracer is made of.
type Config struct {
	// Controller is the name of the controller.
	Controller string
	// Passes is how many passes are remembered; 0 is [DefaultPasses].
	Passes int
	// Workers is how many passes run at once at most; 0 is 1. With several, each call has to say in which of them it is: see
	// [Tracer.Within].
	Workers int
}

// Tracer remembers the last passes of one controller. Its methods may be called by several goroutines at once. Nil remembers
// nothing and may be called as well.
type Tracer struct {
	cfg   Config
	epoch time.Time // from when times are counted

	// current is the pass that runs, where there is one at a time.
	current atomic.Pointer[Open]
	// count counts the passes.
	count atomic.Uint64

	// mu guards that there are more rings, and hands, which counts who makes passes.
	mu    sync.Mutex
	hands int
	// rings are where passes are remembered: several for several workers, so that these do not wait for each other. Before the
	// first pass there is none.
	rings atomic.Pointer[[]*ring]
}

// mostRings is how many rings there are at most.
const mostRings = 8

// ring holds the passes that were made last, up to a number. One that runs keeps its place.
type ring struct {
	tracer *Tracer

	// most is how many there are at most.
	most int

	// mu guards the fields below, and what is in the passes.
	mu      sync.Mutex
	passes  []*Open
	next    int
	timings Timings
}

// New returns a tracer that remembers nothing yet.
func New(cfg Config) *Tracer {
	if cfg.Passes <= 0 {
		cfg.Passes = DefaultPasses
	}

	cfg.Workers = max(cfg.Workers, 1)

	return &Tracer{cfg: cfg}
}

// all returns the rings that there are.
func (t *Tracer) all() []*ring {
	if t != nil {
		if rings := t.rings.Load(); rings != nil {
			return *rings
		}
	}

	return nil
}

// nextRing returns the ring for the next one who makes passes.
func (t *Tracer) nextRing() *ring {
	t.mu.Lock()
	defer t.mu.Unlock()

	rings, most := t.all(), min(t.cfg.Workers, mostRings)
	at := t.hands % most
	t.hands++

	if at == len(rings) {
		rings = append(slices.Clip(rings), &ring{tracer: t, most: (t.cfg.Passes + most - 1) / most})
		t.rings.Store(&rings)
	}

	return rings[at]
}

// Count returns how many passes were begun.
func (t *Tracer) Count() uint64 {
	if t == nil {
		return 0
	}

	return t.count.Load()
}

// From says from when times are counted. It is called before anything begins.
func (t *Tracer) From(epoch time.Time) {
	if t != nil {
		t.epoch = epoch
	}
}

// Several tells whether several passes run at once.
func (t *Tracer) Several() bool { return t != nil && t.cfg.Workers > 1 }

// Begin is what a pass begins with.
type Begin struct {
	// Doing is what is called, and Item what for; it is empty for a classic controller.
	Doing Doing
	Item  reduced.Key
	// At is when, counted from the epoch.
	At time.Duration
	// Waited is how long that had waited which the pass is for; below 0 is that nothing has.
	Waited  time.Duration
	Reasons Reasons
	// Own is what has happened to the item itself; no events is nothing. Causes is what else was the cause, or nil.
	Own    Change
	Causes *Set
}

// Begin begins a pass, where there is one at a time.
func (t *Tracer) Begin(b *Begin) *Open {
	if t == nil {
		return nil
	}

	var r *ring

	if rings := t.all(); len(rings) > 0 {
		r = rings[0]
	} else {
		r = t.nextRing()
	}

	o := r.begin(b)
	t.current.Store(o)

	return o
}

func (r *ring) begin(b *Begin) *Open {
	number := r.tracer.count.Add(1)

	r.mu.Lock()
	defer r.mu.Unlock()

	o := r.slotLocked()
	o.beginLocked(number, b)

	if o.doing != Hooking {
		r.timings.Outcomes[Running]++
	}

	return o
}

// slotLocked returns the place of the oldest pass, or a new one.
func (r *ring) slotLocked() *Open {
	for range r.passes {
		if len(r.passes) < r.most {
			break
		}

		o := r.passes[r.next]
		r.next = (r.next + 1) % len(r.passes)

		if o.outcome != Running {
			return o
		}
	}

	o := &Open{ring: r}
	r.passes = append(r.passes, o)

	return o
}

// Within returns who makes passes beside others. It is a context: calls with it, or with one made of it, are in the pass that
// it is at.
func (t *Tracer) Within(ctx context.Context) *Hand {
	if t == nil {
		return nil
	}

	return &Hand{Context: ctx, ring: t.nextRing()}
}

// Hand is one of several workers of a controller. It is the context of its passes. Nil remembers nothing and may be called as
// well.
type Hand struct {
	context.Context

	ring *ring
	at   atomic.Pointer[Open]
}

// Begin begins a pass, which the hand is at until it ends.
func (h *Hand) Begin(b *Begin) *Open {
	o := h.ring.begin(b)
	h.at.Store(o)

	return o
}

// Rest says that the hand is at no pass any more.
func (h *Hand) Rest() {
	if h != nil {
		h.at.Store(nil)
	}
}

type handKey struct{ tracer *Tracer }

// Value implements [context.Context].
func (h *Hand) Value(key any) any {
	if key == any(handKey{h.ring.tracer}) {
		return h
	}

	return h.Context.Value(key)
}

// In returns the pass in which a call with the context is, or nil.
func (t *Tracer) In(ctx context.Context) *Open {
	switch {
	case t == nil:
		return nil
	case t.cfg.Workers == 1:
		return t.current.Load()
	}

	if h, ok := ctx.Value(handKey{t}).(*Hand); ok {
		return h.at.Load()
	}

	return nil
}

// Open is a pass that runs, or has run. Nil is a pass of which nothing is remembered, and may be called as well.
type Open struct {
	ring *ring

	// The lock of the ring guards the fields below.
	number     uint64
	doing      Doing
	item       reduced.Key
	reasons    Reasons
	began, end time.Duration
	waited     time.Duration
	// causes are all of them, reads and writes the first ones.
	causes Set
	reads  []Access
	writes []Access
	// moreReads and moreWrites count the others.
	moreReads, moreWrites int

	outcome        Outcome
	failure, stack string
	again          time.Duration
}

func (o *Open) beginLocked(number uint64, b *Begin) {
	o.number, o.doing, o.item, o.reasons, o.began, o.end, o.waited = number, b.Doing, b.Item, b.Reasons, b.At, 0, b.Waited
	o.causes.causes, o.causes.more = o.causes.causes[:0], 0
	clear(o.reads)
	clear(o.writes)
	o.reads, o.writes, o.moreReads, o.moreWrites = o.reads[:0], o.writes[:0], 0, 0
	o.outcome, o.failure, o.stack, o.again = Running, "", "", 0

	if b.Own.Events > 0 {
		o.causes.causes = append(o.causes.causes, Cause{b.Item, b.Own})
	}

	if b.Causes != nil {
		o.causes.addAll(b.Causes)
	}
}

// Read notes that the pass has read a resource in a version, 0 if it was not there, or with an empty id, several of a kind.
func (o *Open) Read(key reduced.Key, version uint64) {
	if o == nil {
		return
	}

	o.ring.mu.Lock()
	defer o.ring.mu.Unlock()

	if len(o.reads) < mostAccesses {
		o.reads = append(o.reads, Access{Resource: key, Version: version})
	} else {
		o.moreReads++
	}
}

// Wrote notes that the pass has made a version of a resource in one of its lives, or with version 0, that it has changed it
// and is not told which version came of it.
func (o *Open) Wrote(verb string, ptr resource.Pointer, version uint64, life int64) {
	if o == nil {
		return
	}

	o.ring.mu.Lock()
	defer o.ring.mu.Unlock()

	if len(o.writes) < mostAccesses {
		o.writes = append(o.writes, Access{Resource: reduced.KeyOf(ptr), Verb: verb, Version: version, Life: life})
	} else {
		o.moreWrites++
	}
}

// End ends the pass. Again is when the next one was asked for, 0 for not at all.
func (o *Open) End(at time.Duration, outcome Outcome, failure error, again time.Duration) {
	if o == nil {
		return
	}

	var text, stack string

	if failure != nil {
		text, stack = failure.Error(), stackOf(failure)
	}

	o.ring.mu.Lock()
	o.end, o.outcome, o.again, o.failure, o.stack = at, outcome, again, text, stack
	o.timeLocked()
	o.ring.mu.Unlock()

	o.ring.tracer.current.CompareAndSwap(o, nil)
}

// timeLocked counts the pass, which has ended.
func (o *Open) timeLocked() {
	if o.doing == Hooking {
		return
	}

	t := &o.ring.timings
	t.Outcomes[Running]--
	t.Outcomes[o.outcome]++
	t.Durations.add(o.end - o.began)

	if o.waited >= 0 {
		t.Waits.add(o.waited)
	}
}
