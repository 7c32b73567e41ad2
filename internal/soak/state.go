package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// faulty is the state of a group as the engine sees it.
type faulty struct {
	state.CoreState

	faults *faults
	lose   float64        // the share of what watches send that is lost
	relays sync.WaitGroup // goroutines of open watches
}

var (
	errBefore = errors.New("connection refused")
	errAfter  = errors.New("connection lost while waiting for the answer")
)

// conflictError is a conflict of which the state itself knows nothing.
type conflictError struct{ ptr resource.Pointer }

func (e *conflictError) Error() string                 { return fmt.Sprintf("conflict: %s", e.ptr) }
func (e *conflictError) ConflictError()                {}
func (e *conflictError) GetResource() resource.Pointer { return e.ptr }

// wait waits, unless the context ends.
func wait(ctx context.Context, duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()

	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// call makes a call, unless it is to go wrong.
func (s *faulty) call(ctx context.Context, do func() error) error {
	if s.faults.strikes(slow) {
		wait(ctx, s.faults.upTo(longestCall))
	}

	if s.faults.strikes(before) {
		return errBefore
	}

	err := do()
	if err == nil && s.faults.strikes(after) {
		return errAfter
	}

	return err
}

// write makes a call that writes, unless it is to go wrong.
func (s *faulty) write(ctx context.Context, ptr resource.Pointer, do func() error) error {
	return s.call(ctx, func() error {
		if s.faults.strikes(conflict) {
			return &conflictError{ptr}
		}

		err := do()
		if err == nil {
			s.faults.ledger.writes.Add(1)
		}

		return err
	})
}

// Get implements [state.CoreState].
func (s *faulty) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (res resource.Resource, err error) {
	err = s.call(ctx, func() (err error) {
		res, err = s.CoreState.Get(ctx, ptr, opts...)

		return err
	})
	if err != nil {
		return nil, err
	}

	return res, nil
}

// List implements [state.CoreState].
func (s *faulty) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (list resource.List, err error) {
	err = s.call(ctx, func() (err error) {
		list, err = s.CoreState.List(ctx, kind, opts...)

		return err
	})
	if err != nil {
		return resource.List{}, err
	}

	return list, nil
}

// Create implements [state.CoreState].
func (s *faulty) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	return s.write(ctx, res.Metadata(), func() error { return s.CoreState.Create(ctx, res, opts...) })
}

// Update implements [state.CoreState].
func (s *faulty) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	return s.write(ctx, res.Metadata(), func() error { return s.CoreState.Update(ctx, res, opts...) })
}

// Destroy implements [state.CoreState].
func (s *faulty) Destroy(ctx context.Context, ptr resource.Pointer, opts ...state.DestroyOption) error {
	return s.write(ctx, ptr, func() error { return s.CoreState.Destroy(ctx, ptr, opts...) })
}
