package runtime_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/runtime"
)

// Ways for a callback to fail, all of which are contained and retried.
var failures = map[string]func() error{
	"error":              func() error { return errBroken },
	"panic":              func() error { panic("as asked") },
	"panic with error":   func() error { panic(errBroken) },
	"panic with nil":     func() error { panic(nil) }, // which Go turns into a panic with an error
	"goexit":             func() error { goruntime.Goexit(); return nil },
	"inner cancellation": func() error { return fmt.Errorf("rpc: %w", context.Canceled) },
	"inner deadline":     func() error { return context.DeadlineExceeded },
}

// steady is a backoff without jitter, so that a test can tell the times.
var steady = backoff.Policy{Base: time.Second, Factor: 2, Max: time.Minute}

// Whatever way Run of a classic controller fails, it is run again after its backoff, with a wakeup, for ever; each
// failure is logged once with its attempt.
func TestFailedRunIsRetried(t *testing.T) {
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zap.ErrorLevel)
				w := newWorld(t, nil, runtime.Config{Backoff: steady}, zap.New(core))

				var at journal[time.Duration]

				begin := time.Now()

				w.register(&classic{name: "c", inputs: []controller.Input{sources(controller.InputWeak)}, pass: func(context.Context, controller.Runtime) error {
					at.add(time.Since(begin))

					if at.len() <= 10 {
						return fail()
					}

					return nil
				}})
				w.start()
				time.Sleep(time.Hour)

				assert.Equal(t, []time.Duration{
					0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second,
					63 * time.Second, 123 * time.Second, 183 * time.Second, 243 * time.Second, 303 * time.Second,
				}, at.all())

				entries := logs.All()
				require.Len(t, entries, 10, "one line for each failure")

				for i, entry := range entries {
					fields := entry.ContextMap()
					assert.Equal(t, "c", fields["controller"])
					assert.EqualValues(t, i+1, fields["attempt"])
					assert.Equal(t, steady.Delay(i+1, nil), fields["next_try_in"])

					if name == "panic" {
						assert.Contains(t, fmt.Sprintf("%s", fields["stack"]), "promise_failure_test.go")
					}
				}

				assert.Empty(t, w.Health().Problems())
				w.end()
			})
		})
	}
}

// The same for the passes of a queue controller, item by item, and for its run hook.
func TestFailedPassIsRetried(t *testing.T) {
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zap.ErrorLevel)
				w := newWorld(t, nil, runtime.Config{Backoff: steady}, zap.New(core))

				var reconciled, mapped, hooked, healthy journal[time.Duration]

				begin := time.Now()

				failing := func(j *journal[time.Duration]) error {
					j.add(time.Since(begin))

					if j.len() <= 5 {
						return fail()
					}

					return nil
				}

				w.register(&queued{name: "q",
					settings: controller.QSettings{
						Inputs: []controller.Input{sources(controller.InputQPrimary), targets(controller.InputQMapped)},
						RunHook: func(ctx context.Context, _ *zap.Logger, _ controller.QRuntime) error {
							if err := failing(&hooked); err != nil {
								return err
							}

							<-ctx.Done()

							return nil
						},
					},
					reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
						if ptr.ID() == "healthy" {
							healthy.add(time.Since(begin))

							return nil
						}

						return failing(&reconciled)
					},
					mapInput: func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
						return nil, failing(&mapped)
					}})
				w.create(newSource("failing", 0), newSource("healthy", 0))
				w.start()
				synctest.Wait()
				w.create(newTarget("mapped", 0))
				synctest.Wait()
				require.NotEmpty(t, w.Health().Problems())
				time.Sleep(time.Hour)

				want := []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second}
				assert.Equal(t, want, reconciled.all())
				assert.Equal(t, want, mapped.all())
				assert.Equal(t, want, hooked.all())
				assert.Equal(t, []time.Duration{0}, healthy.all(), "failing items do not concern others")
				assert.Len(t, logs.All(), 15)
				assert.Empty(t, w.Health().Problems())

				w.end()
			})
		})
	}
}

