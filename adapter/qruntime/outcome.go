package qruntime

import (
	"errors"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
)

// verdict is what a pass came to.
type verdict int

const (
	// settled: nothing more to do until the next change.
	settled verdict = iota
	// skipped: the controller asked to be left alone until the next change.
	skipped
	// requeued: no error, and run again later.
	requeued
	// failed: an error, and run again later.
	failed
	// cancelled: the controller was told to stop.
	cancelled
)

// outcome is how the error of a pass is understood; metrics, log and queue all follow it.
type outcome struct {
	verdict verdict
	// after is when to run again, as the controller asked for it; 0 means by backoff.
	after time.Duration
	// exact is set when the controller asked for this interval and nothing else.
	exact bool
}

// judge understands the error of a pass. Whether it was a cancellation is asked of the context that the engine ended,
// never of the error: a pass may well return the cancellation of a context of its own, and is then to be tried again.
//
// An interval of zero or below, without an error, means to run again by backoff. When the request to run again is not
// all there is, because it is joined with or wrapped into something, the rest is an error, and the item runs again at
// the interval or by backoff, whichever is sooner. A pass that was over its deadline has failed, whatever it asked for.
func (a *Adapter) judge(err error) outcome {
	switch {
	case err == nil:
		return outcome{verdict: settled}
	case a.ctx.Err() != nil:
		return outcome{verdict: cancelled}
	case overdue(err):
		return outcome{verdict: failed}
	case a.cfg.Skipped(err):
		return outcome{verdict: skipped}
	}

	var requeue *controller.RequeueError
	if !errors.As(err, &requeue) || requeue == nil {
		return outcome{verdict: failed}
	}

	bare, _ := err.(*controller.RequeueError)
	out := outcome{verdict: failed, after: max(requeue.Interval(), 0), exact: bare == requeue}

	if out.exact && requeue.Err() == nil {
		out.verdict = requeued
	}

	return out
}
