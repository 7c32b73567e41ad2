package runtime_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/destroy"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

const statusType = resource.Type("Statuses.test.switchyard.run")

type statusExtension struct{}

func (statusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: statusType, DefaultNamespace: ns}
}

type status = typed.Resource[number, statusExtension]

func newStatus(id resource.ID) *status {
	return typed.NewResource[number, statusExtension](resource.NewMetadata(ns, statusType, id, resource.VersionUndefined), number{})
}

// appliance registers what an appliance has: a document that is turned into parts by the contract's generic controller,
// parts that are summed up by a classic one, a service that is polled, a part that fails for hours, a hook with a
// ticker, a dynamic input, and the generic controller that destroys what is torn down.
func appliance(w *world, passes func(controller, what string)) {
	w.register(qtransform.NewQController(qtransform.Settings[*source, *target]{
		Name:              "parts",
		MapMetadataFunc:   func(s *source) *target { return newTarget(s.Metadata().ID(), 0) },
		UnmapMetadataFunc: func(t *target) *source { return newSource(t.Metadata().ID(), 0) },
		TransformFunc: func(_ context.Context, _ controller.Reader, _ *zap.Logger, s *source, t *target) error {
			passes("parts", s.Metadata().ID())

			if s.TypedSpec().N < 0 {
				return errBroken
			}

			t.TypedSpec().N = s.TypedSpec().N

			return nil
		},
	}, qtransform.WithConcurrency(2)))

	w.register(destroy.NewController[*source](optional.None[uint]()))

	w.register(&classic{name: "summary", inputs: []controller.Input{targets(controller.InputWeak)}, outputs: []controller.Output{shared(statusType)},
		pass: func(ctx context.Context, r controller.Runtime) error {
			r.StartTrackingOutputs()

			list, err := safe.ReaderList[*target](ctx, r, targetPtr(""))
			if err != nil {
				return err
			}

			sum := 0
			for t := range list.All() {
				sum += t.TypedSpec().N
			}

			passes("summary", strconv.Itoa(sum))

			if err = safe.WriterModify(ctx, r, newStatus("summary"), func(s *status) error {
				s.TypedSpec().N = sum

				return nil
			}); err != nil {
				return err
			}

			return r.CleanupOutputs(ctx, newStatus("").Metadata())
		}})

	w.register(&queued{name: "poll",
		settings: controller.QSettings{
			Inputs:  []controller.Input{targets(controller.InputQPrimary)},
			Outputs: []controller.Output{shared(statusType)},
			RunHook: func(ctx context.Context, _ *zap.Logger, _ controller.QRuntime) error {
				ticker := time.NewTicker(time.Hour)
				defer ticker.Stop()

				for {
					select {
					case <-ctx.Done():
						return nil
					case <-ticker.C:
						passes("poll", "tick")
					}
				}
			},
		},
		reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			passes("poll", ptr.ID())

			if _, err := r.Get(ctx, ptr); state.IsNotFoundError(err) {
				return nil
			}

			return controller.NewRequeueInterval(10 * time.Minute)
		}})

	w.register(&classic{name: "crashes", run: func(_ context.Context, r controller.Runtime) error {
		<-r.EventCh()
		passes("crashes", "")

		return errBroken
	}})

	w.register(&classic{name: "dynamic", run: func(ctx context.Context, r controller.Runtime) error {
		if err := r.UpdateInputs([]controller.Input{byID(targets(controller.InputStrong), "a")}); err != nil {
			return err
		}

		for {
			select {
			case <-ctx.Done():
				return nil
			case <-r.EventCh():
				passes("dynamic", "")
			}
		}
	}})
}

func applianceConfig(seed uint64) runtime.Config {
	return runtime.Config{
		Seed:          seed,
		AuditInterval: 15 * time.Minute,
		Options:       []options.Option{options.WithCachedResource(ns, targetType)},
	}
}

