package runtime_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// Of many that register one name at once, one gets it; whoever has it can be found under it and unregistered.
func TestManyWantOneName(t *testing.T) {
	w := newWorld(t, nil, runtime.Config{}, nil)
	w.start()

	var (
		all     sync.WaitGroup
		holders atomic.Int32
		wins    atomic.Int32
	)

	for i := range 100 {
		all.Go(func() {
			for range 20 {
				var ctrl any = &classic{name: "one", inputs: []controller.Input{sources(controller.InputWeak)}, outputs: []controller.Output{exclusive(targetType)}, pass: idle}
				if i%2 == 0 {
					ctrl = &queued{name: "one", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}, Outputs: []controller.Output{exclusive(targetType)}}}
				}

				err := w.tryRegister(ctrl)
				if errors.Is(err, dependency.ErrNameTaken) {
					continue
				}

				assert.NoError(t, err)
				assert.EqualValues(t, 1, holders.Add(1))
				wins.Add(1)

				if i%2 == 0 {
					assert.NoError(t, w.Trigger("one", sourcePtr("s")))
				} else {
					assert.NoError(t, w.Trigger("one"))
				}

				holders.Add(-1)
				assert.NoError(t, w.Unregister(t.Context(), "one"))
			}
		})
	}

	all.Wait()
	assert.Positive(t, wins.Load())
	assert.Empty(t, w.Health().Controllers)
	assert.Empty(t, w.Health().Kinds)
	w.end()
}

// Everything at once, from everywhere, until the end and beyond: nothing hangs, panics or is left, and nothing is an
// error that is none.
func TestEverythingAtOnce(t *testing.T) {
	for seed := range uint64(4) {
		core, logs := observer.New(zap.ErrorLevel)
		st := newFaulty(newState())
		w := newWorld(t, st.asState(), runtime.Config{Options: []options.Option{options.WithCachedResource(ns, sourceType)}, Seed: seed}, zap.New(core))
		w.register(qmirror(2))

		ctx, cancel := context.WithCancel(t.Context())

		var all sync.WaitGroup

		loop := func(act func(r *rand.Rand)) {
			r := rand.New(rand.NewPCG(seed, 1))

			all.Go(func() {
				for ctx.Err() == nil {
					act(r)
				}
			})
		}

		tolerated := func(err error, kinds ...error) {
			for _, kind := range kinds {
				if errors.Is(err, kind) {
					return
				}
			}

			assert.NoError(t, err)
		}

		for range 3 {
			loop(func(r *rand.Rand) {
				name := strconv.Itoa(r.IntN(4))
				tolerated(w.tryRegister(churning(w, name, r.IntN(3))), dependency.ErrNameTaken, runtime.ErrStopped, runtime.ErrUnregistering)
			})
			loop(func(r *rand.Rand) {
				tolerated(w.Unregister(ctx, strconv.Itoa(r.IntN(4))), runtime.ErrNotRegistered, context.Canceled)
			})
		}

		loop(func(r *rand.Rand) { tolerated(w.Trigger("qmirror"), runtime.ErrNotRegistered) })
		loop(func(*rand.Rand) { w.Health().Problems() })
		loop(func(*rand.Rand) {
			_, err := w.GetDependencyGraph()
			assert.NoError(t, err)
		})
		loop(func(*rand.Rand) {
			_, err := w.CachedState().List(ctx, sourcePtr(""))
			tolerated(err, context.Canceled)
		})
		loop(func(r *rand.Rand) {
			id := strconv.Itoa(r.IntN(10))

			if err := w.state.Create(context.Background(), newSource(id, 0)); state.IsConflictError(err) {
				_ = w.state.Destroy(context.Background(), sourcePtr(id))
			}
		})

		if seed%2 == 0 {
			loop(func(*rand.Rand) { st.breakAll(sourceType, errBroken) })
		}

		running, stop := context.WithCancel(t.Context())
		ended := make(chan error, 3)

		for range 3 {
			go func() { ended <- w.Run(running) }()
		}

		require.ErrorIs(t, <-ended, runtime.ErrRunning)
		require.ErrorIs(t, <-ended, runtime.ErrRunning)
		require.Eventually(t, func() bool { return len(st.opened(sourceType)) > 0 && w.Health().Running }, 10*time.Second, time.Millisecond)

		for range 50 {
			w.Health()
			_ = w.Trigger("0")
		}

		stop()
		require.NoError(t, <-ended)
		cancel()
		all.Wait()
		assert.Empty(t, logs.All())

		// Unregistrations that nobody waited for go on.
		for _, c := range w.Health().Controllers {
			tolerated(w.Unregister(t.Context(), c.Name), runtime.ErrNotRegistered)
		}

		require.Eventually(t, func() bool { return len(w.Health().Controllers) == 0 }, 10*time.Second, time.Millisecond)
	}
}

