package runtime_test

import (
	"context"
	"expvar"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// rude is an error that panics when it is printed.
type rude struct{}

func (rude) Error() string { panic("not for you") }

// bomb is one that panics with what can not be printed either.
type bomb struct{}

func (bomb) Error() string { panic(bomb{}) }

// trap is an error that can not be asked what it wraps, and what it panics with can not be printed.
type trap struct{}

func (trap) Error() string { return "a trap" }
func (trap) Unwrap() error { panic(bomb{}) }

// liar is an error that says to be whatever it is asked for, and then is nothing.
type liar struct{}

func (liar) Error() string { return "a lie" }
func (liar) As(any) bool   { return true }

// Whatever strange error a callback returns or panics with, it is a failure like others: logged once, and tried again.
func TestStrangeErrorsAreFailures(t *testing.T) {
	var (
		noPath    *fs.PathError
		noRequeue *controller.RequeueError
	)

	for name, fail := range map[string]func() error{
		"nil pointer to an error":            func() error { return noPath },
		"nil pointer to a requeue":           func() error { return noRequeue },
		"error that panics when printed":     func() error { return rude{} },
		"error that can not be printed":      func() error { return bomb{} },
		"error that can not be asked":        func() error { return trap{} },
		"error that says to be any other":    func() error { return liar{} },
		"panic with a nil pointer":           func() error { panic(noPath) },
		"panic with an error that panics":    func() error { panic(rude{}) },
		"panic with what can not be printed": func() error { panic(bomb{}) },
		"requeue with an error like that":    func() error { return controller.NewRequeueError(rude{}, time.Second) },
		"requeue with a nil pointer therein": func() error { return controller.NewRequeueError(noPath, time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zap.ErrorLevel)
				w := newWorld(t, nil, runtime.Config{}, zap.New(core))

				var did journal[string]

				var before sync.Map

				once := func(what string) error {
					did.add(what)

					if _, again := before.LoadOrStore(what, true); again {
						return nil
					}

					return fail()
				}

				w.register(&classic{name: "c", run: func(context.Context, controller.Runtime) error { return once("run") }})
				w.register(&queued{name: "q",
					settings: controller.QSettings{
						Inputs:  []controller.Input{sources(controller.InputQPrimary), targets(controller.InputQMapped)},
						RunHook: func(context.Context, *zap.Logger, controller.QRuntime) error { return once("hook") },
					},
					reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error { return once("reconcile") },
					mapInput: func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
						return nil, once("map")
					}})
				w.create(newSource("s", 1))
				w.start()
				synctest.Wait()
				w.create(newTarget("t", 1))
				synctest.Wait()

				assert.Len(t, w.Health().Problems(), 2)

				time.Sleep(time.Minute)
				assert.ElementsMatch(t, []string{"run", "run", "hook", "hook", "reconcile", "reconcile", "map", "map"}, did.all())
				assert.Empty(t, w.Health().Problems())
				assert.Len(t, logs.All(), 4)

				for _, entry := range logs.All() {
					assert.NotEmpty(t, entry.ContextMap()["error"])
				}

				w.end()
			})
		})
	}
}

// A controller that has been unregistered has no say any more, whatever of it is still running somewhere.
func TestUnregisteredControllerIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		handed := make(chan controller.Runtime, 1)

		w.register(&classic{name: "former", inputs: []controller.Input{sources(controller.InputStrong)}, outputs: []controller.Output{exclusive(targetType)},
			run: func(ctx context.Context, r controller.Runtime) error {
				handed <- r
				<-ctx.Done()

				// As long as it has not come back, it may put things in order.
				if err := r.AddFinalizer(context.WithoutCancel(ctx), sourcePtr("s"), "former"); err != nil {
					return err
				}

				if err := r.Create(context.WithoutCancel(ctx), newTarget("last", 1)); err != nil {
					return err
				}

				return r.Destroy(context.WithoutCancel(ctx), targetPtr("last"))
			}})
		w.create(newSource("s", 1))
		w.start()
		synctest.Wait()
		require.NoError(t, w.Unregister(t.Context(), "former"))

		s, err := w.state.Get(t.Context(), sourcePtr("s"))
		require.NoError(t, err)
		assert.True(t, s.Metadata().Finalizers().Has("former"))

		w.register(&classic{name: "next", outputs: []controller.Output{exclusive(targetType)}, pass: idle})

		r := <-handed
		require.ErrorIs(t, r.Create(t.Context(), newTarget("t", 1)), stateadapter.ErrNotWritable)
		_, err = r.Get(t.Context(), targetPtr("t"))
		require.ErrorIs(t, err, stateadapter.ErrNotReadable)
		_, err = r.Get(t.Context(), sourcePtr("s"))
		require.ErrorIs(t, err, stateadapter.ErrNotReadable)
		require.ErrorIs(t, r.RemoveFinalizer(t.Context(), sourcePtr("s"), "former"), stateadapter.ErrNotHoldable)
		require.Error(t, r.UpdateInputs([]controller.Input{sources(controller.InputWeak)}))
		r.QueueReconcile()
		r.ResetRestartBackoff()

		w.end()
	})
}

