package cause

import (
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// mostAccesses is how many reads, and how many writes, of one pass are remembered.
const mostAccesses = 16

// Open is a pass that runs, or has run. Nil is a pass of which nothing is remembered, and may be called as well.
//
// What all passes have is first, so that most need little of the memory.
type Open struct {
	// ring is where it has its place. Its lock guards the fields below.
	ring *ring

	// place is where it is in the ring, order which one it is of those that have ended, and next the place of the one behind it in its
	// line.
	place, next int
	order       uint64
	// seat is where it was begun, and number which pass it is, or 0 where there is none.
	seat   *seat
	number uint64
	// end is when it has ended, and outcome with what. Noted is that there are reads or writes, has failed, or is to be made again.
	end     time.Duration
	outcome Outcome
	noted   bool
	// with is with what it has begun.
	with Begin

	// again is when it is to be made again, and failed what few passes have.
	again  time.Duration
	failed *failed
	// reads and writes are the first ones, moreReads and moreWrites count the others.
	reads, writes         []Access
	moreReads, moreWrites int
}

// failed is what is told of a failure.
type failed struct{ text, stack string }

func (o *Open) beginLocked(s *seat, b *Begin) {
	o.number, o.outcome = s.ring.numberLocked(), Running
	s.at = o

	if s.full.Load() {
		s.full.Store(false)
	}

	if o.noted {
		o.forgetLocked()
	}

	// The collector has to be told of each pointer that is written while it is at work, so those are not that are there already.
	if o.seat != s {
		o.seat = s
	}

	with := &o.with
	with.Doing, with.At, with.Waited, with.Reasons, with.ID = b.Doing, b.At, b.Waited, b.Reasons, b.ID

	if with.Own.Events|b.Own.Events != 0 {
		with.Own = b.Own
	}

	if with.Kind != b.Kind {
		with.Kind = b.Kind
	}

	if with.Causes != nil || b.Causes != nil {
		with.Causes = b.Causes
	}
}

// forgetLocked forgets what was noted of the pass that had the place before. What was read and written is overwritten in time, which is
// quicker than to clear it.
func (o *Open) forgetLocked() {
	o.reads, o.writes = o.reads[:0], o.writes[:0]
	o.moreReads, o.moreWrites, o.again, o.failed, o.noted = 0, 0, 0, nil, false
}

// readLocked notes a read of the pass that runs.
func (o *Open) readLocked(key reduced.Key, version uint64) {
	o.noted = true

	if len(o.reads) == mostAccesses {
		o.moreReads++ // another goroutine of the pass has noted the last one meanwhile

		return
	}

	o.reads = append(o.reads, Access{Resource: key, Version: version})

	if len(o.reads) == mostAccesses {
		o.seat.beyond.Store(0)
		o.seat.full.Store(true)
	}
}

// Wrote notes that the pass has made a version of a resource in one of its lives, or with version 0, that it has changed it
// and is not told which version came of it.
func (o *Open) Wrote(verb string, ptr resource.Pointer, version uint64, life int64) {
	if o == nil {
		return
	}

	r, key := o.ring, reduced.KeyOf(ptr)
	r.mu.Lock()
	o.noted = true

	if len(o.writes) < mostAccesses {
		o.writes = append(o.writes, Access{Resource: key, Verb: verb, Version: version, Life: life})
	} else {
		o.moreWrites++
	}

	r.mu.Unlock()
}

// End ends the pass. Again is when the next one was asked for, 0 for not at all.
func (o *Open) End(at time.Duration, outcome Outcome, failure error, again time.Duration) {
	if o == nil {
		return
	}

	var f *failed

	if failure != nil {
		f = &failed{failure.Error(), stackOf(failure)}
	}

	r := o.ring
	r.mu.Lock()

	if o.outcome == Running {
		if f != nil || again != 0 {
			o.failed, o.again, o.noted = f, again, true
		}

		r.freeLocked(o.endLocked(at, outcome))
	}

	r.mu.Unlock()
}

// EndLocked is End for whoever holds the lock that was given to [Tracer.Under], of a pass that is not nil and has not failed.
func (o *Open) EndLocked(at time.Duration, outcome Outcome) {
	if o.outcome == Running {
		o.ring.freeLocked(o.endLocked(at, outcome))
	}
}

// Next ends the pass, which has not failed, and begins the one behind it in the same place.
func (o *Open) Next(at time.Duration, outcome Outcome, b *Begin) *Open {
	s, r := o.seat, o.ring

	r.mu.Lock()

	var next *Open
	if o.outcome == Running {
		next = o.endLocked(at, outcome)
	}

	if next == nil {
		next = r.slotLocked()
	}

	next.beginLocked(s, b)
	r.mu.Unlock()

	return next
}

// endLocked ends a pass that runs. It returns the place of one that is forgotten, or nil.
func (o *Open) endLocked(at time.Duration, outcome Outcome) (free *Open) {
	o.end, o.outcome = at, outcome

	if o.seat.at == o {
		o.moreReads += o.seat.moreLocked()
		o.seat.at = nil
	}

	if o.with.Doing != Hooking {
		o.ring.timings.endedLocked(o)
	}

	return o.ring.keepLocked(o)
}

// endedLocked counts a pass that has ended.
func (t *Timings) endedLocked(o *Open) {
	t.Outcomes[o.outcome]++
	t.Durations.add(o.end - o.with.At)

	if o.with.Waited >= 0 {
		t.Waits.add(o.with.Waited)
	}
}

// passLocked returns what is remembered of the pass by now.
func (o *Open) passLocked() Pass {
	t, with := o.ring.tracer, &o.with
	p := Pass{
		Controller: t.cfg.Controller, Number: o.number, Doing: with.Doing, Began: t.epoch.Add(with.At), Waited: max(with.Waited, 0),
		Outcome: o.outcome, Reasons: with.Reasons,
		Reads: slices.Clone(o.reads), Writes: slices.Clone(o.writes), MoreReads: o.moreReads, MoreWrites: o.moreWrites,
	}

	if with.Kind != nil {
		p.Item = reduced.Key{Kind: *with.Kind, ID: with.ID}
	}

	var causes Set

	if with.Own.Events > 0 {
		causes.add(&Cause{p.Item, with.Own})
	}

	if with.Causes != nil {
		causes.addAll(with.Causes.Set())
	}

	p.Causes, p.More = causes.causes, causes.more

	if o.outcome == Running {
		if o.seat.at == o {
			p.MoreReads += o.seat.moreLocked()
		}

		return p
	}

	p.Ended, p.Again = t.epoch.Add(o.end), o.again

	if o.failed != nil {
		p.Failure, p.Stack = o.failed.text, o.failed.stack
	}

	return p
}