// churning is a controller that does to the engine what it can from inside.
func churning(w *world, name string, form int) any {
	inputs := []controller.Input{sources(controller.InputWeak), byID(targets(controller.InputDestroyReady), "t")}

	switch form {
	case 0:
		return &queued{name: name, settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQMapped), targets(controller.InputQPrimary)}},
			reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				w.Health()

				return quiet(ctx, w.Trigger(name, ptr))
			},
			mapInput: func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				return []resource.Pointer{targetPtr("t")}, nil
			}}
	case 1:
		return &classic{name: name, inputs: inputs, pass: func(ctx context.Context, r controller.Runtime) error {
			_, err := r.List(ctx, sourcePtr(""))
			if err != nil {
				return err
			}

			return r.UpdateInputs(append(inputs, byID(targets(controller.InputStrong), strconv.Itoa(rand.IntN(5)))))
		}}
	default:
		return &classic{name: name, inputs: inputs, run: func(ctx context.Context, r controller.Runtime) error {
			err := w.RegisterController(&classic{name: name + " child", inputs: inputs[:1], pass: idle})
			if err == nil {
				err = quiet(ctx, w.Unregister(ctx, name+" child"))
			}

			if errors.Is(err, runtime.ErrStopped) {
				return nil
			}

			<-ctx.Done()

			return ctx.Err()
		}}
	}
}

// quiet is the error unless it comes of the end.
func quiet(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, runtime.ErrNotRegistered) {
		return nil
	}

	return err
}

// A controller that was started beside a first watch that then fails is waited for, and the runtime does not claim that
// it could run again.
func TestEndRunWaitsForWhoWasStartedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := make(chan struct{})
		st := &script{State: newState(), call: func(context.Context, int, chan<- []state.Event, state.WatchKindOptions) error {
			<-fail

			return errBroken
		}}
		w := newWorld(t, st, runtime.Config{OnWatchFailure: runtime.EndRun}, nil)
		w.register(mirror())

		ended := make(chan error, 1)

		go func() { ended <- w.Run(t.Context()) }()

		synctest.Wait()

		over := false

		w.register(&classic{name: "early", inputs: []controller.Input{targets(controller.InputWeak)}, run: func(ctx context.Context, _ controller.Runtime) error {
			<-ctx.Done()
			time.Sleep(time.Minute)

			over = true

			return nil
		}})
		synctest.Wait()
		close(fail)

		require.ErrorIs(t, <-ended, errBroken)
		assert.True(t, over, "Run has returned before its controller has")
		require.ErrorIs(t, w.Run(t.Context()), runtime.ErrStopped)
	})
}

// A controller that is being registered when Run begins is started once its watch was opened, as any other, so that it
// misses nothing.
func TestRegistrationInFlightWhenRunBegins(t *testing.T) {
	opening, release := make(chan struct{}), make(chan struct{})
	st := &script{State: newState()}
	st.call = func(ctx context.Context, _ int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
		close(opening)
		<-release

		return st.State.WatchKindAggregated(ctx, sourcePtr(""), ch, asOptions(opts)...)
	}

	// Run waits for the watch of targets, and then for whoever starts the first controller, who waits for the clock.
	targetsOpen := make(chan struct{})
	clock := &slowClock{Clock: clockwork.NewRealClock(), asked: make(chan struct{}), release: make(chan struct{})}
	asked := make(chan struct{})
	w := newWorld(t, &deafTargets{State: st, asked: asked, release: targetsOpen}, runtime.Config{OnWatchFailure: runtime.EndRun, Clock: clock}, nil)
	w.register(&classic{name: "first", inputs: []controller.Input{targets(controller.InputWeak)}, pass: idle})
	w.start()
	require.Eventually(t, func() bool { return w.Health().Running }, 10*time.Second, time.Millisecond)
	<-asked // nobody else asks for the time any more

	var all sync.WaitGroup

	all.Go(func() {
		clock.left.Store(2) // once when it is made, once when it is started
		w.register(&classic{name: "second", pass: idle})
	})
	<-clock.asked

	var seen journal[int]

	all.Go(func() {
		w.register(&classic{name: "in flight", inputs: []controller.Input{sources(controller.InputWeak)}, pass: func(ctx context.Context, r controller.Runtime) error {
			list, err := r.List(ctx, sourcePtr(""))
			seen.add(len(list.Items))

			return err
		}})
	})
	require.Eventually(t, func() bool {
		graph, err := w.GetDependencyGraph()

		return err == nil && len(graph.Edges) == 2
	}, 10*time.Second, time.Millisecond)

	close(targetsOpen)
	close(clock.release)
	<-opening
	w.create(newSource("s", 1))
	close(release)
	all.Wait()
	require.Eventually(t, func() bool { return seen.last() == 1 }, 10*time.Second, time.Millisecond)
	w.end()
}

// slowClock waits when it is asked for the time for the last of the times that are left, and never where none are.
type slowClock struct {
	clockwork.Clock

	left           atomic.Int32
	asked, release chan struct{}
}