// A controller that waits for a watch that hangs, since it has updated its inputs, ends when it is told to.
func TestUnregisterDuringAnUpdateOfInputsThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, state.WrapCore(hanging{newState()}), runtime.Config{}, nil)

		update := func(ctx context.Context, r controller.Runtime) error {
			return r.UpdateInputs([]controller.Input{sources(controller.InputWeak)})
		}

		w.register(&classic{name: "stays", pass: update})
		w.register(&classic{name: "goes", pass: update})
		w.start()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		require.NoError(t, w.Unregister(ctx, "goes"))
		w.end()
	})
}

// An update of inputs returns when the new ones are watched, to whichever of a controller's goroutines has asked for them.
func TestUpdateOfInputsWaitsForItsWatches(t *testing.T) {
	release := make(chan struct{})
	w := newWorld(t, &deafTargets{State: newState(), release: release}, runtime.Config{}, nil)

	var updated atomic.Int32

	w.register(&classic{name: "c", run: func(ctx context.Context, r controller.Runtime) error {
		var all sync.WaitGroup

		for range 4 {
			all.Go(func() {
				assert.NoError(t, r.UpdateInputs([]controller.Input{targets(controller.InputWeak)}))
				updated.Add(1)
			})
		}

		all.Wait()
		<-ctx.Done()

		return nil
	}})
	w.start()
	require.Eventually(t, func() bool { return len(w.Health().Kinds) == 1 }, 10*time.Second, time.Millisecond)

	for range 1000 {
		w.Health()
	}

	assert.Zero(t, updated.Load())
	close(release)
	require.Eventually(t, func() bool { return updated.Load() == 4 }, 10*time.Second, time.Millisecond)
	w.end()
}

// A queue controller that comes to a kind that others have long been tracking gets what there is.
func TestLateQueueControllerOfATrackedKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)
		w.register(&queued{name: "tracks", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}}})
		w.create(newSource("a", 1), newSource("b", 2))
		w.start()
		synctest.Wait()
		w.register(qmirror(1))
		synctest.Wait()
		w.requireMirrored()
		w.end()
	})
}

// Whoever reads the metrics, and takes his time, does not hold up a registration.
func TestRegistrationDoesNotWaitForReadersOfMetrics(t *testing.T) {
	w := newWorld(t, nil, runtime.Config{}, nil)
	w.start()
	require.Eventually(t, func() bool { return w.Health().Running }, 10*time.Second, time.Millisecond)

	reading, release := make(chan struct{}), make(chan struct{})

	var reader sync.WaitGroup

	reader.Go(func() {
		begun := sync.OnceFunc(func() { close(reading) })

		expvar.Get("switchyard").(*expvar.Map).Do(func(engine expvar.KeyValue) {
			engine.Value.(*expvar.Map).Do(func(expvar.KeyValue) {
				begun()
				<-release
			})
		})
	})

	<-reading

	registered := make(chan error, 1)

	go func() { registered <- w.RegisterController(&classic{name: "c", pass: idle}) }()

	select {
	case err := <-registered:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Error("the registration waits for the reader")
	}

	close(release)
	reader.Wait()
	w.end()
}

// Odd ids, and very many of them, are ids like others; one can not be confused with another.
func TestOddIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, cachedSources(), nil)
		ids := []resource.ID{" ", "/", "a/b", "ключ", "🚂", "\x00", "\xff\xfe", strings.Repeat("x", 1<<16), `"quoted"`, "new\nline"}

		var mapped, reconciled journal[resource.ID]

		w.register(&queued{name: "q",
			settings: controller.QSettings{
				Inputs: []controller.Input{sources(controller.InputQPrimary), targets(controller.InputQMapped)}, Concurrency: optional.Some[uint](math.MaxInt32),
			},
			reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				reconciled.add(ptr.ID())
				_, err := r.Get(ctx, ptr)

				return err
			},
			mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				mapped.add(md.ID())

				return []resource.Pointer{sourcePtr(md.ID()), sourcePtr(md.ID())}, nil
			}})

		for _, id := range ids {
			w.create(newSource(id, 1))
		}

		w.start()
		synctest.Wait()
		require.ElementsMatch(t, ids, reconciled.all())

		for _, id := range ids {
			w.create(newTarget(id, 1))
		}

		synctest.Wait()
		require.ElementsMatch(t, ids, mapped.all())
		require.Equal(t, 2*len(ids), reconciled.len())

		for _, id := range ids {
			require.NoError(t, w.Trigger("q", sourcePtr(id)))
		}

		synctest.Wait()
		require.Equal(t, 3*len(ids), reconciled.len())
		w.end()
	})
}

