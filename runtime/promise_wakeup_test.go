package runtime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

func badConfigs() map[string]runtime.Config {
	return map[string]runtime.Config{
		"Options[0]":     {Options: []options.Option{nil}},
		"Options":        {Options: []options.Option{options.WithChangeRateLimit(rate.Limit(10), 0)}},
		"Backoff":        {Backoff: backoff.Policy{Base: time.Second}},
		"WatchBackoff":   {WatchBackoff: backoff.Policy{Base: -time.Second}},
		"OnWatchFailure": {OnWatchFailure: 7},
		"AuditInterval":  {AuditInterval: -1},
		"Grace":          {Grace: -1},
		"StuckAfter":     {StuckAfter: -1},
	}
}

// One hundred writes while a controller is busy are one wakeup, and one pass on the final state.
func TestWritesWhileBusyGiveOneWakeup(t *testing.T) {
	t.Run("classic", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil, runtime.Config{}, nil)

			var seen journal[int]

			busy := make(chan struct{})

			w.register(&classic{name: "c", inputs: []controller.Input{sources(controller.InputWeak)}, pass: func(ctx context.Context, r controller.Runtime) error {
				s, err := safe.ReaderGet[*source](ctx, r, sourcePtr("s"))
				if err != nil {
					return err
				}

				seen.add(s.TypedSpec().N)

				if seen.len() == 1 {
					<-busy
				}

				return nil
			}})
			w.create(newSource("s", 0))
			w.start()
			synctest.Wait()

			for i := range 100 {
				w.set("s", i+1)
				synctest.Wait() // each write is delivered by itself
			}

			close(busy)
			synctest.Wait()
			assert.Equal(t, []int{0, 100}, seen.all())
			w.end()
		})
	})

	t.Run("queue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil, runtime.Config{}, nil)

			var seen journal[int]

			busy := make(chan struct{})

			w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}, Concurrency: optional.Some[uint](8)},
				reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
					s, err := safe.ReaderGet[*source](ctx, r, ptr)
					if err != nil {
						return err
					}

					seen.add(s.TypedSpec().N)

					if seen.len() == 1 {
						<-busy
					}

					return nil
				}})
			w.create(newSource("s", 0))
			w.start()
			synctest.Wait()

			for i := range 100 {
				w.set("s", i+1)
				synctest.Wait()
			}

			close(busy)
			synctest.Wait()
			assert.Equal(t, []int{0, 100}, seen.all())
			w.end()
		})
	})
}

// A change that matches the type and the id of one controller wakes it once.
func TestTypeAndIDWakeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var wakeups, mapped, reconciled journal[string]

		w.register(&classic{name: "c", inputs: []controller.Input{sources(controller.InputWeak), byID(sources(controller.InputStrong), "a")}, pass: func(context.Context, controller.Runtime) error {
			wakeups.add("c")

			return nil
		}})
		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQMapped), byID(sources(controller.InputQMapped), "a"), byID(sources(controller.InputQPrimary), "b")}},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				reconciled.add(ptr.ID())

				return nil
			},
			mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				mapped.add(md.ID())

				return nil, nil
			}})
		w.create(newSource("a", 0), newSource("b", 0))
		w.start()
		synctest.Wait()

		for i := range 50 {
			w.set("a", i+1)
			synctest.Wait()
		}

		assert.Len(t, wakeups.all(), 51)
		assert.Len(t, mapped.all(), 50)
		assert.Equal(t, []string{"b"}, reconciled.all())

		// As a mapped input by type and a primary by id it is both, once each.
		w.set("b", 1)
		synctest.Wait()
		assert.Equal(t, "b", mapped.last())
		assert.Len(t, mapped.all(), 51)
		assert.Equal(t, []string{"b", "b"}, reconciled.all())

		w.end()
	})
}

// Inputs by id of a queue controller are primed at start, and routed as what they were declared.
func TestInputsByIDOfQueueControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var did journal[string]

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{byID(sources(controller.InputQPrimary), "a"), byID(sources(controller.InputQMapped), "b")}},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				did.add("reconcile " + ptr.ID())

				return nil
			},
			mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				did.add("map " + md.ID())

				return nil, nil
			}})
		w.create(newSource("a", 0), newSource("b", 0), newSource("c", 0))
		w.start()
		synctest.Wait()
		require.Equal(t, []string{"reconcile a"}, did.all())

		w.set("b", 1)
		synctest.Wait()
		w.set("c", 1)
		synctest.Wait()
		w.set("a", 1)
		synctest.Wait()
		assert.Equal(t, []string{"reconcile a", "map b", "reconcile a"}, did.all())
		assert.Empty(t, w.Health().Problems())

		w.end()
	})
}

