package recording_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/recording"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// replayed records a classic controller in a bubble, where hours take no time, while life happens, and replays it.
func replayed(t *testing.T, run func(clock clockwork.Clock) func(ctx context.Context, r controller.Runtime) error, life func(s *session)) {
	t.Helper()

	var (
		kept    string
		summary recording.Summary
	)

	register := func(clock clockwork.Clock) func(controller.Engine) error {
		return func(engine controller.Engine) error {
			return engine.RegisterController(&runner{"Timekeeper", run(clock)})
		}
	}

	synctest.Test(t, func(t *testing.T) {
		s := record(t, register(clockwork.NewRealClock()))
		life(s)

		kept, summary = s.end()
	})

	for range 10 {
		result, err := replay(t, kept, register(nil))
		require.NoError(t, err)
		require.Equal(t, summary, result.Summary)
	}
}

// note writes down what a controller has noticed.
func note(ctx context.Context, r controller.Runtime, what string) error {
	return r.Create(ctx, text(what, ""))
}

func TestTimersOfAController(t *testing.T) {
	t.Parallel()

	replayed(t, func(clock clockwork.Clock) func(context.Context, controller.Runtime) error {
		return func(ctx context.Context, r controller.Runtime) error {
			clock := recording.Clock(ctx, clock)
			began := clock.Now()
			ticker := clock.NewTicker(time.Hour)

			defer ticker.Stop()

			timer := clock.NewTimer(150 * time.Minute)
			timer.Reset(200 * time.Minute)

			stopped := clock.NewTimer(time.Minute)
			stopped.Stop()

			clock.AfterFunc(30*time.Minute, r.QueueReconcile)
			clock.Sleep(time.Second)

			for {
				what := "wakeup"

				select {
				case <-ctx.Done():
					return nil
				case <-r.EventCh():
				case <-ticker.Chan():
					what = "tick"
				case <-timer.Chan():
					what = "time"
				case <-stopped.Chan():
					what = "never"
				case <-clock.After(25 * time.Minute):
					what = "pause"
				}

				if err := note(ctx, r, what+" after "+clock.Since(began).String()); err != nil {
					return err
				}
			}
		}
	}, func(s *session) {
		for _, what := range []string{"wakeup after 30m0s", "pause after 25m1s", "tick after 1h0m0s", "tick after 3h0m0s", "time after 3h20m0s"} {
			await(s, text(what, ""), func(*conformance.StrResource) bool { return true })
		}
	})
}

func TestContextsWithTeardown(t *testing.T) {
	t.Parallel()

	replayed(t, func(clockwork.Clock) func(context.Context, controller.Runtime) error {
		return func(ctx context.Context, r controller.Runtime) error {
			select {
			case <-ctx.Done():
				return nil
			case <-r.EventCh():
			}

			watched, err := r.ContextWithTeardown(ctx, number("one", 0).Metadata())
			if err != nil {
				return err
			}

			<-watched.Done()

			if ctx.Err() == nil {
				return note(ctx, r, "torn down")
			}

			return nil
		}
	}, func(s *session) {
		ctx := s.t.Context()

		synctest.Wait()
		require.NoError(s.t, s.state.Create(ctx, number("one", 1)))
		synctest.Wait()
		_, _ = s.state.Teardown(ctx, number("one", 0).Metadata())
		await(s, text("torn down", ""), func(*conformance.StrResource) bool { return true })
	})
}

func TestWhatThisEngineOffersIsThere(t *testing.T) {
	t.Parallel()

	replayed(t, func(clockwork.Clock) func(context.Context, controller.Runtime) error {
		return func(ctx context.Context, r controller.Runtime) error {
			<-r.EventCh()

			if err := stateadapter.Barrier(ctx, r, numbers); err != nil {
				return err
			}

			view, err := stateadapter.View(ctx, r, numbers)
			if err != nil {
				return err
			}

			if _, err := view.Get("one"); err == nil {
				return note(ctx, r, "seen")
			}

			return r.UpdateInputs((&runner{}).Inputs())
		}
	}, func(s *session) { synctest.Wait() })
}

// Without a recorder, the world outside is asked as ever.
func TestNothingChangesWithoutARecorder(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	require.Same(t, clock, recording.Clock(t.Context(), clock))

	require.Nil(t, recording.Rand(t.Context(), nil))

	got, err := recording.Ask(t.Context(), "anything", func() (chan int, error) { return nil, context.Canceled })
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, got)
}
