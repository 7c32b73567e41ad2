package runtime_test

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/jonboulle/clockwork"
	"github.com/siderolabs/gen/optional"
	"github.com/siderolabs/gen/xerrors"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// ownMetric returns what the one engine that runs shows under the name.
func ownMetric(name string) (shown string) {
	expvar.Get("switchyard").(*expvar.Map).Do(func(engine expvar.KeyValue) {
		shown = engine.Value.(*expvar.Map).Get(name).String()
	})

	return shown
}

// until returns how a pass ends that waits for its context.
func until(ctx context.Context) error {
	<-ctx.Done()

	return fmt.Errorf("gave up: %w", context.Cause(ctx))
}

// Two items that would keep both workers for ever are cut off, counted, logged and retried, and all others are worked on.
func TestPassesOverTheirDeadlineMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		w := newWorld(t, nil, runtime.Config{PassDeadline: 5 * time.Second, Backoff: steady}, zap.New(core))

		var healthy, hanging journal[string]

		began := time.Now()

		w.register(&queued{
			name: "q", settings: controller.QSettings{
				Inputs: []controller.Input{sources(controller.InputQPrimary)}, Concurrency: optional.Some[uint](2),
			},
			reconcile: func(ctx context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				if ptr.ID()[0] != 'h' {
					healthy.add(ptr.ID())

					return nil
				}

				hanging.add(fmt.Sprint(time.Since(began)))

				return until(ctx)
			},
		})
		w.create(newSource("h1", 0), newSource("h2", 0))

		for i := range 20 {
			w.create(newSource(fmt.Sprint(i), 0))
		}

		w.start()
		time.Sleep(10 * time.Second)
		synctest.Wait()

		assert.Equal(t, 20, healthy.len())
		assert.Equal(t, []string{"0s", "0s", "6s", "6s"}, hanging.all())
		assert.Equal(t, "2", ownMetric("passes_over_deadline"))

		health := w.Health().Controllers[0]
		assert.Equal(t, 2, health.Failing)

		var over *adapter.DeadlineError
		require.ErrorAs(t, health.LastError, &over)
		assert.Equal(t, "q", over.Controller)
		assert.Contains(t, over.Doing, "reconcile "+sourceType+"(test/h")
		assert.Equal(t, 5*time.Second, over.Deadline)
		require.ErrorContains(t, over.Err, "gave up: ")
		require.ErrorIs(t, health.LastError, context.DeadlineExceeded)
		require.ErrorContains(t, health.LastError, "longer than its deadline, 5s")

		entries := logs.FilterMessageSnippet("pass failed").All()
		require.Len(t, entries, 2)
		assert.EqualValues(t, 1, entries[0].ContextMap()["attempt"])
		assert.Equal(t, time.Second, entries[0].ContextMap()["next_try_in"])
		w.end()
	})
}

// What a pass over its deadline returns is a failure, whatever it asks for, and no failure if it is nil; what is over by the end
// of the engine is neither.
func TestWhatAPassOverItsDeadlineReturns(t *testing.T) {
	for name, test := range map[string]struct {
		returned error
		failing  int
	}{
		"nil":     {nil, 0},
		"error":   {errBroken, 1},
		"skip":    {xerrors.NewTaggedf[qtransform.SkipReconcileTag]("not now"), 1},
		"requeue": {controller.NewRequeueInterval(time.Hour), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil, runtime.Config{PassDeadlines: map[string]time.Duration{"q": time.Second}, Backoff: steady}, nil)

				var passes journal[error]

				w.register(&queued{
					name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
					reconcile: func(ctx context.Context, _ controller.QRuntime, _ resource.Pointer) error {
						<-ctx.Done()
						passes.add(context.Cause(ctx))

						return test.returned
					},
				})
				w.create(newSource("s", 0))
				w.start()
				time.Sleep(1500 * time.Millisecond)
				require.Equal(t, 1, passes.len())

				var over *adapter.DeadlineError
				require.ErrorAs(t, passes.last(), &over)
				require.NoError(t, over.Err)

				health := w.Health().Controllers[0]
				assert.Equal(t, test.failing, health.Failing)
				assert.Equal(t, fmt.Sprint(test.failing), ownMetric("passes_over_deadline"))

				if test.failing > 0 {
					require.ErrorIs(t, health.LastError, test.returned)
					time.Sleep(time.Second)
					assert.Equal(t, 1, w.Health().Controllers[0].Processing, "it is tried again after its backoff")
				}

				w.end()
				assert.LessOrEqual(t, passes.len(), 2)
			})
		})
	}
}

