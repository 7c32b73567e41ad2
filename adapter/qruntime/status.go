package qruntime

import (
	"cmp"
	"time"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/reduced"
)

// Status returns what the controller is doing.
func (a *Adapter) Status() adapter.Status {
	status := a.recorder.Status()
	stats := a.queue.Stats()

	status.Ready, status.Delayed, status.Processing = stats.Ready, stats.Delayed, stats.Processing
	status.OldestWait = stats.OldestWait
	status.Failing = int(a.failing.Load())

	if count, most := a.damped.Load().status(a.now()); count > 0 {
		status.Damped = count
		status.DampedItem = most.job.String() + " " + reduced.Key{Kind: a.inputs[most.kind].Kind, ID: most.id}.String()
	}

	a.mu.Lock()
	defer a.mu.Unlock()

	status.BusySince, status.Doing = a.longestLocked()

	switch pause := a.pause.Load(); {
	case pause != nil:
		status.Paused, status.PausedSince = true, pause.Since
	case a.resumed > 0:
		status.OldestWait = min(status.OldestWait, a.now()-a.resumed)
	}

	return status
}

// longestLocked returns the pass that runs for longest, and since when. Of passes that began at one moment the first by name
// is told, whichever worker comes first.
func (a *Adapter) longestLocked() (since time.Time, doing string) {
	for _, w := range a.workers {
		p := w.pass.Load()
		if p == nil {
			continue
		}

		began, name := a.time(p.began), p.String()

		if since.IsZero() || cmp.Or(began.Compare(since), cmp.Compare(name, doing)) < 0 {
			since, doing = began, name
		}
	}

	return since, doing
}

// Unfinished returns what keeps the controller from ending, and since when it runs: a pass or a hook.
func (a *Adapter) Unfinished() (since time.Time, doing string) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if since, doing = a.longestLocked(); doing != "" {
		return since, doing
	}

	if h := a.inHook.Load(); h != nil {
		return h.since, h.name
	}

	return time.Time{}, ""
}

// hooked is a call of a hook.
type hooked struct {
	name  string
	since time.Time
}
