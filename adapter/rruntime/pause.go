package rruntime

import (
	"context"
	"time"

	"github.com/switchyard-run/switchyard/adapter"
)

// Pause has the controller given no more wakeups, and its Run not called any more when it has failed or was not called yet.
// It returns the pause, which is quiet when the controller is in no pass. One wakeup waits for the end of the pause. A
// controller that is paused already stays in the pause that it is in.
func (a *Adapter) Pause() *adapter.Pause {
	w := &a.wakeups

	w.mu.Lock()
	defer w.mu.Unlock()

	if w.pause == nil {
		w.pause = adapter.NewPause(a.shared.Clock.Now())

		select {
		case <-w.events:
			w.sent--
			w.held = true
		default:
		}
	}

	if !w.openLocked() {
		w.pause.Quiet()
	}

	return w.pause
}

// Resume ends the pause, if there is one, with the wakeup that waits.
func (a *Adapter) Resume() {
	if pause := a.wakeups.resume(a.now()); pause != nil {
		pause.End()
	}
}

func (w *wakeups) resume(now time.Duration) *adapter.Pause {
	w.mu.Lock()
	defer w.mu.Unlock()

	pause := w.pause
	w.pause = nil

	if w.held {
		w.held = false
		w.wakeLocked(now)
	}

	return pause
}

// Paused tells whether the controller is paused.
func (a *Adapter) Paused() bool { return a.wakeups.paused() != nil }

// paused returns the pause in which the controller is, or nil.
func (w *wakeups) paused() *adapter.Pause {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.pause
}

// waited returns when the pause has ended, and tells whether the controller is to go on then. It keeps what it needs of the stack
// out of step.
func (a *Adapter) waited(ctx context.Context, pause *adapter.Pause) (again bool) {
	phase := adapter.Running

	select {
	case <-pause.Over():
	case <-ctx.Done():
		phase = adapter.Stopped
	}

	a.recorder.Enter(phase, a.shared.Clock.Now())

	return phase == adapter.Running
}
