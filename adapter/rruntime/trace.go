package rruntime

import (
	"time"

	"github.com/switchyard-run/switchyard/cause"
)

// tracing is the pass of a controller. One event may wake thousands of controllers, and what is not where the wakeups are would
// have to be fetched for each: so it lies there, and is small. The lock of the wakeups guards it.
type tracing struct {
	// open is the pass that runs, or nil; number is the wakeup that it was for, and begun tells that the Run that is called has
	// done something.
	open   *cause.Open
	number uint32
	begun  bool
	// pendingWhy and takenWhy are reasons of what is in told.
	pendingWhy, takenWhy cause.Reasons
}

// told is why a controller was woken, which only who wakes it looks at before it begins a pass. The lock of the wakeups guards it.
type told struct {
	// pending is why the wakeup was sent that is pending, and taken why those before it were that the controller has taken and
	// not begun a pass for.
	pending, taken news
}

// news is what has caused wakeups.
type news struct {
	causes *cause.Set
	// since is when the first wakeup was sent, where no change has caused that; otherwise it is below 0, and the causes know.
	since time.Duration
}

// noNews is that no wakeup was sent.
var noNews = news{since: -1}

func (n *news) none() bool { return n.causes == nil && n.since < 0 }

// first returns when the first wakeup was sent; below 0 is that none was.
func (n *news) first() time.Duration {
	if n.causes == nil || n.since >= 0 {
		return n.since
	}

	return n.causes.At()
}

// clear forgets all. Nothing is written where nothing is to be: one event may wake thousands of controllers.
func (n *news) clear() {
	if n.causes != nil {
		n.causes = nil
	}

	if n.since >= 0 {
		n.since = -1
	}
}

// sent is that a wakeup was sent at a time, because of changes or, with nil, for other reasons.
func (n *news) sent(at time.Duration, because *cause.Set) {
	switch {
	case because == nil:
		if n.none() {
			n.since = at
		}
	case n.causes == nil:
		n.causes = because
	default:
		n.causes = n.causes.Shared(because)
	}
}

// tell is wake for somebody who says why: because of changes or, with nil, for other reasons.
func (w *wakeups) tell(at time.Duration, because *cause.Set, why cause.Reasons) (first bool) {
	w.mu.Lock()
	w.settleLocked()

	if pending := &w.told.pending; because != nil && pending.causes == nil {
		pending.causes = because
	} else {
		pending.sent(at, because)
	}

	if why != 0 {
		w.trace.pendingWhy |= why
	}

	first = w.wakeLocked(at)
	w.mu.Unlock()

	return first
}

// begins notes that the controller begins with a wakeup.
func (w *wakeups) begins(at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.told.pending.sent(at, nil)
	w.trace.pendingWhy |= cause.Started
}

// settleLocked moves what was pending to what was taken, if it was.
func (w *wakeups) settleLocked() {
	pending := &w.told.pending

	if pending.none() || len(w.events) > 0 || w.held {
		return
	}

	switch taken := &w.told.taken; {
	case taken.none():
		*taken = *pending
	case taken.causes != nil && pending.causes != nil:
		taken.causes = taken.causes.Shared(pending.causes)
	default:
		taken.sent(pending.first(), pending.causes)
	}

	pending.clear()

	if w.trace.pendingWhy != 0 {
		w.trace.takenWhy |= w.trace.pendingWhy
		w.trace.pendingWhy = 0
	}
}

// called begins a pass at the first call in it, or where Run fails before there was one. What a controller does before its first
// wakeup, or after it has said that it is done, is a pass as well, which nothing has caused.
func (a *Adapter) called() {
	w, t := &a.wakeups, &a.wakeups.trace

	w.mu.Lock()
	defer w.mu.Unlock()

	number := w.takenLocked()
	if t.open != nil && (t.number == number || !w.openLocked()) {
		return
	}

	now := a.now()

	if t.open != nil {
		t.open.EndLocked(now, cause.Succeeded)
	}

	begin := cause.Begin{Doing: cause.Waking, At: now, Waited: -1}

	if w.openLocked() {
		w.settleLocked()

		taken := &w.told.taken
		begin.Reasons = t.takenWhy

		if taken.causes != nil {
			begin.Causes = taken.causes
		}

		if first := taken.first(); first >= 0 {
			begin.Waited = max(now-first, 0)
		}

		taken.clear()
		t.takenWhy = 0
	} else if !t.begun {
		begin.Reasons = cause.Started
	}

	t.number, t.begun = number, true
	t.open = a.tracer.BeginLocked(&begin)
}

// closeLocked ends the pass, if one is open.
func (t *tracing) closeLocked(now func() time.Duration) {
	if t.open != nil {
		t.open.EndLocked(now(), cause.Succeeded)
		t.open = nil
	}
}

// finish ends the pass, if one is open.
func (a *Adapter) finish(outcome cause.Outcome, err error, again time.Duration) {
	if a.tracer == nil {
		return
	}

	w := &a.wakeups

	w.mu.Lock()
	open := w.trace.open
	w.trace.open = nil

	if outcome != cause.Succeeded {
		w.trace.begun = false // there will be another Run
	}
	w.mu.Unlock()

	if open != nil {
		open.End(a.now(), outcome, err, again)
	}
}