// After success the next failure is the first one again, also when the success asked to run again much later.
func TestSuccessForgetsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Backoff: steady}, nil)

		var at journal[time.Duration]

		begin := time.Now()

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				at.add(time.Since(begin))

				switch at.len() {
				case 3:
					begin = time.Now()

					return controller.NewRequeueInterval(time.Hour)
				case 5:
					return nil
				default:
					return errBroken
				}
			}})
		w.create(newSource("s", 0))
		w.start()
		time.Sleep(3 * time.Hour)

		assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, time.Hour, time.Hour + time.Second}, at.all())
		w.end()
	})
}

// A healthy run of a minute, or ResetRestartBackoff, makes the next failure of a classic controller the first.
func TestRestartBackoffResets(t *testing.T) {
	for name, healthy := range map[string]func(r controller.Runtime){
		"a minute":            func(controller.Runtime) { time.Sleep(time.Minute) },
		"ResetRestartBackoff": func(r controller.Runtime) { r.ResetRestartBackoff() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zap.ErrorLevel)
				w := newWorld(t, nil, runtime.Config{Backoff: steady}, zap.New(core))
				runs := 0

				w.register(&classic{name: "c", run: func(ctx context.Context, r controller.Runtime) error {
					runs++

					switch {
					case runs == 4:
						healthy(r)
					case runs > 5:
						<-ctx.Done()
					}

					return errBroken
				}})
				w.start()
				time.Sleep(time.Hour)

				var attempts []int64
				for _, entry := range logs.All() {
					attempts = append(attempts, entry.ContextMap()["attempt"].(int64))
				}

				assert.Equal(t, []int64{1, 2, 3, 1, 2}, attempts)
				w.end()
			})
		})
	}
}

// A controller whose Run returns nil has finished, and stays finished however often it is woken.
func TestFinishedStaysFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		w := newWorld(t, nil, runtime.Config{}, zap.New(core))
		runs := 0

		w.register(&classic{name: "once", inputs: []controller.Input{sources(controller.InputWeak)}, run: func(context.Context, controller.Runtime) error {
			runs++

			return nil
		}})
		w.start()
		synctest.Wait()
		w.create(newSource("s", 0))
		require.NoError(t, w.Trigger("once"))
		time.Sleep(time.Hour)

		assert.Equal(t, 1, runs)
		assert.Equal(t, adapter.Finished, w.Health().Controllers[0].Phase)
		assert.Empty(t, w.Health().Problems())
		assert.Len(t, logs.FilterMessageSnippet("finished").All(), 1)
		w.end()
	})
}

// Each problem is one line, and tells a run hook that fails from a controller that does.
func TestProblemsAreOneLineEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Backoff: steady}, nil)
		several := errors.Join(errBroken, errors.New("and worse"))

		w.register(&classic{name: "c", pass: func(context.Context, controller.Runtime) error { return several }})
		w.register(&queued{name: "hook", settings: controller.QSettings{RunHook: func(context.Context, *zap.Logger, controller.QRuntime) error { return several }}})
		w.register(&queued{name: "items", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error { return several }})
		w.create(newSource("s", 0))
		w.start()
		synctest.Wait()

		assert.Equal(t, []string{
			`controller "c" is backing off after failure 1: connection reset; and worse`,
			`run hook of controller "hook" is backing off after failure 1: connection reset; and worse`,
			`controller "items" has a failing item, the last error was: connection reset; and worse`,
		}, w.Health().Problems())
		w.end()
	})
}

// A fresh change overtakes a pending retry of its item.
func TestFreshChangeOvertakesRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Backoff: backoff.Policy{Base: time.Hour, Factor: 1, Max: time.Hour}}, nil)

		var at journal[time.Duration]

		begin := time.Now()

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				at.add(time.Since(begin))

				s, err := safe.ReaderGet[*source](ctx, r, ptr)
				if err != nil || s.TypedSpec().N > 0 {
					return err
				}

				return errBroken
			}})
		w.create(newSource("s", 0))
		w.start()
		time.Sleep(time.Minute)
		w.set("s", 1)
		time.Sleep(5 * time.Hour)

		assert.Equal(t, []time.Duration{0, time.Minute}, at.all(), "and the retry that was overtaken does not come any more")
		w.end()
	})
}