// Hours of backoff, requeues, ticks and audits pass in milliseconds inside a bubble, which ends clean.
func TestHoursInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, applianceConfig(1), nil)

		var (
			mu    sync.Mutex
			count = map[string]int{}
		)

		appliance(w, func(controller, what string) {
			mu.Lock()
			defer mu.Unlock()

			count[controller+" "+what]++
		})

		w.create(newSource("a", 1), newSource("b", 2), newSource("broken", -1))
		w.start()
		time.Sleep(12*time.Hour + time.Second)

		summary, err := safe.StateGet[*status](t.Context(), w.state, newStatus("summary").Metadata())
		require.NoError(t, err)
		assert.Equal(t, 3, summary.TypedSpec().N)

		mu.Lock()
		assert.Equal(t, 12, count["poll tick"])
		assert.GreaterOrEqual(t, count["poll a"], 12*6-1)
		assert.GreaterOrEqual(t, count["crashes "], 12*60/2, "restarts have no time limit")
		assert.GreaterOrEqual(t, count["parts broken"], 12*60/2, "retries have no time limit")
		mu.Unlock()

		// The item that failed for hours is well at once when it was changed, and everything follows.
		w.set("broken", 3)
		synctest.Wait()
		_, err = w.state.Teardown(t.Context(), sourcePtr("a"))
		require.NoError(t, err)
		time.Sleep(time.Minute)

		_, err = w.state.Get(t.Context(), sourcePtr("a"))
		assert.True(t, state.IsNotFoundError(err), "torn down, its part destroyed, its finalizer removed, destroyed")

		summary, err = safe.StateGet[*status](t.Context(), w.state, newStatus("summary").Metadata())
		require.NoError(t, err)
		assert.Equal(t, 5, summary.TypedSpec().N)

		w.end()
	})
}

// With one seed, every controller runs the same passes at the same times in the same order, run after run; with another
// seed, the times of retries differ.
func TestSeedRepeatsTheRun(t *testing.T) {
	run := func(t *testing.T, seed uint64) map[string][]string {
		history := map[string][]string{}

		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil, applianceConfig(seed), nil)
			begin := time.Now()

			var mu sync.Mutex

			appliance(w, func(controller, what string) {
				mu.Lock()
				defer mu.Unlock()

				history[controller] = append(history[controller], fmt.Sprintf("%s %s", time.Since(begin), what))
			})

			w.start()
			time.Sleep(time.Second)

			// One write at a time, so that the order of events does not depend on the scheduler.
			for i := range 20 {
				value := i
				if i%5 == 3 {
					value = -1
				}

				w.create(newSource(fmt.Sprintf("%02d", i), value))
				time.Sleep(7 * time.Second)
			}

			time.Sleep(time.Hour + time.Second)
			w.end()
		})

		return history
	}

	first, again, other := run(t, 1), run(t, 1), run(t, 2)

	for name := range first {
		assert.Equal(t, first[name], again[name], name)
	}

	assert.NotEmpty(t, first["crashes"])
	assert.NotEqual(t, first["crashes"], other["crashes"])
	assert.NotEqual(t, first["parts"], other["parts"])
}

// The engine allocates names, goroutines and timers only for what it runs: after everything was unregistered it is as
// small as it was.
func TestNothingIsLeftOfGoneControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)
		w.start()

		for i := range 200 {
			c := &classic{name: "c" + strconv.Itoa(i), inputs: []controller.Input{sources(controller.InputWeak)}, outputs: []controller.Output{shared(targetType)}, pass: idle}
			q := &queued{name: "q" + strconv.Itoa(i), settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}, Outputs: []controller.Output{shared(targetType)}}}

			w.register(c)
			w.register(q)
			require.NoError(t, w.Unregister(t.Context(), c.name))
			require.NoError(t, w.Unregister(t.Context(), q.name))
		}

		synctest.Wait()

		graph, err := w.GetDependencyGraph()
		require.NoError(t, err)
		assert.Empty(t, graph.Edges)
		assert.Empty(t, w.Health().Controllers)
		assert.Empty(t, w.Health().Kinds)
		assert.Zero(t, st.watching(sourceType))

		w.end()
	})
}
