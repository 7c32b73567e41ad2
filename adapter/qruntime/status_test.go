package qruntime_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/adapter"
)

// The status tells what waits, what is worked on, since when, and what fails.
func TestStatus(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		concurrency(2)(t, b)

		left := 1 // failures of "bad"
		b.reconcile = func(_ context.Context, id resource.ID) error {
			if id == "bad" {
				if left--; left >= 0 {
					return errFailed
				}

				return nil
			}

			clock.Sleep(time.Minute)

			return nil
		}
	}, func(t *testing.T, b *bench) {
		require.Equal(t, adapter.Status{Phase: adapter.Registered, Since: b.began}, b.Status())

		b.Start(b.ctx)
		require.Equal(t, adapter.Status{Phase: adapter.Running, Since: b.began}, b.Status())

		b.change("bad")
		synctest.Wait()

		failing := adapter.Status{
			Phase: adapter.Running, Since: b.began, LastError: errFailed, Attempt: 1, NextTry: b.began.Add(time.Second),
			Delayed: 1, Failing: 1,
		}
		require.Equal(t, failing, b.Status())

		// Of passes that began at the same time the first by name is told.
		b.change("y", "x", "z")
		pass(500 * time.Millisecond)

		busy := failing
		busy.Processing, busy.Ready, busy.OldestWait = 2, 1, 500*time.Millisecond
		busy.BusySince, busy.Doing = b.began, "reconcile test/int(n/x)"
		require.Equal(t, busy, b.Status())
		require.Equal(t, 2, b.Len())

		// It is due, and waits for a worker.
		pass(time.Second)
		require.Equal(t, 2, b.Status().Ready)
		require.Zero(t, b.Status().Delayed)

		// Its success is the last that was to be told of the failure.
		pass(time.Hour)
		require.Equal(t, adapter.Status{Phase: adapter.Running, Since: b.began}, b.Status())
		requireTrace(t, b, "0s: bad", "0s: y", "0s: x", "1m0s: z", "1m0s: bad")
	})
}

// Each pass is told to be busy since it began, however long its worker had nothing to do before.
func TestBusySinceThePassBegan(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) {
		b.reconcile = func(context.Context, resource.ID) error {
			clock.Sleep(time.Minute)

			return nil
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)

		for range 3 {
			began := time.Now()

			b.change("a", "b")
			synctest.Wait()
			require.Equal(t, began, b.Status().BusySince)
			pass(90 * time.Second)
			require.Equal(t, began.Add(time.Minute), b.Status().BusySince, "the second one")
			pass(time.Hour)
			require.Zero(t, b.Status().BusySince)
		}
	})
}

// The last failure is told for as long as any item fails.
func TestFailuresAreToldWhileAnyItemFails(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) { b.reconcile = script(errFailed, errFailed) }, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("a", "b")
		synctest.Wait()
		require.Equal(t, 2, b.Status().Failing)

		b.change("a")
		synctest.Wait()
		require.Equal(t, 1, b.Status().Failing)
		require.ErrorIs(t, b.Status().LastError, errFailed)

		b.change("b")
		synctest.Wait()
		require.Zero(t, b.Status().Failing)
		require.NoError(t, b.Status().LastError)
	})
}
