package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/runtime"
)

// A host can follow what a controller does, and how long it takes.
func TestPassesAreCountedAndTimed(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Passes: cause.DefaultPasses}, nil)
		w.register(&queued{
			name:     "queue",
			settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				time.Sleep(2 * time.Second)

				if ptr.ID() == "bad" {
					panic("bad")
				}

				return nil
			},
		})
		w.register(&classic{
			name: "classic", inputs: []controller.Input{sources(controller.InputWeak)},
			pass: func(ctx context.Context, r controller.Runtime) error {
				_, err := r.List(ctx, resource.NewMetadata(ns, sourceType, "", resource.VersionUndefined))
				time.Sleep(4 * time.Second)

				return err
			},
		})
		w.start()

		time.Sleep(time.Minute)

		all, err := w.PassesSince("queue", 0)
		require.NoError(t, err)
		require.Empty(t, all)

		w.create(newSource("a", 0))
		time.Sleep(time.Second)
		w.create(newSource("b", 0), newSource("bad", 0))
		time.Sleep(5*time.Second + time.Millisecond)

		all, err = w.PassesSince("queue", 1)
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, "bad", all[0].Item.ID)
		require.Equal(t, cause.Failed, all[0].Outcome)
		require.Contains(t, all[0].Stack, "passes_test.go")
		require.Equal(t, 3*time.Second, all[0].Waited)
		require.Equal(t, time.Second, all[1].Waited)

		timings, err := w.Timings("queue")
		require.NoError(t, err)
		require.EqualValues(t, 1, timings.Outcomes[cause.Failed])
		require.EqualValues(t, 3, timings.Durations.Count)
		require.Equal(t, 6*time.Second, timings.Durations.Sum)
		require.EqualValues(t, 3, timings.Waits.Count)
		require.Equal(t, 4*time.Second, timings.Waits.Sum)

		time.Sleep(10 * time.Second)

		timings, err = w.Timings("classic")
		require.NoError(t, err)
		require.EqualValues(t, 3, timings.Durations.Count, "the first wakeup, that of a, and one for b and bad")
		require.Equal(t, 12*time.Second, timings.Durations.Sum)
		require.Equal(t, 3*time.Second, timings.Waits.Sum)

		for _, c := range w.Health().Controllers {
			require.GreaterOrEqual(t, c.Passes, uint64(3), c.Name)
		}

		_, err = w.Timings("nobody")
		require.ErrorIs(t, err, runtime.ErrNotRegistered)
		_, err = w.PassesSince("nobody", 0)
		require.ErrorIs(t, err, runtime.ErrNotRegistered)
	})
}

// A classic controller that fails before it has called anything is seen to have failed, and why it was woken.
func TestFailuresWithoutACallAreRemembered(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Passes: cause.DefaultPasses}, nil)
		w.register(&classic{
			name: "classic", inputs: []controller.Input{sources(controller.InputWeak)},
			pass: func(context.Context, controller.Runtime) error { return errors.New("broken") },
		})
		w.start()
		time.Sleep(time.Hour)
		w.create(newSource("a", 0))
		time.Sleep(time.Hour)

		all, err := w.Passes("classic")
		require.NoError(t, err)
		require.Len(t, all, cause.DefaultPasses)

		for i := range all {
			require.Equal(t, cause.Failed, all[i].Outcome)
			require.Equal(t, "broken", all[i].Failure)
			require.NotZero(t, all[i].Reasons)
			require.NotZero(t, all[i].Again)
		}

		timings, err := w.Timings("classic")
		require.NoError(t, err)
		require.Greater(t, timings.Outcomes[cause.Failed], uint64(100))
	})
}

// What came of a run hook is told as that of a pass, a panic with its stack.
func TestFailuresOfHooksAreRemembered(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Passes: cause.DefaultPasses}, nil)
		w.register(&queued{
			name: "queue",
			settings: controller.QSettings{
				Inputs:  []controller.Input{sources(controller.InputQPrimary)},
				RunHook: func(context.Context, *zap.Logger, controller.QRuntime) error { panic("bad") },
			},
		})
		w.start()
		synctest.Wait()

		all, err := w.Passes("queue")
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, cause.Hooking, all[0].Doing)
		require.Equal(t, "panic: bad", all[0].Failure)
		require.Contains(t, all[0].Stack, "passes_test.go")

		timings, err := w.Timings("queue")
		require.NoError(t, err)
		require.Zero(t, timings, "hooks are no passes")
	})
}

// What is mapped to a resource twice at once is told of once, also where something else waits to be told of.
func TestWhatIsMappedTwiceIsToldOfOnce(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Passes: cause.DefaultPasses}, nil)
		w.register(&queued{
			name:     "queue",
			settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary), targets(controller.InputQMapped)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				time.Sleep(time.Minute)

				return nil
			},
			mapInput: func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				a, b := sourcePtr("a"), sourcePtr("b")

				return []resource.Pointer{a, b, a, a}, nil
			},
		})
		w.start()
		synctest.Wait()
		w.create(newSource("a", 0))
		time.Sleep(time.Second)
		w.create(newTarget("x", 0), newTarget("y", 0))
		time.Sleep(time.Hour)

		passes, err := w.Passes("queue")
		require.NoError(t, err)

		told := map[resource.ID]uint32{}

		for i := range passes {
			for _, c := range passes[i].Causes {
				if passes[i].Doing == cause.Reconciling && passes[i].Item.ID == "a" {
					told[c.Resource.ID] += c.Events
				}
			}
		}

		require.Equal(t, map[resource.ID]uint32{"a": 1, "x": 1, "y": 1}, told)
	})
}
