package runtime_test

import (
	"context"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/runtime"
)

// hangHere is where a stuck pass stands.
func hangHere(release <-chan struct{}) { <-release }

// A pass that does not come back is named in the log once, and again when its time has doubled, with what it does and where it
// stands; metric and health tell of it; once it is back, that is said too.
func TestStuckPassIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		w := newWorld(t, nil, runtime.Config{StuckAfter: 10 * time.Second}, zap.New(core))
		release := make(chan struct{})

		w.register(&queued{
			name: `q "1"`, settings: controller.QSettings{
				Inputs: []controller.Input{sources(controller.InputQPrimary)}, Concurrency: optional.Some[uint](2),
			},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				if ptr.ID() == "s" {
					hangHere(release)
				}

				return nil
			},
		})
		w.register(&classic{name: "well", pass: idle})
		w.create(newSource("s", 0), newSource("other", 0))
		w.start()
		time.Sleep(9 * time.Second)
		synctest.Wait()
		require.Empty(t, logs.All())
		require.Equal(t, "0", ownMetric("stuck_controllers"))

		time.Sleep(2 * time.Second)
		synctest.Wait()

		require.Len(t, logs.All(), 1)
		assert.Equal(t, zap.WarnLevel, logs.All()[0].Level)
		assert.Equal(t, "controller is stuck", logs.All()[0].Message)

		fields := logs.All()[0].ContextMap()
		assert.Equal(t, `q "1"`, fields["controller"])
		assert.Equal(t, "reconcile "+sourceType+"("+ns+"/s)", fields["doing"])
		assert.Equal(t, 10*time.Second, fields["for"])

		stacks := fields["stacks"].(string)
		assert.True(t, strings.HasPrefix(stacks, "goroutines here: 1\n"), stacks)
		assert.Contains(t, stacks, "runtime_test.hangHere+")
		assert.Contains(t, stacks, "promise_stuck_test.go:")
		assert.NotContains(t, stacks, "\t")
		assert.NotContains(t, stacks, "watchdog", "only its own goroutines")

		require.Equal(t, "1", ownMetric("stuck_controllers"))
		require.True(t, w.Health().Controllers[0].Stuck)
		require.False(t, w.Health().Controllers[1].Stuck)

		time.Sleep(80 * time.Second)
		synctest.Wait()

		var told []time.Duration
		for _, entry := range logs.All() {
			told = append(told, entry.ContextMap()["for"].(time.Duration))
		}

		assert.Equal(t, []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second}, told)

		close(release)
		time.Sleep(10 * time.Second)
		synctest.Wait()

		entries := logs.All()[4:]
		require.Len(t, entries, 1)
		assert.Equal(t, zap.InfoLevel, entries[0].Level)
		assert.Equal(t, "controller is not stuck any more", entries[0].Message)
		assert.Equal(t, "0", ownMetric("stuck_controllers"))

		time.Sleep(time.Hour)
		assert.Equal(t, 5, logs.Len())
		w.end()
	})
}

// A classic controller is stuck when it does not take its wakeup, and when it does not end its pass.
func TestStuckClassicControllerIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		w := newWorld(t, nil, runtime.Config{}, zap.New(core))
		hang, release := false, make(chan struct{})

		w.register(&classic{name: "deaf", inputs: []controller.Input{sources(controller.InputWeak)}, run: func(ctx context.Context, _ controller.Runtime) error {
			<-ctx.Done()

			return nil
		}})
		w.register(&classic{name: "slow", inputs: []controller.Input{targets(controller.InputWeak)}, pass: func(context.Context, controller.Runtime) error {
			if hang {
				hangHere(release)
			}

			return nil
		}})
		w.start()
		synctest.Wait()

		hang = true

		w.create(newTarget("t", 0))
		time.Sleep(40 * time.Second)
		synctest.Wait()

		byName := map[any]map[string]any{}
		for _, entry := range logs.All() {
			byName[entry.ContextMap()["controller"]] = entry.ContextMap()
		}

		require.Len(t, byName, 2)
		assert.NotContains(t, byName["deaf"]["stacks"], "hangHere")
		assert.Contains(t, byName["slow"]["stacks"], "hangHere")
		assert.Equal(t, "2", ownMetric("stuck_controllers"))
		close(release)
		w.end()
	})
}

// Goroutines of controllers carry their name in profiles, what they start included; goroutines of the engine that a controller
// has started carry none, nor do those that have worked for it.
func TestGoroutinesOfControllersAreLabelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		labelOf := func(ctx context.Context) string {
			name, _ := pprof.Label(ctx, "controller")

			return name
		}

		var labels journal[string]

		release := make(chan struct{})

		w.register(&classic{name: "parent", run: func(ctx context.Context, r controller.Runtime) error {
			labels.add(labelOf(ctx))
			assert.NoError(t, r.UpdateInputs([]controller.Input{targets(controller.InputWeak)}))
			assert.NoError(t, w.tryRegister(&classic{name: "child", pass: idle}))

			done := make(chan struct{})

			go func() {
				defer close(done)

				hangHere(release)
			}()

			pprof.Do(ctx, pprof.Labels("step", "1"), func(context.Context) {})
			<-done
			<-ctx.Done()

			return nil
		}})
		w.register(&queued{
			name: "q", settings: controller.QSettings{
				Inputs: []controller.Input{sources(controller.InputQPrimary)},
				RunHook: func(ctx context.Context, _ *zap.Logger, _ controller.QRuntime) error {
					labels.add(labelOf(ctx))

					return nil
				},
			},
			reconcile: func(ctx context.Context, _ controller.QRuntime, _ resource.Pointer) error {
				labels.add(labelOf(ctx))

				return nil
			},
		})
		w.start()
		synctest.Wait()
		w.create(newSource("s", 0))
		synctest.Wait()
		assert.ElementsMatch(t, []string{"parent", "q", "q"}, labels.all())

		stacks := adapter.Stacks("parent", "child", "q", "nobody")
		assert.Equal(t, 1, strings.Count(stacks["parent"], "hangHere"))
		assert.Equal(t, 2, strings.Count(stacks["parent"], "goroutines here: 1\n"), stacks["parent"])
		assert.Equal(t, 1, strings.Count(stacks["child"], "goroutines here: 1\n"), stacks["child"])
		assert.Empty(t, stacks["q"])
		assert.Empty(t, stacks["nobody"])

		close(release)
		w.end()
	})
}