// A mapping has a deadline, and so has a pass that panics or ends its goroutine; a controller has its own, or none.
func TestDeadlinesOfControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{
			PassDeadline: 5 * time.Second, PassDeadlines: map[string]time.Duration{"quick": time.Second, "patient": 0}, Backoff: steady,
		}, nil)

		var cut journal[string]

		for _, name := range []string{"quick", "patient", "other"} {
			began := time.Now()

			w.register(&queued{
				name: name, settings: controller.QSettings{Inputs: []controller.Input{
					sources(controller.InputQMapped), targets(controller.InputQPrimary),
				}},
				mapInput: func(ctx context.Context, _ controller.QRuntime, _ controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
					<-ctx.Done()
					cut.add(fmt.Sprint(name, " ", time.Since(began)))

					if name == "quick" {
						failures["goexit"]()
					}

					panic("as asked")
				},
			})
		}

		w.start()
		synctest.Wait()
		w.create(newSource("s", 0))
		time.Sleep(5500 * time.Millisecond)
		assert.Equal(t, []string{"quick 1s", "quick 3s", "other 5s"}, cut.all())

		var over *adapter.DeadlineError

		controllers := w.Health().Controllers
		require.ErrorIs(t, controllers[0].LastError, contain.ErrGoexit)
		require.ErrorAs(t, controllers[0].LastError, &over)
		require.NoError(t, controllers[1].LastError)
		require.ErrorAs(t, controllers[2].LastError, new(*contain.PanicError))
		require.ErrorAs(t, controllers[2].LastError, &over)
		assert.Contains(t, over.Doing, "map ")
		w.end()
	})
}

// A pass of a classic controller that is over its deadline ends its Run, which is called again as after a failure.
func TestClassicPassOverItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		cfg := cachedSources()
		cfg.PassDeadline, cfg.Backoff = 5*time.Second, steady

		w := newWorld(t, nil, cfg, zap.New(core))

		var passes journal[string]

		began := time.Now()

		w.register(&classic{
			name: "c", inputs: []controller.Input{sources(controller.InputWeak)},
			pass: func(ctx context.Context, r controller.Runtime) error {
				passes.add(fmt.Sprint(time.Since(began)))

				if _, err := r.List(ctx, sourceKind()); err != nil {
					return err
				}

				if passes.len() > 1 {
					return nil
				}

				<-ctx.Done()

				return nil // as if it had been told to stop
			},
		})
		w.start()
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"0s", "6s"}, passes.all(), "what waits for its next wakeup is in no pass")
		assert.Equal(t, "1", ownMetric("passes_over_deadline"))

		entries := logs.FilterMessageSnippet("controller failed").All()
		require.Len(t, entries, 1)
		assert.EqualValues(t, 1, entries[0].ContextMap()["attempt"])
		assert.Contains(t, entries[0].ContextMap()["error"], `controller "c": its pass has run for longer than its deadline, 5s`)

		w.create(newSource("s", 0))
		time.Sleep(time.Hour)
		assert.Equal(t, 3, passes.len())
		assert.Equal(t, "1", ownMetric("passes_over_deadline"))
		assert.Empty(t, w.Health().Problems())
		w.end()
	})
}

