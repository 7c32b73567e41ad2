package qruntime_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/contain"
)

// runHook returns a preparation that sets the run hook.
func runHook(hook func(ctx context.Context) error) func(*testing.T, *bench) {
	return func(_ *testing.T, b *bench) {
		b.settings.RunHook = func(ctx context.Context, _ *zap.Logger, _ controller.QRuntime) error {
			b.note("hook")

			return hook(ctx)
		}
	}
}

// A run hook that fails, however it does, is run again with backoff, beside the items.
func TestRunHookIsRepeated(t *testing.T) {
	t.Parallel()

	for name, fail := range map[string]func() error{
		"error":          func() error { return errFailed },
		"panic":          func() error { panic(errFailed) },
		"cancelled call": func() error { return context.Canceled },
		"goexit": func() error {
			runtime.Goexit()

			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			left := 3

			inBubble(t, runHook(func(context.Context) error {
				if left--; left >= 0 {
					return fail()
				}

				return nil
			}), func(t *testing.T, b *bench) {
				b.Start(b.ctx)
				pass(2 * time.Second)
				requireTrace(t, b, "0s: hook", "1s: hook")

				status := b.Status()
				require.Equal(t, adapter.BackingOff, status.Phase)
				require.Equal(t, 2, status.Attempt)
				require.Equal(t, b.began.Add(3*time.Second), status.NextTry)
				require.Error(t, status.LastError)

				b.change("a")
				requireTrace(t, b, "2s: a")

				pass(time.Hour)
				requireTrace(t, b, "3s: hook", "7s: hook")

				status = b.Status()
				require.Equal(t, adapter.Running, status.Phase)
				require.NoError(t, status.LastError)
				require.Zero(t, status.NextTry)

				require.Equal(t, "3", b.counted().crashes)
				require.Len(t, b.failures(), 3)

				for i, line := range b.failures() {
					require.EqualValues(t, i+1, line.ContextMap()["attempt"])
					require.Equal(t, time.Second<<i, line.ContextMap()["next_try_in"])
				}
			})
		})
	}
}

func TestHealthyRunHookResetsItsBackoff(t *testing.T) {
	t.Parallel()

	lengths := []time.Duration{0, 0, time.Minute}

	inBubble(t, runHook(func(ctx context.Context) error {
		if len(lengths) == 0 {
			<-ctx.Done()

			return nil
		}

		clock.Sleep(lengths[0])
		lengths = lengths[1:]

		return errFailed
	}), func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		pass(time.Hour)
		requireTrace(t, b, "0s: hook", "1s: hook", "3s: hook", "1m4s: hook")
	})
}

// A run hook that is done does not hide what items have failed with.
func TestFinishedRunHookLeavesTheFailuresOfItems(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		runHook(func(context.Context) error {
			clock.Sleep(10 * time.Second)

			return nil
		})(t, b)

		b.reconcile = func(context.Context, resource.ID) error { return errFailed }
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("a")
		pass(11 * time.Second)
		require.ErrorIs(t, b.Status().LastError, errFailed)
		require.Equal(t, 1, b.Status().Failing)
	})
}

// The shutdown hook is called once, after everything else of the controller has ended.
func TestShutdownHookComesLast(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		linger := func(ctx context.Context, what string, after time.Duration) {
			<-ctx.Done()
			clock.Sleep(after)
			b.note(what)
		}

		b.settings.ShutdownHook = func() { b.note("shutdown") }
		b.settings.RunHook = func(ctx context.Context, _ *zap.Logger, _ controller.QRuntime) error {
			linger(ctx, "hook ended", time.Minute)

			return nil
		}
		b.reconcile = func(ctx context.Context, _ resource.ID) error {
			linger(ctx, "pass ended", time.Second)

			return nil
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("a")
		require.Len(t, b.passes(), 1)

		b.stop()
		b.Wait()
		requireTrace(t, b, "1s: pass ended", "1m0s: hook ended", "1m0s: shutdown")

		b.settings.ShutdownHook = nil // the bubble waits again in the end; the adapter has its own copy
	})
}

// A shutdown hook that panics or ends its goroutine is counted and logged, and the engine goes on ending.
func TestShutdownHookIsContained(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		fail  func()
		says  string
		stack bool
	}{
		"panic":  {func() { panic(errFailed) }, "panic: it did not work", true},
		"goexit": {runtime.Goexit, contain.ErrGoexit.Error(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inBubble(t, func(_ *testing.T, b *bench) {
				b.settings.ShutdownHook = func() {
					b.note("shutdown")
					test.fail()
				}
			}, func(t *testing.T, b *bench) {
				b.Start(b.ctx)
				b.stop()
				b.Wait()

				requireTrace(t, b, "0s: shutdown")
				require.Equal(t, "1", b.counted().crashes)
				require.Equal(t, adapter.Stopped, b.Status().Phase)
				require.Len(t, b.failures(), 1)

				fields := b.failures()[0].ContextMap()
				require.Equal(t, test.says, fields["error"])
				require.Equal(t, test.stack, fields["stack"] != nil)
			})
		})
	}
}

// A controller that was never started has nothing to shut down.
func TestShutdownHookIsForStartedControllers(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) { b.settings.ShutdownHook = func() { b.note("shutdown") } },
		func(t *testing.T, b *bench) {
			b.change("a")
			b.Wait()
			require.Empty(t, b.passes())
			require.Equal(t, adapter.Stopped, b.Status().Phase)
			synctest.Wait()
		})
}
