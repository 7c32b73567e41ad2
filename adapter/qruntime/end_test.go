package qruntime_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/adapter"
)

// Passes that run see their context end and are waited for, and what they return then is no failure; the backlog is
// dropped, and no worker looks at it again and again meanwhile.
func TestStop(t *testing.T) {
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
				concurrency(2)(t, b)

				b.reconcile = func(ctx context.Context, _ resource.ID) error {
					<-ctx.Done()
					clock.Sleep(time.Second)

					return end(ctx)
				}
			}, func(t *testing.T, b *bench) {
				b.Start(b.ctx)
				b.change("a", "b", "c", "d", "e", "a")
				requireTrace(t, b, "0s: a", "0s: b")

				b.stop()
				pass(time.Minute) // all has come to rest: nobody spins on the backlog

				b.change("f")
				require.Empty(t, b.passes())

				b.Wait()
				require.Empty(t, b.passes())
				require.Zero(t, b.Len())
				require.Empty(t, b.failures())
				require.Equal(t, counted{"0", "2", "0", "0", "0", "0"}, b.counted())
				require.Equal(t, adapter.Status{Phase: adapter.Stopped, Since: b.began.Add(time.Minute)}, b.Status())

				b.change("a")
				b.fill("b")
				require.NoError(t, b.Trigger(keys("c")))
				require.Empty(t, b.passes())
			})
		})
	}
}

// Wait waits for the passes that run.
func TestWaitWaits(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) {
		b.reconcile = func(ctx context.Context, _ resource.ID) error {
			<-ctx.Done()
			clock.Sleep(time.Minute)

			return nil
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("a")
		synctest.Wait()

		b.stop()
		b.Wait()
		require.Equal(t, time.Minute, time.Since(b.began))
	})
}

// What waits for its next try is dropped, and no timer is left.
func TestStopEndsTheBackoff(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) {
		b.reconcile = func(context.Context, resource.ID) error { return errFailed }
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("a", "b")
		pass(100 * time.Second)
		require.Equal(t, 2, b.Status().Delayed)

		b.stop()
		b.Wait()
		require.Equal(t, 100*time.Second, time.Since(b.began))
		b.passes()
		pass(time.Hour)
		require.Empty(t, b.passes())
	})
}
