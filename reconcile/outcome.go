package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
)

// DefaultWait is how long a [Wait] waits that does not say.
const DefaultWait = 30 * time.Second

// WaitError says that a pass has found something that is not ready yet. That is expected, and no failure.
type WaitError struct {
	// Reason is why, as one word for machines, such as "DatabaseStarting".
	Reason string
	// Message is the same for people; it may be empty.
	Message string
	// After is when to look again at the latest. A change looks sooner.
	After time.Duration
}

// Error tells the reason, and the message if there is one.
func (e *WaitError) Error() string {
	if e.Message == "" {
		return "waiting: " + e.Reason
	}

	return fmt.Sprintf("waiting: %s: %s", e.Reason, e.Message)
}

// WaitOption changes a [Wait].
type WaitOption func(*WaitError)

// After sets when to look again at the latest. It has to be above 0.
func After(d time.Duration) WaitOption { return func(e *WaitError) { e.After = d } }

// Message sets what is waited for, for people. It takes the verbs of fmt.
func Message(format string, args ...any) WaitOption {
	return func(e *WaitError) { e.Message = fmt.Sprintf(format, args...) }
}

// Wait returns an error that ends a pass because something is not ready yet. The next pass comes after [DefaultWait], or what
// [After] says, or as soon as something changes. Without a reason, or with a delay that is not above 0, it is a mistake in the
// program, and the error is [Terminal].
func Wait(reason string, opts ...WaitOption) error {
	e := &WaitError{Reason: reason, After: DefaultWait}
	for _, opt := range opts {
		opt(e)
	}

	switch {
	case reason == "":
		return &mistake{"a Wait has no reason: give it one word that says what is waited for"}
	case e.After <= 0:
		return &mistake{fmt.Sprintf("a Wait for %q has the delay %s: give After more than 0", reason, e.After)}
	}

	return e
}

// RequeueAfter returns an error that ends a pass well and has it run again after a time; it is the contract's
// controller.RequeueError. A time that is not above 0 is a mistake in the program, and the error is [Terminal].
func RequeueAfter(d time.Duration) error {
	if d <= 0 {
		return &mistake{fmt.Sprintf("RequeueAfter(%s): give it more than 0, or return nil", d)}
	}

	return controller.NewRequeueInterval(d)
}

// mistake is an outcome that makes no sense. It is as [Terminal] as what makes it says, and has nothing to hide from a status.
type mistake struct{ text string }

// Error is what is wrong, and what to do.
func (e *mistake) Error() string { return e.text }

// Class implements [Classified].
func (e *mistake) Class() Class { return ClassTerminal }

// Reason is the reason in a status.
func (e *mistake) Reason() string { return "Refused" }

// Public is what a status says to people.
func (e *mistake) Public() string { return e.text }

// Verdict is what the outcome of a pass means.
type Verdict int

// Verdicts, those of a run that goes on from the best to the worst.
const (
	// Succeeded is a pass that has done what there was to do.
	Succeeded Verdict = iota
	// Pending is one that waits for something.
	Pending
	// Failed is one that has failed, and is tried again after a backoff.
	Failed
	// Halted is one that has failed, and that another try does not help.
	Halted
	// Stopped is one that has ended because its run has: its outcome says nothing.
	Stopped
)

var verdictNames = [...]string{"succeeded", "pending", "failed", "halted", "stopped"}

// String names the verdict.
func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdictNames) {
		return fmt.Sprintf("verdict %d", int(v))
	}

	return verdictNames[v]
}

// Classify says what the outcome of a pass means, and after how long there is to be another: 0 is not by itself, or for
// [Failed], after the backoff. Every error has exactly one verdict; one that is several at once, as errors.Join makes it, has
// that of its worst: Halted, then Failed, Pending and Succeeded.
//
// The context is that of the run, not that of the pass: a pass that has run into its own deadline has failed, and one whose run
// was ended has not.
func Classify(run context.Context, err error) (Verdict, time.Duration) {
	switch {
	case err == nil:
		return Succeeded, 0
	case run.Err() != nil:
		return Stopped, 0
	case ClassOf(err) != ClassTransient:
		return Halted, 0
	default:
		return judge(err)
	}
}

// judge is Classify for what is left.
func judge(err error) (Verdict, time.Duration) {
	switch err := err.(type) {
	case *WaitError:
		if err != nil && err.After > 0 {
			return Pending, err.After
		}
	case *controller.RequeueError:
		return judgeRequeue(err)
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			return judge(inner)
		}
	case interface{ Unwrap() []error }:
		return judgeAll(err.Unwrap())
	}

	return Failed, 0
}

// judgeRequeue takes a wish to run again without an error for a success, if it says when.
func judgeRequeue(err *controller.RequeueError) (Verdict, time.Duration) {
	switch {
	case err == nil:
		return Failed, 0
	case err.Err() == nil && err.Interval() > 0:
		return Succeeded, err.Interval()
	default:
		return Failed, max(err.Interval(), 0)
	}
}

// judgeAll returns the worst verdict, with the shortest time that is asked for with it.
func judgeAll(all []error) (Verdict, time.Duration) {
	verdict, after, some := Failed, time.Duration(0), false

	for _, err := range all {
		if err == nil {
			continue
		}

		v, d := judge(err)

		switch {
		case !some || v > verdict:
			verdict, after = v, d
		case v == verdict && d < after:
			after = d
		}

		some = true
	}

	return verdict, after
}
