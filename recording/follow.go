package recording

import (
	"context"
	"sync"
)

// follower is the trace of a pass of a queue controller, or of a Run with its passes, in a replay: it answers what the
// recorded pass was answered.
type follower struct {
	replay *replay
	// gate is that of a Run; nil for a queue controller.
	gate *gate
	// cancel ends the context of the pass or Run.
	cancel context.CancelCauseFunc

	// offers are what the goroutine of the gate is to hand out: the next pass, or nil for a wakeup that nobody ought to
	// take. withdraw takes such a wakeup back.
	offers   chan *recordedPass
	withdraw chan struct{}
	// taken is sent to when the controller has taken the wakeup of a pass.
	taken chan struct{}
	// returned is closed when the Run or pass has returned, after outcome and panicked were set.
	returned chan struct{}
	outcome  outcome
	panicked any
	// goroutines are that of the Run or pass, and that of the gate.
	goroutines sync.WaitGroup

	// bait guards baited, and is held while what it says is made true.
	bait sync.Mutex
	// baited tells that a wakeup is on offer that nobody ought to take.
	baited bool

	// mu guards what follows.
	mu   sync.Mutex
	pass *recordedPass
	// done is closed when the pass has made all of its calls.
	done chan struct{}
	// claimed are the calls that the pass has begun, answered those that it was answered.
	claimed, answered map[int]bool
	// begun is how many calls the pass has begun, next the first entry that has not come yet.
	begun, next int
	// noticing tells that the pass was told of an event, and has not done anything since; ending that the context has ended.
	noticing, ending bool
	// firing is a time that the pass has to take before anything else happens.
	firing *event
	made   []*doing
}

var _ trace = (*follower)(nil)

func newFollower(r *replay, cancel context.CancelCauseFunc) *follower {
	return &follower{
		replay: r, cancel: cancel,
		offers: make(chan *recordedPass), withdraw: make(chan struct{}), taken: make(chan struct{}), returned: make(chan struct{}),
	}
}

// enter begins a pass.
func (f *follower) enter(p *recordedPass) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.pass, f.done = p, make(chan struct{})
	f.claimed, f.answered, f.made = map[int]bool{}, map[int]bool{}, nil
	f.begun, f.next, f.noticing = 0, 0, false

	f.advanceLocked()
}

// advanceLocked lets happen what is next in the recording, up to a call that has not been answered, or a time that the pass
// has to take first.
func (f *follower) advanceLocked() {
	for ; f.next < len(f.pass.entries); f.next++ {
		e := f.pass.entries[f.next]

		switch {
		case e.call != nil && !f.answered[e.call.Number]:
			return
		case e.event != nil && e.event.Begun > f.begun:
			return
		case e.event != nil && e.event.What == fired:
			f.noticing = true

			f.fireLocked(e.event)

			return
		case e.event != nil:
			f.noticing = true

			f.happenLocked(e.event)
		}
	}

	select {
	case <-f.done:
	default:
		close(f.done)
	}
}

func (f *follower) happenLocked(e *event) {
	switch e.What {
	case canceled:
		f.ending = true
		f.cancel(e.Cause.err())
	case toreDown:
		f.replay.endContext(e.Of, e.Cause.err())
	}
}

// fireLocked has a timer fire, if it does not yet, and goes on when the pass has taken the time.
func (f *follower) fireLocked(e *event) {
	if f.firing == e {
		return
	}

	f.firing = e
	times := f.replay.timesOf(e.Of)

	f.goroutines.Go(func() {
		select {
		case times <- e.Time:
		case <-f.returned:
			return
		}

		f.mu.Lock()
		f.firing = nil
		f.next++

		f.advanceLocked()
		f.mu.Unlock()

		f.lure()
	})
}

// completeLocked tells whether the pass has made all of its calls.
func (f *follower) completeLocked() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// complete returns a channel that is closed when the present pass has made all of its calls.
func (f *follower) complete() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.done
}

// isComplete tells whether the present pass has made all of its calls.
func (f *follower) isComplete() bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.completeLocked()
}

// close ends the goroutine of the gate, and waits for it and for that of the Run.
func (f *follower) close() {
	close(f.gate.done)
	f.goroutines.Wait()
}
