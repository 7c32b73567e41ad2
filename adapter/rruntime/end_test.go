package rruntime_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
)

// A controller that returns nil while the engine runs has finished, which is told and is not undone.
func TestRunThatReturnsHasFinished(t *testing.T) {
	t.Parallel()

	runs := 0

	inBubble(t, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		synctest.Wait()

		b.QueueReconcile()
		pass(time.Hour)

		require.Equal(t, 1, runs)
		require.Equal(t, adapter.Status{Phase: adapter.Finished, Since: b.began}, b.Status())
		require.Len(t, b.logs.FilterLevelExact(zap.InfoLevel).FilterMessageSnippet("finished").All(), 1)

		b.stop()
		b.Wait()
		require.Equal(t, adapter.Finished, b.Status().Phase)

		crashes, _ := b.counts()
		require.Equal(t, "0", crashes)
	}, func(context.Context, controller.Runtime) error {
		runs++

		return nil
	})
}

// Whatever a controller does when it is told to stop is no failure.
func TestStoppingIsNoFailure(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func(ctx context.Context) error{
		"nil":           func(context.Context) error { return nil },
		"its context":   func(ctx context.Context) error { return ctx.Err() },
		"wrapped":       func(ctx context.Context) error { return fmt.Errorf("rpc: %w", ctx.Err()) },
		"another error": func(context.Context) error { return errFailed },
		"panic":         func(context.Context) error { panic("interrupted") },
		"goexit": func(context.Context) error {
			runtime.Goexit()

			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inBubble(t, func(t *testing.T, b *bench) {
				b.Start(b.ctx)
				synctest.Wait()

				b.stop()
				b.Wait()

				require.Equal(t, adapter.Status{Phase: adapter.Stopped, Since: b.began}, b.Status())
				require.Empty(t, b.failures())

				crashes, _ := b.counts()
				require.Equal(t, "0", crashes)
			}, func(ctx context.Context, _ controller.Runtime) error {
				<-ctx.Done()

				return end(ctx)
			})
		})
	}
}

// One that waits for its next try ends at once.
func TestStopEndsTheBackoff(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		pass(100 * time.Second)

		before := b.since()

		b.stop()
		b.Wait()

		require.Equal(t, before, b.since())
		require.Equal(t, adapter.Stopped, b.Status().Phase)
		require.ErrorIs(t, b.Status().LastError, errFailed, "why it was not running")
		require.Zero(t, b.Status().NextTry)
	}, func(context.Context, controller.Runtime) error { return errFailed })
}

// Wait waits for a controller that takes its time.
func TestWaitWaits(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		synctest.Wait()

		b.stop()
		b.Wait()
		require.Equal(t, time.Minute, b.since())
	}, func(ctx context.Context, _ controller.Runtime) error {
		<-ctx.Done()
		clock.Sleep(time.Minute)

		return nil
	})
}

func TestControllerThatWasNeverStarted(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		require.Equal(t, adapter.Status{Phase: adapter.Registered, Since: b.began}, b.Status())

		b.QueueReconcile()
		require.Equal(t, adapter.Registered, b.Status().Phase)
		require.Zero(t, b.Status().BusySince, "it is not slow, it does not run")

		pass(time.Minute)
		b.Wait()
		require.Equal(t, adapter.Status{Phase: adapter.Stopped, Since: b.began.Add(time.Minute)}, b.Status())
	}, nil)
}
