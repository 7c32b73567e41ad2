package qruntime

import (
	"context"

	"github.com/switchyard-run/switchyard/adapter"
)

// limit is the deadline of one pass. It belongs to the goroutine of the worker.
type limit struct {
	ctx    context.Context // of the pass
	cancel context.CancelCauseFunc
	over   *adapter.DeadlineError // why the context ends when the pass is over its deadline
	alarm  *adapter.Alarm
}

// limited gives a pass its deadline, and returns its context.
func (w *worker) limited(p *pass) context.Context {
	a := w.adapter
	l := &limit{over: a.cfg.Deadline.Exceeds(p.String())}
	l.ctx, l.cancel = context.WithCancelCause(w.ctx)
	l.alarm = adapter.SetAlarm(a.cfg.Clock, a.cfg.Deadline.After, func() { l.cancel(l.over) })
	w.limit = l

	return l.ctx
}

// unlimited ends the deadline of the pass that has returned the error, and returns what the pass has failed with. Without an
// error it is not asked how long the pass took.
func (w *worker) unlimited(err error) error {
	l := w.limit
	w.limit = nil

	l.alarm.Stop()
	defer l.cancel(nil)

	if err == nil || w.adapter.ctx.Err() != nil || context.Cause(l.ctx) != error(l.over) {
		return err
	}

	w.adapter.cfg.Deadline.Exceeded.Inc()

	return l.over.With(err)
}

// overdue tells whether an error is that of a pass that was over its deadline. A controller may well return one of somebody
// else.
func overdue(err error) bool {
	_, ok := err.(*adapter.DeadlineError)

	return ok
}