func (c *slowClock) Now() time.Time {
	if c.left.Add(-1) == 0 {
		close(c.asked)
		<-c.release
	}

	return c.Clock.Now()
}

// A run that failed before it started anything may begin again, but not before it is over.
func TestRunAgainOnceTheFailedOneIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		st := &script{State: newState()}
		st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
			if n == 0 {
				return errBroken
			}

			return st.State.WatchKindAggregated(ctx, sourcePtr(""), ch, asOptions(opts)...)
		}

		deaf := &deafTargets{State: st, release: release}
		w := newWorld(t, deaf, runtime.Config{OnWatchFailure: runtime.EndRun}, nil)
		w.register(mirror())
		w.register(&classic{name: "other", inputs: []controller.Input{targets(controller.InputWeak)}, pass: idle})

		ended := make(chan error, 1)

		go func() { ended <- w.Run(t.Context()) }()

		synctest.Wait()
		require.ErrorIs(t, w.Run(t.Context()), runtime.ErrStopped, "the first run is not over")
		close(release)
		require.ErrorIs(t, <-ended, errBroken)

		w.create(newSource("s", 1))
		w.start()
		synctest.Wait()
		w.requireMirrored()
		w.end()
	})
}

// A run that failed and left something behind does not run again, and tells of both.
func TestFailedRunWithStragglersIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		st := &script{State: newState(), call: func(context.Context, int, chan<- []state.Event, state.WatchKindOptions) error { return errBroken }}
		w := newWorld(t, &deafTargets{State: st, release: release}, runtime.Config{OnWatchFailure: runtime.EndRun, Grace: time.Second}, nil)
		w.register(mirror())
		w.register(&classic{name: "other", inputs: []controller.Input{targets(controller.InputWeak)}, pass: idle})

		err := w.Run(t.Context())
		require.ErrorIs(t, err, errBroken)

		var stragglers *runtime.StragglersError
		require.ErrorAs(t, err, &stragglers)
		assert.Equal(t, []string{ns + "/" + targetType}, stragglers.Watches)
		require.ErrorIs(t, w.Run(t.Context()), runtime.ErrStopped)
		close(release)
	})
}

type deafTargets struct {
	state.State

	asked   chan struct{} // closed then; may be nil
	release chan struct{}
}

func (s *deafTargets) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	if kind.Type() == targetType {
		if s.asked != nil {
			close(s.asked)
		}

		<-s.release
	}

	return s.State.WatchKindAggregated(ctx, kind, ch, opts...)
}

// Unregistrations that come while the engine stops do not disturb it.
func TestUnregisterWhileStopping(t *testing.T) {
	for range 300 {
		w := newWorld(t, nil, runtime.Config{}, nil)

		for i := range 8 {
			w.register(&classic{name: strconv.Itoa(i), pass: idle})
		}

		w.start()

		var all sync.WaitGroup

		for i := range 8 {
			all.Go(func() { assert.NoError(t, w.Unregister(t.Context(), strconv.Itoa(i))) })
		}

		w.end()
		all.Wait()
	}
}

// Run under a context that has ended starts nobody and returns.
func TestRunUnderAContextThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		w := newWorld(t, nil, cachedSources(), zap.New(core))

		w.register(&classic{name: "c", inputs: []controller.Input{sources(controller.InputWeak)}, run: func(context.Context, controller.Runtime) error {
			t.Error("it was started")

			return nil
		}})
		w.register(&queued{name: "q", settings: controller.QSettings{
			Inputs: []controller.Input{sources(controller.InputQPrimary)}, ShutdownHook: func() { t.Error("it was never started") },
		}})

		ctx, cancel := context.WithCancel(t.Context())
		cancel()

		require.NoError(t, w.Run(ctx))
		require.ErrorIs(t, w.Run(t.Context()), runtime.ErrStopped)
		assert.Empty(t, logs.All())
		assert.Contains(t, w.Health().Problems(), "the engine does not run")

		for _, c := range w.Health().Controllers {
			assert.Equal(t, adapter.Stopped, c.Phase)
		}
	})
}

// One of two engines over one state stops in the middle of it all; the other one does not notice.
func TestOneOfTwoEnginesStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newState()
		first, second := newWorld(t, st, cachedSources(), nil), newWorld(t, st, cachedSources(), nil)

		first.register(&classic{name: "reader", inputs: []controller.Input{sources(controller.InputWeak)}, pass: idle})
		second.register(mirror())
		first.start()
		second.start()

		for i := range 100 {
			second.create(newSource(strconv.Itoa(i), i))

			if i == 50 {
				first.end()
			}
		}

		synctest.Wait()
		second.requireMirrored()

		for _, kind := range first.Health().Kinds {
			assert.False(t, kind.Open, kind.Kind)
		}

		second.end()
	})
}
