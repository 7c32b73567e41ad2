package adapter

import (
	"sync"
	"time"
)

// Phase is what a controller is doing.
type Phase string

// Phases of a controller.
const (
	// Registered means that it was not started yet: the engine does not run, or its watches are not open.
	Registered Phase = "registered"
	// Running means that it runs, or waits for a change.
	Running Phase = "running"
	// BackingOff means that it failed and waits for its next try; a queue controller is in this phase only for its run
	// hook, failing items are counted apart.
	BackingOff Phase = "backing off"
	// Finished means that a classic controller's Run has returned without an error, for good.
	Finished Phase = "finished"
	// Stopped means that it was stopped, by the end of the engine or by being unregistered.
	Stopped Phase = "stopped"
)

// Status is what is known of a controller at one moment.
type Status struct {
	// Phase is what it is doing, and Since since when.
	Phase Phase
	Since time.Time
	// LastError is the last failure, nil if there was none since the last success, and Attempt which failure in a row.
	LastError error
	Attempt   int
	// NextTry is when it is tried again; zero when nothing is to be tried.
	NextTry time.Time
	// BusySince is since when it has not come back for more work although there is some, or since when its longest
	// pass runs; zero when it is idle. Doing names the item of that pass, where there is one.
	BusySince time.Time
	Doing     string
	// Paused tells that it is given no work, and PausedSince since when.
	Paused      bool
	PausedSince time.Time
	// Ready, Delayed and Processing count the items of a queue controller, and Failing those of them that have failed
	// since they last succeeded. OldestWait is how long the longest waiting ready item has waited, since the controller
	// was resumed at most.
	Ready, Delayed, Processing, Failing int
	OldestWait                          time.Duration
	// Damped counts the items of a queue controller that are kept waiting because their own passes write what wakes them,
	// and DampedItem is the one of them that has been for the most passes.
	Damped     int
	DampedItem string
}

// Recorder holds the parts of a status that are set as things happen. It is safe for concurrent use.
type Recorder struct {
	// mu guards the fields below.
	mu      sync.Mutex
	phase   Phase
	since   time.Time
	failure *failure // the last one since the last success, or nil
}

type failure struct {
	err     error
	attempt int
	next    time.Time
}

// Enter records a phase.
func (r *Recorder) Enter(phase Phase, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.phase, r.since = phase, now

	if r.failure != nil {
		r.failure.next = time.Time{}
	}
}

// Fail records a failure and the phase that follows it.
func (r *Recorder) Fail(phase Phase, now time.Time, err error, attempt int, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.phase, r.since = phase, now
	r.note(failure{err, attempt, next})
}

// Note records a failure that leaves the phase as it is: one item of a queue controller has failed.
func (r *Recorder) Note(err error, attempt int, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.note(failure{err, attempt, next})
}

func (r *Recorder) note(f failure) {
	if r.failure == nil {
		r.failure = &failure{}
	}

	*r.failure = f
}

// Recover forgets the last failure.
func (r *Recorder) Recover() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.failure = nil
}

// Status returns what was recorded.
func (r *Recorder) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()

	status := Status{Phase: r.phase, Since: r.since}

	if f := r.failure; f != nil {
		status.LastError, status.Attempt, status.NextTry = f.err, f.attempt, f.next
	}

	return status
}
