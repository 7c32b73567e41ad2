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

// DefaultPasses is how many passes of a controller are remembered.
const DefaultPasses = 32

// Config is what a tracer is made of.
type Config struct {
	// Controller is the name of the controller.
	Controller string
	// Passes is how many passes are remembered that have ended; 0 is [DefaultPasses].
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
	// lock is that of whoever makes the passes, or nil.
	lock *sync.Mutex

	// alone makes the passes where there is one at a time. Before the first pass it is nil.
	alone atomic.Pointer[seat]
	// count counts the passes where there are several workers.
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

// New returns a tracer that remembers nothing yet.
func New(cfg Config) *Tracer {
	if cfg.Passes <= 0 {
		cfg.Passes = DefaultPasses
	}

	cfg.Workers = max(cfg.Workers, 1)

	return &Tracer{cfg: cfg}
}

// From says from when times are counted. It is called before anything begins.
func (t *Tracer) From(epoch time.Time) {
	if t != nil {
		t.epoch = epoch
	}
}

// Under has a lock guard what is remembered, for whoever holds one of its own anyway when a pass begins or ends. It is held while passes
// are copied. It is called before anything begins, where one pass runs at a time.
func (t *Tracer) Under(lock *sync.Mutex) { t.lock = lock }

// Several tells whether several passes run at once.
func (t *Tracer) Several() bool { return t != nil && t.cfg.Workers > 1 }

// Count returns how many passes were begun.
func (t *Tracer) Count() (n uint64) {
	if t == nil {
		return 0
	}

	if t.cfg.Workers > 1 {
		return t.count.Load()
	}

	for _, r := range t.all() {
		r.mu.Lock()
		n += r.begun
		r.mu.Unlock()
	}

	return n
}

// Begin is what a pass begins with.
type Begin struct {
	// At is when, counted from the epoch.
	At time.Duration
	// Waited is how long that had waited which the pass is for; below 0 is that nothing has.
	Waited time.Duration
	// Doing is what is called, and Kind and ID what for; Kind is nil for a classic controller. It is kept, and not to be changed.
	Doing   Doing
	Reasons Reasons
	Kind    *reduced.Kind
	ID      resource.ID
	// Causes is what was the cause, or nil, and Own what has happened to the item itself beside; no events is nothing.
	Causes Causes
	Own    Change
}

// Begin begins a pass, where there is one at a time.
func (t *Tracer) Begin(b *Begin) *Open {
	if t == nil {
		return nil
	}

	return t.only().begin(b)
}

// BeginLocked is Begin for whoever holds the lock that was given to Under, of a tracer that is not nil.
func (t *Tracer) BeginLocked(b *Begin) *Open { return t.only().beginLocked(b) }

// only returns who makes passes where there is one at a time.
func (t *Tracer) only() *seat {
	s := t.alone.Load()
	if s == nil {
		s = &seat{ring: t.nextRing()}

		if !t.alone.CompareAndSwap(nil, s) {
			s = t.alone.Load()
		}
	}

	return s
}

// Within returns who makes passes beside others. It is a context: calls with it, or with one made of it, are in the pass that
// it is at.
func (t *Tracer) Within(ctx context.Context) *Hand {
	if t == nil {
		return nil
	}

	return &Hand{Context: ctx, seat: seat{ring: t.nextRing()}}
}

// Hand is one of several workers of a controller. It is the context of its passes.
type Hand struct {
	context.Context

	seat seat
}

// Begin begins a pass, which the hand is at until it ends.
func (h *Hand) Begin(b *Begin) *Open { return h.seat.begin(b) }

type handKey struct{ tracer *Tracer }

// Value implements [context.Context].
func (h *Hand) Value(key any) any {
	if key == any(handKey{h.seat.ring.tracer}) {
		return h
	}

	return h.Context.Value(key)
}

// In returns the pass in which a call with the context is, or nil.
func (t *Tracer) In(ctx context.Context) *Open {
	if s := t.seat(ctx); s != nil {
		return s.in()
	}

	return nil
}

// Read notes that the pass in which a call with the context is has read a resource in a version, 0 if it was not there, or with an
// empty id, several of a kind.
func (t *Tracer) Read(ctx context.Context, key reduced.Key, version uint64) {
	if s := t.seat(ctx); s != nil && !s.counts() {
		s.read(key, version)
	}
}

// ReadVersion is Read of a resource that is there. Its version mostly lies in memory of its own, and is looked at only where it is
// remembered.
func (t *Tracer) ReadVersion(ctx context.Context, key reduced.Key, res resource.Resource) {
	if s := t.seat(ctx); s != nil && !s.counts() {
		s.read(key, res.Metadata().Version().Value())
	}
}

// seat returns where the pass is made in which a call with the context is, or nil.
func (t *Tracer) seat(ctx context.Context) *seat {
	switch {
	case t == nil:
		return nil
	case t.cfg.Workers == 1:
		return t.alone.Load()
	}

	if h, ok := ctx.Value(handKey{t}).(*Hand); ok {
		return &h.seat
	}

	return nil
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
		r := &ring{tracer: t, most: (t.cfg.Passes + most - 1) / most, mu: t.lock}
		if r.mu == nil {
			r.mu = &r.own
		}

		rings = append(slices.Clip(rings), r)
		t.rings.Store(&rings)
	}

	return rings[at]
}
