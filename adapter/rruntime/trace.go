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

// news is what has caused wakeups, and when the first of them was sent; below 0 is that none was.
type news struct {
	causes *cause.Set
	since  time.Duration
}

// noNews is that no wakeup was sent.
var noNews = news{since: -1}

// later adds what was sent later.
func (n *news) later(others news) {
	switch {
	case others.causes == nil:
	case n.causes == nil:
		n.causes = others.causes
	default:
		n.causes = n.causes.Shared(others.causes)
	}

	if n.since < 0 {
		n.since = others.since
	}
}

// noteLocked notes why the controller is about to be woken.
func (w *wakeups) noteLocked(now time.Duration, because *cause.Set, why cause.Reasons) {
	w.settleLocked()
	w.told.pending.later(news{because, now})
	w.trace.pendingWhy |= why
}

// begins notes that the controller begins with a wakeup.
func (w *wakeups) begins(now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.noteLocked(now, nil, cause.Started)
}

// settleLocked moves what was pending to what was taken, if it was.
func (w *wakeups) settleLocked() {
	t := &w.told

	if t.pending.since < 0 || len(w.events) > 0 || w.held {
		return
	}

	t.taken.later(t.pending)
	w.trace.takenWhy |= w.trace.pendingWhy
	t.pending, w.trace.pendingWhy = noNews, 0
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
	t.open.End(now, cause.Succeeded, nil, 0)

	begin := cause.Begin{Doing: cause.Waking, At: now, Waited: -1}

	if w.openLocked() {
		w.settleLocked()

		taken := &w.told.taken
		begin.Causes, begin.Reasons = taken.causes, t.takenWhy

		if taken.since >= 0 {
			begin.Waited = max(now-taken.since, 0)
		}

		*taken, t.takenWhy = noNews, 0
	} else if !t.begun {
		begin.Reasons = cause.Started
	}

	t.number, t.begun = number, true
	t.open = a.tracer.Begin(&begin)
}

// closeLocked takes the pass that runs, or nil, to be ended.
func (t *tracing) closeLocked() *cause.Open {
	open := t.open
	if open != nil {
		t.open = nil // and nothing is written where nothing is to be
	}

	return open
}

// finish ends the pass, if one is open.
func (a *Adapter) finish(outcome cause.Outcome, err error, again time.Duration) {
	if a.tracer == nil {
		return
	}

	w := &a.wakeups

	w.mu.Lock()
	open := w.trace.closeLocked()

	if outcome != cause.Succeeded {
		w.trace.begun = false // there will be another Run
	}
	w.mu.Unlock()

	if open != nil {
		open.End(a.now(), outcome, err, again)
	}
}
