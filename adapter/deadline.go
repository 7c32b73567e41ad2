package adapter

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-run/switchyard/metrics"
)

// Deadline is how long a pass of a controller may run.
type Deadline struct {
	// Controller is the name of the controller.
	Controller string
	// After is how long a pass may run.
	After time.Duration
	// Exceeded counts the passes that have failed because they were over it.
	Exceeded *metrics.Counter
}

// Exceeds returns the error of a pass that is over the deadline.
func (d *Deadline) Exceeds(doing string) *DeadlineError {
	return &DeadlineError{Controller: d.Controller, Doing: doing, Deadline: d.After}
}

// DeadlineError is the failure of a pass that was over its deadline. Without Err, it is the cause with which the context of
// the pass has ended. It unwraps to context.DeadlineExceeded, and to Err.
type DeadlineError struct {
	// Controller is the name of the controller, and Doing the pass.
	Controller string
	Doing      string
	// Deadline is how long the pass might have run.
	Deadline time.Duration
	// Err is what was returned nevertheless.
	Err error
}

// Error names the controller and the pass.
func (e *DeadlineError) Error() string {
	text := fmt.Sprintf("controller %q: %s has run for longer than its deadline, %s", e.Controller, e.Doing, e.Deadline)

	if e.Err != nil {
		text += ": " + e.Err.Error()
	}

	return text
}

// Unwrap returns that a deadline was exceeded, and what was returned.
func (e *DeadlineError) Unwrap() []error {
	if e.Err == nil {
		return []error{context.DeadlineExceeded}
	}

	return []error{context.DeadlineExceeded, e.Err}
}

// With returns the error with what the pass has returned.
func (e *DeadlineError) With(err error) *DeadlineError {
	if err == error(e) {
		return e
	}

	failed := *e
	failed.Err = err

	return &failed
}