// A mapped input that is destroyed is mapped with its last labels and phase, without anybody's finalizer.
func TestDestroyedMappedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var did journal[string]

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{targets(controller.InputQPrimary), sources(controller.InputQMapped)}},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				did.add("reconcile " + ptr.ID())

				return nil
			},
			mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				parent, _ := md.Labels().Get("parent")
				did.add(fmt.Sprintf("map %s to %s, %s, finalizers empty: %t", md.ID(), parent, md.Phase(), md.FinalizersEmpty()))

				return []resource.Pointer{targetPtr(parent)}, nil
			}})

		m := newSource("m", 0)
		m.Metadata().Labels().Set("parent", "p1")
		w.create(m, newTarget("p1", 0))
		w.start()
		synctest.Wait()
		require.Equal(t, []string{"reconcile p1"}, did.all())

		_, err := w.state.Teardown(t.Context(), sourcePtr("m"))
		require.NoError(t, err)
		synctest.Wait()
		w.destroy("m")
		synctest.Wait()

		assert.Equal(t, []string{
			"reconcile p1",
			"map m to p1, tearingDown, finalizers empty: true", "reconcile p1",
			"map m to p1, tearingDown, finalizers empty: true", "reconcile p1",
		}, did.all())

		w.end()
	})
}

// However phase and finalizers flap, the last state that a mapped or destroy-ready input sees is the final one.
func TestLastValueWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var seen journal[bool]

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQMapped)}},
			mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				seen.add(md.FinalizersEmpty())

				return nil, nil
			}})
		w.create(newSource("s", 0))
		w.start()
		synctest.Wait()

		random := rand.New(rand.NewPCG(3, 4))

		for round := range 100 {
			empty := true

			for range 1 + random.IntN(10) {
				empty = !empty

				w.edit("s", func(s *source) {
					if empty {
						s.Metadata().Finalizers().Remove("f")
					} else {
						s.Metadata().Finalizers().Add("f")
					}
				})

				if random.IntN(3) == 0 {
					synctest.Wait()
				}
			}

			synctest.Wait()
			require.Equal(t, empty, seen.last(), "round %d", round)

			w.edit("s", func(s *source) { s.Metadata().Finalizers().Remove("f") })
			synctest.Wait()
			require.True(t, seen.last(), "round %d", round)
		}

		w.end()
	})
}

// Destroyed and created again before anybody was told: an input that waits for the destroy is told nevertheless.
func TestDestroyIsNotHiddenByRecreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var mapped journal[string]

		blocked := make(chan struct{})

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{targets(controller.InputQPrimary), sources(controller.InputQMappedDestroyReady)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				<-blocked // the only worker

				return nil
			},
			mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				mapped.add(md.ID())

				return nil, nil
			}})
		w.create(newTarget("t", 0), newSource("s", 0), newSource("other", 0))
		w.start()
		synctest.Wait()

		w.destroy("s")
		w.create(newSource("s", 1))
		w.set("other", 1)
		synctest.Wait()
		close(blocked)
		synctest.Wait()

		assert.Equal(t, []string{"s"}, mapped.all())
		w.end()
	})
}

// For every resource, the last pass of a queue controller saw its final version or its absence, whatever the
// concurrency and the order of writes.
func TestLastChangeIsReconciled(t *testing.T) {
	for _, concurrency := range []uint{1, 2, 8} {
		t.Run(fmt.Sprintf("concurrency=%d", concurrency), func(t *testing.T) {
			w := newWorld(t, nil, runtime.Config{}, nil)

			var (
				mu   sync.Mutex
				last = map[resource.ID]int{}
				busy = map[resource.ID]bool{}
			)

			w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}, Concurrency: optional.Some(concurrency)},
				reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
					mu.Lock()
					assert.False(t, busy[ptr.ID()], "one key in two workers")
					busy[ptr.ID()] = true
					mu.Unlock()

					seen := -1

					s, err := safe.ReaderGet[*source](ctx, r, ptr)
					if err == nil {
						seen = s.TypedSpec().N
					} else if !state.IsNotFoundError(err) {
						return err
					}

					mu.Lock()
					defer mu.Unlock()

					busy[ptr.ID()] = false
					last[ptr.ID()] = seen

					return nil
				}})
			w.start()

			// Only from here on every write is seen, so that each id has a last pass.
			w.create(newSource("sentinel", 0))
			require.Eventually(t, func() bool {
				mu.Lock()
				defer mu.Unlock()

				_, ok := last["sentinel"]

				return ok
			}, 10*time.Second, time.Millisecond)

			want := map[resource.ID]int{"sentinel": 0}

			var (
				wantMu  sync.Mutex
				writers sync.WaitGroup
			)

			for writer := range 4 {
				writers.Go(func() {
					random := rand.New(rand.NewPCG(uint64(writer), uint64(concurrency)))
					mine := map[resource.ID]int{}

					for n := range 400 {
						id := fmt.Sprintf("%d-%d", writer, random.IntN(50))

						switch value, known := mine[id]; {
						case !known || value < 0:
							assert.NoError(t, w.state.Create(t.Context(), newSource(id, n)))
							mine[id] = n
						case random.IntN(4) == 0:
							assert.NoError(t, w.state.Destroy(t.Context(), sourcePtr(id)))
							mine[id] = -1
						default:
							w.set(id, n)
							mine[id] = n
						}
					}

					wantMu.Lock()
					defer wantMu.Unlock()

					for id, value := range mine {
						want[id] = value
					}
				})
			}

			writers.Wait()

			require.Eventually(t, func() bool {
				mu.Lock()
				defer mu.Unlock()

				return assert.ObjectsAreEqual(want, last)
			}, 10*time.Second, 5*time.Millisecond)
			w.end()
		})
	}
}

