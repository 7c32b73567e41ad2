package runtime_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/runtime"
)

// At the end of the run, callbacks under way see their context end and are waited for; that they return its error is
// nobody's failure; the backlog is dropped; the shutdown hook runs once, after the last worker.
func TestStopIsOrderly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		w := newWorld(t, nil, runtime.Config{}, zap.New(core))

		var did journal[string]

		blocking := func(name string) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				<-ctx.Done()
				time.Sleep(time.Second) // it takes its time to clean up
				did.add(name)

				return ctx.Err()
			}
		}

		w.register(&classic{name: "c", run: func(ctx context.Context, _ controller.Runtime) error { return blocking("run")(ctx) }})
		w.register(&queued{name: "q",
			settings: controller.QSettings{
				Inputs:      []controller.Input{sources(controller.InputQPrimary), targets(controller.InputQMapped)},
				Concurrency: optional.Some[uint](2),
				RunHook: func(ctx context.Context, _ *zap.Logger, _ controller.QRuntime) error {
					return blocking("run hook")(ctx)
				},
				ShutdownHook: func() { did.add("shutdown hook") },
			},
			reconcile: func(ctx context.Context, _ controller.QRuntime, _ resource.Pointer) error {
				return blocking("reconcile")(ctx)
			},
			mapInput: func(ctx context.Context, _ controller.QRuntime, _ controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				return nil, blocking("map")(ctx)
			}})
		w.create(newSource("1", 0))
		w.start()
		synctest.Wait()
		w.create(newTarget("1", 0))
		synctest.Wait()
		w.create(newSource("2", 0), newSource("3", 0))
		synctest.Wait()

		w.end()

		assert.ElementsMatch(t, []string{"run", "run hook", "reconcile", "map", "shutdown hook"}, did.all())

		ofQueue := slices.DeleteFunc(did.all(), func(what string) bool { return what == "run" })
		assert.Equal(t, "shutdown hook", ofQueue[len(ofQueue)-1])
		assert.Empty(t, logs.All(), "an orderly stop is no failure")

		for _, c := range w.Health().Controllers {
			assert.Equal(t, adapter.Stopped, c.Phase, c.Name)
			assert.NoError(t, c.LastError, c.Name)
		}
	})
}

// A shutdown hook that panics or ends its goroutine is contained.
func TestShutdownHookIsContained(t *testing.T) {
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil, runtime.Config{}, nil)
				called := 0

				w.register(&queued{name: "q", settings: controller.QSettings{ShutdownHook: func() {
					called++
					fail()
				}}})
				w.start()
				synctest.Wait()
				w.end()
				assert.Equal(t, 1, called)
			})
		})
	}
}

// A controller that does not heed its context is waited for, and named in the log.
func TestStragglersAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		w := newWorld(t, nil, runtime.Config{}, zap.New(core))
		release := make(chan struct{})

		w.register(&classic{name: "deaf", run: func(context.Context, controller.Runtime) error {
			<-release

			return nil
		}})
		w.register(&classic{name: "good", pass: idle})
		w.start()
		synctest.Wait()
		w.stop()
		time.Sleep(time.Minute)

		select {
		case <-w.ended:
			t.Fatal("Run has left a controller behind")
		default:
		}

		entries := logs.FilterMessageSnippet("still running").All()
		require.NotEmpty(t, entries)

		fields := entries[0].ContextMap()
		assert.Equal(t, []any{"deaf"}, fields["controllers"])
		assert.Equal(t, []any{"deaf (Run for 5s)"}, fields["doing"])
		assert.Contains(t, fields["stacks"], "deaf (Run for 5s)\ngoroutines here: 1\n")
		assert.Contains(t, fields["stacks"], "TestStragglersAreNamed")

		close(release)
		w.end()
	})
}

