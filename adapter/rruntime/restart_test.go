package rruntime_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/stateadapter"
)

var errFailed = errors.New("it did not work")

// However a run fails, the controller is run again, after a wait that doubles; each failure is logged once, with the
// attempt and the next try, and counted.
func TestFailedRunsAreRepeatedWithBackoff(t *testing.T) {
	t.Parallel()

	panicked := &contain.PanicError{}

	for name, test := range map[string]struct {
		fail  func() error
		as    func(error) bool
		stack bool
	}{
		"error":        {fail: func() error { return errFailed }, as: isError(errFailed)},
		"panic":        {fail: func() error { panic("out of paper") }, as: func(err error) bool { return errors.As(err, &panicked) }, stack: true},
		"panic(error)": {fail: func() error { panic(errFailed) }, as: isError(errFailed), stack: true},
		"goexit": {fail: func() error {
			runtime.Goexit()

			return nil
		}, as: isError(contain.ErrGoexit)},
		// The end of another context is a failure like others: the engine's own has not ended.
		"cancelled call": {
			fail: func() error { return fmt.Errorf("rpc: %w", context.Canceled) }, as: isError(context.Canceled),
		},
		"call that took too long": {
			fail: func() error { return fmt.Errorf("rpc: %w", context.DeadlineExceeded) }, as: isError(context.DeadlineExceeded),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var at []time.Duration

			began := time.Time{}

			inBubble(t, func(t *testing.T, b *bench) {
				began = b.began
				b.Start(b.ctx)

				pass(5 * time.Second)

				status := b.Status()
				require.Equal(t, adapter.BackingOff, status.Phase)
				require.Equal(t, 3, status.Attempt)
				require.Equal(t, b.began.Add(7*time.Second), status.NextTry)
				require.Equal(t, b.began.Add(3*time.Second), status.Since)
				require.True(t, test.as(status.LastError), "%v", status.LastError)

				pass(5 * time.Second)
				require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, at)

				crashes, _ := b.counts()
				require.Equal(t, "4", crashes)
				require.Len(t, b.failures(), 4)

				for i, line := range b.failures() {
					fields := line.ContextMap()
					require.Equal(t, b.name, fields["controller"])
					require.EqualValues(t, i+1, fields["attempt"])
					require.Equal(t, time.Second<<i, fields["next_try_in"])
					require.NotEmpty(t, fields["error"])
					require.Equal(t, test.stack, fields["stack"] != nil)
					require.Len(t, line.Context, len(fields), "each field once")
				}
			}, func(context.Context, controller.Runtime) error {
				at = append(at, time.Since(began))

				return test.fail()
			})
		})
	}
}

func isError(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// A wakeup that the failed run has taken is not lost with it.
func TestFailedRunIsWokenAgain(t *testing.T) {
	t.Parallel()

	runs := 0

	inBubble(t, func(t *testing.T, b *bench) {
		b.Start(b.ctx)

		pass(time.Hour)
		require.Equal(t, 4, runs, "each run found a wakeup")
		require.Equal(t, 7*time.Second, b.Status().Since.Sub(b.began), "the last one began and runs")
	}, func(ctx context.Context, r controller.Runtime) error {
		select {
		case <-r.EventCh():
			runs++
		case <-ctx.Done():
			return nil
		}

		if runs < 4 {
			return errFailed
		}

		<-ctx.Done()

		return nil
	})
}

// The failure that ends a run of a minute is the first one again.
func TestHealthyRunResetsTheBackoff(t *testing.T) {
	t.Parallel()

	lengths := []time.Duration{0, 0, 59 * time.Second, time.Minute, 0}

	inBubble(t, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		pass(time.Hour)

		var attempts []int64
		for _, line := range b.failures() {
			attempts = append(attempts, line.ContextMap()["attempt"].(int64))
		}

		require.Equal(t, []int64{1, 2, 3, 1, 2}, attempts)
		require.Equal(t, adapter.Finished, b.Status().Phase)
	}, func(ctx context.Context, _ controller.Runtime) error {
		if len(lengths) == 0 {
			return nil
		}

		length := lengths[0]
		lengths = lengths[1:]

		clock.Sleep(length)

		return errFailed
	})
}

func TestControllerCanResetItsBackoff(t *testing.T) {
	t.Parallel()

	runs := 0

	inBubble(t, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		pass(2500 * time.Millisecond)

		require.Equal(t, 3, runs, "at 0, 1 and 2 s")
		require.Equal(t, 1, b.Status().Attempt)

		// From outside too, and then nothing is known to be wrong.
		b.ResetRestartBackoff()
		require.NoError(t, b.Status().LastError)
		require.Zero(t, b.Status().Attempt)
	}, func(_ context.Context, r controller.Runtime) error {
		runs++
		r.ResetRestartBackoff()

		return errFailed
	})
}

// A pass that ends with a successful cleanup has come round: it resets the backoff. One that did not tracks no longer.
func TestCleanupResetsTheBackoffAndTrackingEndsWithTheRun(t *testing.T) {
	t.Parallel()

	kind := conformance.NewIntResource("n", "", 0).Metadata()
	held := conformance.NewIntResource("n", "held", 0)
	runs := 0

	inBubble(t, func(t *testing.T, b *bench) {
		require.NoError(t, b.state.Create(t.Context(), held, state.WithCreateOwner(b.name)))
		require.NoError(t, b.state.AddFinalizer(t.Context(), held.Metadata(), "holder"))

		b.Start(b.ctx)
		pass(4 * time.Second)
		require.Equal(t, 3, runs)
		require.Equal(t, 3, b.Status().Attempt, "the cleanup failed, so nothing has come round")

		require.NoError(t, b.state.RemoveFinalizer(t.Context(), held.Metadata(), "holder"))
		pass(time.Hour)
		require.Equal(t, 4, runs)
		require.Equal(t, adapter.Running, b.Status().Phase)
		require.NoError(t, b.Status().LastError)
		require.Zero(t, b.Status().Attempt)
	}, func(ctx context.Context, r controller.Runtime) error {
		runs++

		if err := r.CleanupOutputs(ctx, kind); !errors.Is(err, stateadapter.ErrNotTracking) {
			return errors.New("the former run's tracking has outlived it")
		}

		r.StartTrackingOutputs()

		if err := r.CleanupOutputs(ctx, resource.Kind(kind)); err != nil {
			r.StartTrackingOutputs()

			return err
		}

		<-ctx.Done()

		return nil
	})
}

// The attempts of the failures are logged at error level, their recovery is not: the log is quiet while all is well.
func TestHealthyControllerLogsNothing(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.QueueReconcile()
		synctest.Wait()
		require.Empty(t, b.logs.FilterLevelExact(zap.WarnLevel).All())
		require.Empty(t, b.failures())
	}, func(ctx context.Context, r controller.Runtime) error {
		<-r.EventCh()
		<-ctx.Done()

		return ctx.Err()
	})
}
