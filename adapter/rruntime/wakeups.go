package rruntime

import (
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/adapter"
)

// wakeups hands wakeups to a controller, one at a time, and tells when the controller is in a pass. It takes them from a
// channel, and nobody is told when it does; but how many were sent is known, and how many of these lie in the channel.
//
// A pass begins when a wakeup is taken. It ends when the controller says so, by ResetRestartBackoff or CleanupOutputs, when
// it asks for the channel again, and when its Run returns. A controller that keeps the channel and says nothing is in its
// pass until the next one begins, for all that can be told.
type wakeups struct {
	// events is made by start.
	events chan controller.ReconcileEvent

	// mu guards the fields below, and that wakeups are sent.
	mu sync.Mutex
	// since is when the oldest wakeup was sent that the controller may not be done with, counted from the epoch.
	since time.Duration
	// sent counts the wakeups. Ended is how many of them were taken when a pass has ended last, asked how many were when the
	// controller asked for the channel last: all counts may wrap.
	sent, ended, asked uint32
	// asks tells that the controller asks for the channel before each wakeup, as it has done once.
	asks bool
	// held tells that a wakeup waits for the end of the pause.
	held  bool
	pause *adapter.Pause // the one in which the controller is, or nil
	trace tracing        // of no use where nothing is remembered, as told
	told  told
}

// start makes the channel with a wakeup in it.
func (w *wakeups) start(now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.events = make(chan controller.ReconcileEvent, 1)
	w.wakeLocked(now)
}

// wake sends a wakeup, or holds it back in a pause. It tells whether none was pending.
func (w *wakeups) wake(now time.Duration) (first bool) {
	w.mu.Lock()
	first = w.wakeLocked(now)
	w.mu.Unlock()

	return first
}

func (w *wakeups) wakeLocked(now time.Duration) bool {
	if w.pause != nil {
		first := !w.held
		w.held = true

		return first
	}

	if len(w.events) > 0 {
		return false
	}

	if !w.asks || w.sent == w.ended { // it has taken all, and is in no pass
		w.since = now
	}

	w.sent++
	w.events <- controller.ReconcileEvent{}

	return true
}

// takenLocked is how many wakeups the controller has taken.
func (w *wakeups) takenLocked() uint32 { return w.sent - uint32(len(w.events)) }

// openLocked tells whether the controller is in a pass.
func (w *wakeups) openLocked() bool { return w.takenLocked() != w.ended }

// end ends the pass.
func (w *wakeups) end() {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.endLocked(w.takenLocked())
}

// done is end for a controller that has said so.
func (w *wakeups) done(now func() time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.endLocked(w.takenLocked())
	w.trace.closeLocked(now)
}

// endLocked ends the pass after so many wakeups were taken.
func (w *wakeups) endLocked(taken uint32) {
	w.ended = taken

	if w.pause != nil {
		w.pause.Quiet()
	}
}

// ask is done for a controller that asks for the channel.
func (w *wakeups) ask(now func() time.Duration) {
	w.mu.Lock()

	pending := len(w.events)
	taken := w.sent - uint32(pending)

	if taken != w.asked {
		w.asks, w.asked = true, taken
	}

	if pending > 0 && w.asks {
		w.since = now()
	}

	w.endLocked(taken)
	w.trace.closeLocked(now)
	w.mu.Unlock()
}

// begin tells that a Run begins, after the pause that it returns, if there is one.
func (w *wakeups) begin() *adapter.Pause {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.asked = w.takenLocked()

	return w.pause
}

// busy returns since when the controller is in its pass, where that can be told for certain, or does not take its wakeup.
func (w *wakeups) busy() (since time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.since, len(w.events) > 0 || w.asks && w.openLocked()
}