// What keeps a straggler from ending is told, and since when: the Run, a pass, the run hook or the shutdown hook.
func TestWhatStragglersDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Grace: 10 * time.Second}, nil)
		release := make(chan struct{})
		inputs := []controller.Input{sources(controller.InputQPrimary)}

		w.register(&classic{name: "run", run: func(context.Context, controller.Runtime) error {
			<-release

			return nil
		}})
		w.register(&queued{name: "pass", settings: controller.QSettings{Inputs: inputs},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				<-release

				return nil
			}})
		w.register(&queued{name: "hook", settings: controller.QSettings{Inputs: inputs,
			RunHook: func(context.Context, *zap.Logger, controller.QRuntime) error {
				<-release

				return nil
			}}})
		w.register(&queued{name: "shutdown", settings: controller.QSettings{Inputs: inputs, ShutdownHook: func() { <-release }}})
		w.register(&classic{name: "good", pass: idle})

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		go func() { ended <- w.Run(ctx) }()

		time.Sleep(time.Second)
		w.create(newSource("s", 0))
		time.Sleep(time.Second)
		cancel()

		var stragglers *runtime.StragglersError
		require.ErrorAs(t, <-ended, &stragglers)
		assert.Equal(t, []string{"run", "pass", "hook", "shutdown"}, stragglers.Controllers)
		assert.Equal(t, []runtime.Straggler{
			{Controller: "run", Doing: "Run", For: 12 * time.Second},
			{Controller: "pass", Doing: "reconcile " + sourceType + "(" + ns + "/s)", For: 11 * time.Second},
			{Controller: "hook", Doing: "run hook", For: 12 * time.Second},
			{Controller: "shutdown", Doing: "shutdown hook", For: 10 * time.Second},
		}, stragglers.Stragglers)
		assert.Contains(t, stragglers.Error(), "controllers run (Run for 12s), pass (reconcile ")

		close(release)
	})
}

// With a grace, Run gives up on it, with an error that names it.
func TestGraceRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Grace: 10 * time.Second}, nil)
		release := make(chan struct{})

		w.register(&classic{name: "good", pass: idle})
		w.register(&classic{name: "deaf", run: func(context.Context, controller.Runtime) error {
			<-release

			return nil
		}})

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		go func() { ended <- w.Run(ctx) }()

		synctest.Wait()
		cancel()

		begin := time.Now()
		err := <-ended

		var stragglers *runtime.StragglersError
		require.ErrorAs(t, err, &stragglers)
		assert.Equal(t, []string{"deaf"}, stragglers.Controllers)
		assert.Contains(t, w.Health().Problems(), `controller "deaf" has not ended with the engine: Run has not come back`)
		assert.Equal(t, 10*time.Second, time.Since(begin))
		assert.Contains(t, err.Error(), "deaf")

		close(release)
	})
}

// The grace covers a state that does not heed the context of a watch, and the error names the kind.
func TestGraceCoversWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &deafState{State: newState(), release: make(chan struct{})}
		w := newWorld(t, st, runtime.Config{Grace: 10 * time.Second}, nil)
		w.register(&classic{name: "c", inputs: []controller.Input{sources(controller.InputWeak)}, pass: idle})

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		go func() { ended <- w.Run(ctx) }()

		time.Sleep(time.Minute)
		cancel()

		var stragglers *runtime.StragglersError
		require.ErrorAs(t, <-ended, &stragglers)
		assert.Empty(t, stragglers.Controllers)
		assert.Equal(t, []string{ns + "/" + sourceType}, stragglers.Watches)

		close(st.release)
	})
}

type deafState struct {
	state.State

	release chan struct{}
}

func (s *deafState) WatchKindAggregated(context.Context, resource.Kind, chan<- []state.Event, ...state.WatchKindOption) error {
	<-s.release

	return errBroken
}

// Controllers that back off, wait for a requeue or for their first contents do not hold up the end.
func TestStopWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		st.refuse[targetType] = errBroken
		w := newWorld(t, st.asState(), cachedSources(), nil)

		w.register(&classic{name: "backing off", run: func(context.Context, controller.Runtime) error { return errBroken }})
		w.register(&queued{name: "delayed", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				return controller.NewRequeueInterval(time.Hour)
			}})
		w.register(&classic{name: "unwatched", inputs: []controller.Input{targets(controller.InputWeak)}, pass: idle})
		w.create(newSource("s", 0))
		w.start()
		time.Sleep(time.Second)

		begin := time.Now()
		w.end()
		assert.Zero(t, time.Since(begin))
	})
}