// A pass of a classic controller begins with any call to its runtime, and ends in each of the ways that it can.
func TestWhereClassicPassesBeginAndEnd(t *testing.T) {
	calls := map[string]func(ctx context.Context, r controller.Runtime) error{
		"get": func(ctx context.Context, r controller.Runtime) error {
			_, err := r.Get(ctx, sourcePtr("s"))
			return err
		},
		"list": func(ctx context.Context, r controller.Runtime) error { _, err := r.List(ctx, sourceKind()); return err },
		"get uncached": func(ctx context.Context, r controller.Runtime) error {
			_, err := r.GetUncached(ctx, sourcePtr("s"))

			return err
		},
		"list uncached": func(ctx context.Context, r controller.Runtime) error {
			_, err := r.ListUncached(ctx, sourceKind())

			return err
		},
		"view": func(ctx context.Context, r controller.Runtime) error {
			_, err := stateadapter.View(ctx, r, sourceKind())

			return err
		},
		"barrier": func(ctx context.Context, r controller.Runtime) error {
			return stateadapter.Barrier(ctx, r, sourceKind())
		},
		"context with teardown": func(ctx context.Context, r controller.Runtime) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()

			_, err := r.ContextWithTeardown(ctx, sourcePtr("s"))

			return err
		},
		"create": func(ctx context.Context, r controller.Runtime) error { return r.Create(ctx, newTarget("new", 0)) },
		"update": func(ctx context.Context, r controller.Runtime) error { r.Update(ctx, newTarget("t", 0)); return nil },
		"modify": func(ctx context.Context, r controller.Runtime) error {
			return r.Modify(ctx, newTarget("m", 0), func(resource.Resource) error { return nil })
		},
		"modify with result": func(ctx context.Context, r controller.Runtime) error {
			_, err := r.ModifyWithResult(ctx, newTarget("m", 0), func(resource.Resource) error { return nil })

			return err
		},
		"teardown": func(ctx context.Context, r controller.Runtime) error { r.Teardown(ctx, targetPtr("t")); return nil },
		"destroy":  func(ctx context.Context, r controller.Runtime) error { r.Destroy(ctx, targetPtr("t")); return nil },
		"add finalizer": func(ctx context.Context, r controller.Runtime) error {
			return r.AddFinalizer(ctx, sourcePtr("s"), "f")
		},
		"add finalizer if running": func(ctx context.Context, r controller.Runtime) error {
			return stateadapter.AddFinalizerIfRunning(ctx, r, sourcePtr("s"), "f")
		},
		"remove finalizer": func(ctx context.Context, r controller.Runtime) error {
			return r.RemoveFinalizer(ctx, sourcePtr("s"), "f")
		},
		"start tracking": func(_ context.Context, r controller.Runtime) error { r.StartTrackingOutputs(); return nil },
		"cleanup that fails": func(ctx context.Context, r controller.Runtime) error {
			require.ErrorIs(t, r.CleanupOutputs(ctx, targetPtr("")), stateadapter.ErrNotTracking)

			return nil
		},
		"update inputs": func(_ context.Context, r controller.Runtime) error {
			return r.UpdateInputs([]controller.Input{sources(controller.InputStrong)})
		},
	}

	ends := map[string]func(ctx context.Context, r controller.Runtime){
		"not":   nil,
		"reset": func(_ context.Context, r controller.Runtime) { r.ResetRestartBackoff() },
		"cleanup": func(ctx context.Context, r controller.Runtime) {
			r.StartTrackingOutputs()
			require.NoError(t, r.CleanupOutputs(ctx))
		},
		"channel": func(_ context.Context, r controller.Runtime) { r.EventCh() },
		"wakeup": func(_ context.Context, r controller.Runtime) {
			events := r.EventCh()
			r.QueueReconcile()
			<-events
		},
	}

	for begin, call := range calls {
		for end, over := range ends {
			if begin != "get" && over != nil {
				continue // each call begins a pass in the same way
			}

			t.Run(strings.ReplaceAll(begin+", "+end, " ", "_"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, nil, runtime.Config{PassDeadline: time.Second, Backoff: steady}, nil)
					runs := 0

					w.register(&classic{
						name: "c", inputs: []controller.Input{sources(controller.InputStrong)}, outputs: []controller.Output{exclusive(targetType)},
						run: func(ctx context.Context, r controller.Runtime) error {
							if runs++; runs > 1 {
								<-ctx.Done()

								return nil
							}

							<-r.EventCh()
							time.Sleep(time.Minute) // nobody can tell that the pass has begun
							require.NoError(t, ctx.Err())
							require.NoError(t, call(ctx, r))

							if over != nil {
								over(ctx, r)
							}

							select {
							case <-ctx.Done():
							case <-time.After(time.Minute):
							}

							if over == nil {
								require.ErrorAs(t, context.Cause(ctx), new(*adapter.DeadlineError))
							} else {
								require.NoError(t, ctx.Err())
							}

							return errBroken
						},
					})
					w.create(newSource("s", 0))
					w.start()
					time.Sleep(time.Hour)
					synctest.Wait()
					require.Equal(t, 2, runs)

					want := "0"
					if over == nil {
						want = "1"
					}

					require.Equal(t, want, ownMetric("passes_over_deadline"))
					w.end()
				})
			})
		}
	}
}