// A mapping to very many primaries queues each once, and an interval without end is one.
func TestVeryManyAndVeryLong(t *testing.T) {
	const many = 100_000

	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var passes int

		w.register(&queued{name: "q",
			settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary), targets(controller.InputQMapped)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				passes++

				return controller.NewRequeueInterval(math.MaxInt64)
			},
			mapInput: func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				ptrs := make([]resource.Pointer, 0, 2*many)
				for range 2 {
					for i := range many {
						ptrs = append(ptrs, sourcePtr(strconv.Itoa(i)))
					}
				}

				return ptrs, nil
			}})
		w.start()
		synctest.Wait()
		w.create(newTarget("t", 1))
		synctest.Wait()
		require.Equal(t, many, passes)

		time.Sleep(24 * time.Hour)
		require.Equal(t, many, passes)
		require.Equal(t, many, w.Health().Controllers[0].Delayed)
		w.end()
	})
}

// Goroutines of one controller that share its wakeups get each once, and may use its runtime side by side.
func TestControllerOfManyGoroutines(t *testing.T) {
	w := newWorld(t, nil, cachedSources(), nil)

	var woken journal[int]

	w.register(&classic{name: "many", inputs: []controller.Input{sources(controller.InputWeak)}, outputs: []controller.Output{exclusive(targetType)},
		run: func(ctx context.Context, r controller.Runtime) error {
			var all sync.WaitGroup
			defer all.Wait()

			for i := range 8 {
				all.Go(func() {
					for n := 0; ; n++ {
						select {
						case <-ctx.Done():
							return
						case <-r.EventCh():
						}

						woken.add(i)
						assert.NoError(t, r.UpdateInputs([]controller.Input{sources(controller.InputWeak), byID(targets(controller.InputStrong), strconv.Itoa(i*n))}))
						r.QueueReconcile()
						r.ResetRestartBackoff()
						r.StartTrackingOutputs()

						if _, err := r.List(ctx, sourcePtr("")); err != nil && ctx.Err() == nil {
							assert.NoError(t, err)
						}

						err := r.Modify(ctx, newTarget(strconv.Itoa(i), n), func(resource.Resource) error { return nil })
						if err != nil && ctx.Err() == nil && !state.IsConflictError(err) {
							assert.NoError(t, err)
						}
					}
				})
			}

			return nil
		}})
	w.start()

	require.Eventually(t, func() bool { return woken.len() > 200 }, 10*time.Second, time.Millisecond)
	w.end()
}

// The whole engine needs no clock to move: on one that stands still, everything is done that need not wait.
func TestEngineOnAClockThatStandsStill(t *testing.T) {
	clock := clockwork.NewFakeClock()
	cfg := cachedSources()
	cfg.Clock = clock

	w := newWorld(t, nil, cfg, nil)
	w.register(qmirror(2))
	w.create(newSource("before", 1))
	w.start()
	w.create(newSource("after", 2))
	require.Eventually(t, func() bool { return mirrored(t, w.state) }, 10*time.Second, time.Millisecond)

	w.register(&classic{name: "failing", run: func(context.Context, controller.Runtime) error { return errBroken }})
	require.NoError(t, w.Unregister(t.Context(), "failing"))

	// It may even go back.
	clock.Advance(-time.Hour)
	w.set("after", 3)
	w.create(newSource("later", 3))
	require.Eventually(t, func() bool { return mirrored(t, w.state) }, 10*time.Second, time.Millisecond)
	assert.Empty(t, w.Health().Problems())
	w.end()
}

// A clock that goes back does not keep a retry from coming, once it has caught up.
func TestRetryAfterTheClockWentBack(t *testing.T) {
	clock := clockwork.NewFakeClock()
	w := newWorld(t, nil, runtime.Config{Clock: clock}, nil)

	var passes journal[int]

	w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
		reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
			passes.add(1)

			return errBroken
		}})
	w.create(newSource("s", 1))
	w.start()
	require.Eventually(t, func() bool { return len(w.Health().Controllers) == 1 && w.Health().Controllers[0].Delayed == 1 }, 10*time.Second, time.Millisecond)

	clock.Advance(-time.Hour)
	w.set("s", 2)
	require.Eventually(t, func() bool { return passes.len() == 2 && w.Health().Controllers[0].Delayed == 1 }, 10*time.Second, time.Millisecond)

	clock.Advance(time.Hour + time.Minute)
	require.Eventually(t, func() bool { return passes.len() > 2 }, 10*time.Second, time.Millisecond)
	w.end()
}

// Queue lengths are shown once for each controller, whether it came before Run, with it or after.
func TestQueueLengthIsShownOnce(t *testing.T) {
	for i := range 50 {
		name := "gauged " + strconv.Itoa(i)
		w := newWorld(t, nil, runtime.Config{}, nil)
		w.create(newSource("s", 1))
		w.start()
		w.register(&queued{name: name, settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				return controller.NewRequeueInterval(time.Hour)
			}})
		require.Eventually(t, func() bool { return w.Health().Controllers[0].Delayed == 1 }, 10*time.Second, time.Millisecond)
		require.Equal(t, "1", contract.QControllerQueueLength.Get(name).String())
		require.NoError(t, w.Unregister(t.Context(), name))
		require.Nil(t, contract.QControllerQueueLength.Get(name))
		w.end()
	}
}