// What a queue controller may ask for by what it returns.
func TestRequeueRulings(t *testing.T) {
	second := func(d ...int) (times []time.Duration) {
		for _, s := range d {
			times = append(times, time.Duration(s)*time.Second)
		}

		return times
	}

	for name, ruling := range map[string]struct {
		returns error
		at      []time.Duration // of the first passes, all of which return the same
		errors  int             // logged by then
	}{
		"interval":                        {controller.NewRequeueInterval(5 * time.Second), second(0, 5, 10, 15), 0},
		"zero interval is backoff":        {controller.NewRequeueInterval(0), second(0, 1, 3, 7), 0},
		"negative interval is backoff":    {controller.NewRequeueInterval(-time.Hour), second(0, 1, 3, 7), 0},
		"error with interval":             {controller.NewRequeueErrorf(5*time.Second, "no"), second(0, 5, 10, 15), 4},
		"error with zero interval":        {controller.NewRequeueErrorf(0, "no"), second(0, 1, 3, 7), 4},
		"joined with a sooner interval":   {errors.Join(errBroken, controller.NewRequeueInterval(time.Second)), second(0, 1, 2, 3), 4},
		"joined with a later interval":    {errors.Join(errBroken, controller.NewRequeueInterval(3*time.Second)), second(0, 1, 3, 6), 4},
		"wrapped around a later interval": {fmt.Errorf("no: %w", controller.NewRequeueInterval(time.Hour)), second(0, 1, 3, 7), 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zap.ErrorLevel)
				w := newWorld(t, nil, runtime.Config{Backoff: steady}, zap.New(core))

				var at journal[time.Duration]

				begin := time.Now()

				w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
					reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
						at.add(time.Since(begin))

						return ruling.returns
					}})
				w.create(newSource("s", 0))
				w.start()
				time.Sleep(ruling.at[len(ruling.at)-1])
				synctest.Wait()

				assert.Equal(t, ruling.at, at.all())
				assert.Len(t, logs.All(), ruling.errors)
				w.end()
			})
		})
	}
}

// One wrong pointer among those that MapInput returns queues nothing, and the error names it.
func TestMapInputIsCheckedAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.ErrorLevel)
		w := newWorld(t, nil, runtime.Config{Backoff: steady}, zap.New(core))

		var (
			reconciled journal[string]
			good       atomic.Bool
		)

		good.Store(true)

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{targets(controller.InputQPrimary), sources(controller.InputQMapped)}},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				reconciled.add(ptr.ID())

				return nil
			},
			mapInput: func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				if good.Load() {
					return []resource.Pointer{targetPtr("good")}, nil
				}

				return []resource.Pointer{targetPtr("good"), resource.NewMetadata("elsewhere", targetType, "bad", resource.VersionUndefined)}, nil
			}})
		w.start()
		synctest.Wait()

		good.Store(false)

		w.create(newSource("s", 0))
		time.Sleep(4 * time.Second)
		assert.Empty(t, reconciled.all())

		entries := logs.All()
		require.Len(t, entries, 3, "one line for each attempt")
		assert.Contains(t, entries[0].ContextMap()["error"], "elsewhere/bad")

		good.Store(true)

		time.Sleep(time.Minute)
		assert.Equal(t, []string{"good"}, reconciled.all())
		w.end()
	})
}

// Items that wait for a later time have their turn while fresh ones keep arriving.
func TestTimedItemsAreNotStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var passes atomic.Int64 // of the periodic item

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				time.Sleep(time.Millisecond) // the work of a pass

				if ptr.ID() == "periodic" {
					passes.Add(1)

					return controller.NewRequeueInterval(10 * time.Millisecond)
				}

				return nil
			}})
		w.create(newSource("periodic", 0))
		w.start()

		for i := range 50 {
			w.create(newSource(fmt.Sprintf("%02d", i), 0))
		}

		for i := range 2000 { // two seconds of work arrive within one
			w.set(fmt.Sprintf("%02d", i%50), i)
			time.Sleep(500 * time.Microsecond)
		}

		// A round of the queue takes 51 passes of a millisecond each.
		assert.GreaterOrEqual(t, passes.Load(), int64(1000/51-2))
		time.Sleep(time.Minute)
		w.end()
	})
}