// The deadline of a classic pass survives its restart, panics and Goexit; the end of the engine is no failure of it.
func TestClassicDeadlineAndFailures(t *testing.T) {
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil, runtime.Config{PassDeadline: time.Second, Backoff: steady}, nil)

				var runs journal[int]

				w.register(&classic{
					name: "c", inputs: []controller.Input{sources(controller.InputWeak)},
					pass: func(ctx context.Context, r controller.Runtime) error {
						runs.add(1)

						if _, err := r.List(ctx, sourceKind()); err != nil {
							return err
						}

						if runs.len()%2 == 1 {
							<-ctx.Done()
						}

						return fail()
					},
				})
				w.start()
				time.Sleep(1500 * time.Millisecond)
				require.ErrorAs(t, w.Health().Controllers[0].LastError, new(*adapter.DeadlineError))

				time.Sleep(time.Second)
				require.False(t, errors.As(w.Health().Controllers[0].LastError, new(*adapter.DeadlineError)), "it failed in time")

				time.Sleep(time.Minute)
				assert.Greater(t, runs.len(), 4)
				w.end()
			})
		})
	}
}

// All that is about deadlines happens on the engine's clock.
func TestDeadlineOnAFakeClock(t *testing.T) {
	clock := clockwork.NewFakeClock()
	w := newWorld(t, nil, runtime.Config{PassDeadline: time.Hour, Clock: clock}, nil)
	waiting := make(chan string, 10)

	w.register(&queued{
		name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
		reconcile: func(ctx context.Context, _ controller.QRuntime, _ resource.Pointer) error {
			waiting <- "q"

			return until(ctx)
		},
	})
	w.register(&classic{
		name: "c", inputs: []controller.Input{sources(controller.InputWeak)},
		pass: func(ctx context.Context, r controller.Runtime) error {
			if _, err := r.Get(ctx, sourcePtr("s")); err != nil {
				return err
			}

			waiting <- "c"

			return until(ctx)
		},
	})
	w.create(newSource("s", 0))
	w.start()
	assert.ElementsMatch(t, []string{"q", "c"}, []string{<-waiting, <-waiting})

	clock.Advance(time.Hour)
	require.Eventually(t, func() bool {
		controllers := w.Health().Controllers

		return errors.As(controllers[0].LastError, new(*adapter.DeadlineError)) && errors.As(controllers[1].LastError, new(*adapter.DeadlineError))
	}, 10*time.Second, time.Millisecond)
	w.end()
}

// Deadlines that can not be honoured are refused; the map may be changed afterwards.
func TestDeadlinesAreChecked(t *testing.T) {
	var wrong *runtime.ConfigError

	_, err := runtime.New(newState(), nil, runtime.Config{PassDeadline: -1})
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, "PassDeadline", wrong.Field)

	_, err = runtime.New(newState(), nil, runtime.Config{PassDeadlines: map[string]time.Duration{"b": -1, "a": -1, "c": 1}})
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, `PassDeadlines["a"]`, wrong.Field)

	_, err = runtime.New(newState(), nil, runtime.Config{PassDeadlines: map[string]time.Duration{"": 1}})
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, `PassDeadlines[""]`, wrong.Field)

	deadlines := map[string]time.Duration{"a": time.Second}
	rt, err := runtime.New(newState(), nil, runtime.Config{PassDeadlines: deadlines, Options: []options.Option{options.WithMetrics(false)}})
	require.NoError(t, err)
	clear(deadlines)
	require.NoError(t, rt.RegisterController(&classic{name: "a", pass: idle}))
}
