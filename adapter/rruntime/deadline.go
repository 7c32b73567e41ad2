package rruntime

import (
	"context"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/contain"
)

// limit is the deadline of the passes of a controller. The lock of the wakeups guards the fields below the first.
type limit struct {
	*adapter.Deadline

	// cancel ends the context of the Run that is called.
	cancel context.CancelCauseFunc
	// alarm is that of the pass with the number, nil where none has begun.
	alarm *adapter.Alarm
	pass  uint32
	// over is why the context of the Run was ended; nil if it was not.
	over *adapter.DeadlineError
}

// runLimited calls Run under a context that ends when a pass is over its deadline.
func (a *Adapter) runLimited(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)

	a.wakeups.mu.Lock()
	a.limit.cancel, a.limit.over = cancel, nil
	a.wakeups.mu.Unlock()

	return contain.Call(func() error { return a.controller.Run(ctx, a, a.Logger()) })
}

// begin begins the deadline of a pass at the first call in it. Who calls is the controller.
func (a *Adapter) begin() {
	w, l := &a.wakeups, a.limit

	w.mu.Lock()

	number := w.takenLocked()
	if !w.openLocked() || l.alarm != nil && l.pass == number {
		w.mu.Unlock()

		return
	}

	before := l.alarm
	l.pass = number
	l.alarm = adapter.SetAlarm(a.shared.Clock, l.After, func() { a.expire(number) })
	w.mu.Unlock()

	before.Stop()
}

// expire ends the Run that is called if the controller is in the pass still.
func (a *Adapter) expire(number uint32) {
	w, l := &a.wakeups, a.limit

	w.mu.Lock()

	if !w.openLocked() || w.takenLocked() != number || l.over != nil {
		w.mu.Unlock()

		return
	}

	over, cancel := l.Exceeds("its pass"), l.cancel
	l.over = over
	w.mu.Unlock()

	cancel(over)
}

// disarm ends the deadline of the pass that has ended.
func (a *Adapter) disarm() {
	a.wakeups.mu.Lock()
	alarm := a.limit.alarm
	a.limit.alarm = nil
	a.wakeups.mu.Unlock()

	alarm.Stop()
}

// unlimited ends the deadline with the Run that has returned the error, and returns what it has failed with: one that was told
// to stop has failed with any error, and with none.
func (a *Adapter) unlimited(ctx context.Context, err error) error {
	a.disarm()

	a.wakeups.mu.Lock()
	over, cancel := a.limit.over, a.limit.cancel
	a.wakeups.mu.Unlock()

	if cancel != nil {
		cancel(nil)
	}

	if over == nil || ctx.Err() != nil {
		return err
	}

	a.limit.Exceeded.Inc()

	return over.With(err)
}
