package reconcile

import (
	"context"
	"time"
)

// Reconciler brings what a key names to where it should be. It is given the key alone, never an event or what was cached: it
// reads what is there now, so it does not matter what it has missed. It has to be idempotent, and should return promptly: what
// takes long is started elsewhere and looked at by later passes.
type Reconciler[T comparable] interface {
	Reconcile(ctx context.Context, key T) (Result, error)
}

// ReconcilerFunc is a function that is a [Reconciler].
type ReconcilerFunc[T comparable] func(ctx context.Context, key T) (Result, error)

// Reconcile calls the function.
func (f ReconcilerFunc[T]) Reconcile(ctx context.Context, key T) (Result, error) { return f(ctx, key) }

// Result says what there is to be done after a pass that has not failed. The zero one is nothing, until something changes or
// the next resync comes.
type Result struct {
	// RequeueAfter, if it is above 0, is after how long there is to be another pass. With an error it says nothing.
	RequeueAfter time.Duration
}
