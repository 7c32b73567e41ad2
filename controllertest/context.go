package controllertest

import (
	"context"
	"time"
)

// Context ends with the run.
func (w *World) Context() context.Context { return withActor(outside{w.over}, newActor("script", "")) }

// outside is a context that ends with the run.
type outside struct{ over <-chan struct{} }

// Deadline implements [context.Context].
func (outside) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements [context.Context].
func (o outside) Done() <-chan struct{} { return o.over }

// Err implements [context.Context].
func (o outside) Err() error {
	select {
	case <-o.over:
		return context.Canceled
	default:
		return nil
	}
}

// Value implements [context.Context].
func (outside) Value(any) any { return nil }