// A stuck controller and one that always fails delay nobody else, and what waits for them is bounded by the number of
// distinct resources.
func TestStuckControllerDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		blocked := make(chan struct{})

		w.register(&queued{name: "stuck", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				<-blocked

				return nil
			}})
		w.register(&queued{name: "failing", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error { return errBroken }})
		w.register(&classic{name: "asleep", inputs: []controller.Input{sources(controller.InputWeak)}, run: func(ctx context.Context, _ controller.Runtime) error {
			<-ctx.Done()

			return nil
		}})
		w.register(qmirror(1))
		w.start()

		for i := range 10_000 {
			id := strconv.Itoa(i % 100)

			if i < 100 {
				w.create(newSource(id, i))
			} else {
				w.set(id, i)
			}
		}

		time.Sleep(time.Minute)
		w.requireMirrored()

		for _, c := range w.Health().Controllers {
			assert.LessOrEqual(t, c.Ready+c.Delayed+c.Processing, 100, c.Name)

			switch c.Name {
			case "stuck":
				assert.True(t, c.Stuck)
				assert.Contains(t, c.Doing, "reconcile ")
			case "asleep":
				assert.True(t, c.Stuck)
			case "failing":
				assert.Equal(t, 100, c.Failing)
				assert.True(t, c.Fails())
				assert.ErrorIs(t, c.LastError, errBroken)
			}
		}

		close(blocked)
		w.end()
	})
}

// Live changes overtake the initial fill, which goes on all the same.
func TestLiveChangesOvertakeTheInitialFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var order journal[string]

		first := make(chan struct{})

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				order.add(ptr.ID())

				if order.len() == 1 {
					<-first
				}

				return nil
			}})

		for i := range 100 {
			w.create(newSource(fmt.Sprintf("old-%03d", i), i))
		}

		w.start()
		synctest.Wait()
		w.create(newSource("new", 0))
		w.set("old-050", 1)
		synctest.Wait()
		close(first)
		synctest.Wait()

		require.Equal(t, []string{"old-000", "new", "old-050", "old-001"}, order.all()[:4])
		assert.Len(t, order.all(), 101)
		w.end()
	})
}

// Trigger runs a controller from code.
func TestTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var did journal[string]

		w.register(&classic{name: "c", pass: func(context.Context, controller.Runtime) error {
			did.add("c")

			return nil
		}})
		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				did.add(ptr.ID())

				return nil
			}})
		w.create(newSource("a", 1), newSource("b", 1))
		w.start()
		synctest.Wait()
		require.ElementsMatch(t, []string{"c", "a", "b"}, did.all())

		require.NoError(t, w.Trigger("c"))
		synctest.Wait()
		require.Equal(t, "c", did.last())

		require.NoError(t, w.Trigger("q", sourcePtr("b")))
		synctest.Wait()
		require.Equal(t, "b", did.last())

		require.NoError(t, w.Trigger("q"))
		synctest.Wait()
		require.Equal(t, []string{"a", "b"}, did.all()[5:])

		count := did.len()

		require.ErrorContains(t, w.Trigger("q", sourcePtr("a"), targetPtr("a")), string(targetType))
		require.Error(t, w.Trigger("q", sourcePtr("a"), nil))
		require.Error(t, w.Trigger("c", sourcePtr("a")))
		require.ErrorIs(t, w.Trigger("nobody"), runtime.ErrNotRegistered)
		synctest.Wait()
		assert.Equal(t, count, did.len(), "a refused trigger queues nothing")

		w.end()
	})
}
