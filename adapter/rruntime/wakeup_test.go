package rruntime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/adapter"
)

var errUpdate = errors.New("inputs are not for now")

// However often it is woken, one wakeup is pending, and nobody who wakes it waits.
func TestWakeupsCoalesce(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		look := make(chan struct{})

		// It begins to look for wakeups when the test says so.
		b.run = func(ctx context.Context, r controller.Runtime) error {
			for {
				select {
				case <-look:
				case <-ctx.Done():
					return nil
				}

				select {
				case <-r.EventCh():
				case <-ctx.Done():
					return nil
				}
			}
		}

		b.Start(b.ctx)

		for range 100 {
			b.QueueReconcile()
		}

		look <- struct{}{}

		synctest.Wait()

		_, wakeups := b.counts()
		require.Equal(t, "1", wakeups, "what adds nothing is not counted")

		// The controller is at work now. What comes meanwhile is for the next time.
		for range 100 {
			b.QueueReconcile()
		}

		look <- struct{}{}
		look <- struct{}{}

		synctest.Wait()

		_, wakeups = b.counts()
		require.Equal(t, "2", wakeups)
		require.Empty(t, b.EventCh())
	}, nil)
}

// A controller that does not come back for its wakeup shows since when.
func TestPendingWakeupShowsInTheStatus(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		proceed := make(chan struct{})

		b.run = func(ctx context.Context, r controller.Runtime) error {
			events := r.EventCh()

			<-events
			<-proceed
			<-events
			<-ctx.Done()

			return nil
		}

		b.Start(b.ctx)
		synctest.Wait()
		require.Equal(t, adapter.Status{Phase: adapter.Running, Since: b.began}, b.Status())

		pass(time.Minute)
		b.QueueReconcile()

		woken := time.Now()

		pass(time.Minute)
		b.QueueReconcile()
		require.Equal(t, woken, b.Status().BusySince, "since the first of them")

		proceed <- struct{}{}

		synctest.Wait()
		require.Zero(t, b.Status().BusySince)
	}, nil)
}

// Of a controller that asks for its wakeups one by one it can be told since when it is in a pass, from its second pass on.
func TestPassShowsInTheStatus(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		proceed := make(chan struct{})

		b.run = func(ctx context.Context, r controller.Runtime) error {
			for {
				select {
				case <-r.EventCh():
					<-proceed
				case <-ctx.Done():
					return nil
				}
			}
		}

		b.Start(b.ctx)
		synctest.Wait()
		require.Zero(t, b.Status().BusySince, "it may have kept the channel, and wait")

		proceed <- struct{}{}

		synctest.Wait()
		require.Zero(t, b.Status().BusySince)

		pass(time.Minute)
		b.QueueReconcile()

		woken := time.Now()

		pass(time.Minute)
		require.Equal(t, woken, b.Status().BusySince)

		b.QueueReconcile()
		pass(time.Minute)
		require.Equal(t, woken, b.Status().BusySince)

		proceed <- struct{}{}

		synctest.Wait()
		require.Equal(t, time.Now(), b.Status().BusySince, "the next one")

		proceed <- struct{}{}

		synctest.Wait()
		require.Zero(t, b.Status().BusySince)
	}, nil)
}

func TestUpdateInputsIsPassedOn(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		require.ErrorIs(t, b.UpdateInputs(nil), errUpdate)
	}, nil)
}
