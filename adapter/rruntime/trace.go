package rruntime

import (
	"time"

	"github.com/switchyard-run/switchyard/cause"
)

// news is why a controller was woken: by the wakeup that is pending, and by those before it that it has taken and not begun a
// pass for.
type news struct {
	pending, taken       cause.Gathering
	pendingWhy, takenWhy cause.Reasons
	// pendingSince and takenSince are when the first of them was sent, where there is one.
	pendingSince, takenSince time.Duration
	pendingThere, takenThere bool
}

// noteLocked notes why the controller is about to be woken.
func (w *wakeups) noteLocked(now time.Duration, because *cause.Set, why cause.Reasons) {
	if w.news == nil {
		w.news = &news{}
	}

	w.settleLocked()

	n := w.news

	if because != nil {
		n.pending.Add(because)
	}

	n.pendingWhy |= why

	if !n.pendingThere {
		n.pendingSince, n.pendingThere = now, true
	}
}

// begins notes that the controller begins with a wakeup.
func (w *wakeups) begins(now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.noteLocked(now, nil, cause.Started)
}

// settleLocked moves what was pending to what was taken, if it was.
func (w *wakeups) settleLocked() {
	n := w.news

	if len(w.events) > 0 || w.held {
		return
	}

	if set := n.pending.Take(); set != nil {
		n.taken.Add(set)
	}

	n.takenWhy |= n.pendingWhy
	n.pendingWhy = 0

	if n.pendingThere && !n.takenThere {
		n.takenSince, n.takenThere = n.pendingSince, true
	}

	n.pendingThere = false
}

// tracing is what is remembered of the passes of a controller. The lock of the wakeups guards the fields below the first.
type tracing struct {
	*cause.Tracer

	// open is the pass that runs, or nil; number is the wakeup that it was for.
	open   *cause.Open
	number uint32
	// begun tells that the Run that is called has done something.
	begun bool
}

// called begins a pass at the first call in it. What a controller does before its first wakeup, or after it has said that it
// is done, is a pass as well, which nothing has caused.
func (a *Adapter) called() {
	w, t := &a.wakeups, a.trace

	w.mu.Lock()
	defer w.mu.Unlock()

	number := w.takenLocked()
	if t.open != nil && (t.number == number || !w.openLocked()) {
		return
	}

	now := a.now()
	t.open.End(now, cause.Succeeded, nil, 0)

	begin := cause.Begin{Doing: cause.Waking, At: now, Waited: -1}

	if n := w.news; w.openLocked() && n != nil {
		w.settleLocked()

		begin.Causes, begin.Reasons = n.taken.Take(), n.takenWhy
		n.takenWhy = 0

		if n.takenThere {
			begin.Waited, n.takenThere = max(now-n.takenSince, 0), false
		}
	} else if !t.begun {
		begin.Reasons = cause.Started
	}

	t.number, t.begun = number, true
	t.open = t.Begin(&begin)
}

// finish ends the pass, if one is open.
func (a *Adapter) finish(outcome cause.Outcome, err error, again time.Duration) {
	t := a.trace
	if t == nil {
		return
	}

	a.wakeups.mu.Lock()
	open := t.open
	t.open = nil

	if outcome != cause.Succeeded {
		t.begun = false // there will be another Run
	}
	a.wakeups.mu.Unlock()

	if open != nil {
		open.End(a.now(), outcome, err, again)
	}
}
