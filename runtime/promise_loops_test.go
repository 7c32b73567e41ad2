package runtime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/runtime"
)

// loops is a controller of the sources that writes targets, which it is mapped by.
func loops(workers uint, reconcile func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error) *queued {
	return &queued{
		name: "loops",
		settings: controller.QSettings{
			Inputs:      []controller.Input{sources(controller.InputQPrimary), targets(controller.InputQMapped)},
			Outputs:     []controller.Output{shared(targetType)},
			Concurrency: optional.Some(workers),
		},
		reconcile: reconcile,
		mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			return []resource.Pointer{sourcePtr(md.ID())}, nil
		},
	}
}

// writes sets the number of a target.
func writes(ctx context.Context, r controller.Writer, id resource.ID, n int) error {
	return safe.WriterModify(ctx, r, newTarget(id, 0), func(t *target) error {
		t.TypedSpec().N = n

		return nil
	})
}

// A pass that writes what wakes it, and fails, waits for its backoff; what others change is worked on at once.
func TestFailingPassWaitsInSpiteOfItsOwnWrites(t *testing.T) {
	for _, cfg := range []runtime.Config{{Backoff: steady}, withBackoff(cachedSources())} {
		synctest.Test(t, func(t *testing.T) {
			core, logs := observer.New(zap.WarnLevel)
			w := newWorld(t, nil, cfg, zap.New(core))

			var passes journal[time.Time]

			w.register(loops(2, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				passes.add(time.Now())

				if err := writes(ctx, r, ptr.ID(), passes.len()); err != nil {
					return err
				}

				return errBroken
			}))
			w.start()
			synctest.Wait() // what is written while the first contents come may have been among them
			w.create(newSource("s", 0))

			began := time.Now()
			time.Sleep(8 * time.Second)
			synctest.Wait()

			// At 0, 1, 3 and 7 s.
			require.Len(t, passes.all(), 4)
			assert.Equal(t, began.Add(7*time.Second), passes.last())

			lines := logs.FilterMessageSnippet("woken again and again").All()
			require.Len(t, lines, 2)
			assert.Equal(t, "loops", lines[0].ContextMap()["controller"])
			assert.Equal(t, "reconcile Sources.test.switchyard.run(test/s)", lines[0].ContextMap()["item"])

			health := controllerHealth(t, w, "loops")
			assert.Equal(t, 1, health.Damped)
			assert.Equal(t, "reconcile Sources.test.switchyard.run(test/s)", health.DampedItem)

			w.set("s", 1)
			synctest.Wait()
			assert.Len(t, passes.all(), 5, "somebody else has changed the primary")

			require.NoError(t, modify(t.Context(), w.state, "s", func(target *target) { target.Metadata().Annotations().Set("a", "b") }))
			synctest.Wait()
			assert.Len(t, passes.all(), 6, "somebody else has changed the mapped input")

			w.end()
		})
	}
}

func withBackoff(cfg runtime.Config) runtime.Config {
	cfg.Backoff = steady

	return cfg
}

// modify changes a target as its owner would.
func modify(ctx context.Context, st state.State, id resource.ID, change func(*target)) error {
	res, err := st.Get(ctx, targetPtr(id))
	if err != nil {
		return err
	}

	_, err = safe.StateUpdateWithConflicts(ctx, st, targetPtr(id), func(t *target) error {
		change(t)

		return nil
	}, state.WithUpdateOwner(res.Metadata().Owner()), state.WithExpectedPhaseAny())

	return err
}

func controllerHealth(t *testing.T, w *world, name string) runtime.ControllerHealth {
	t.Helper()

	for _, c := range w.Health().Controllers {
		if c.Name == name {
			return c
		}
	}

	t.Fatalf("no controller %q", name)

	return runtime.ControllerHealth{}
}

// Ways to go round in a circle without failing.
var circles = map[string]func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer, pass int) error{
	"writes": func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer, pass int) error {
		return writes(ctx, r, ptr.ID(), pass)
	},
	"writes twice": func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer, pass int) error {
		if err := writes(ctx, r, ptr.ID(), pass); err != nil {
			return err
		}

		return writes(ctx, r, ptr.ID(), -pass)
	},
	"holds and lets go": func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer, pass int) error {
		if pass%2 == 0 {
			return r.RemoveFinalizer(ctx, ptr, "f")
		}

		return r.AddFinalizer(ctx, ptr, "f")
	},
	"creates and destroys": func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer, _ int) error {
		if err := r.Create(ctx, newTarget(ptr.ID(), 1)); err != nil {
			return err
		}

		return r.Destroy(ctx, targetPtr(ptr.ID()))
	},
	"destroys and creates": func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer, _ int) error {
		if err := r.Destroy(ctx, targetPtr(ptr.ID())); err != nil && !state.IsNotFoundError(err) {
			return err
		}

		return r.Create(ctx, newTarget(ptr.ID(), 1))
	},
	"writes and polls": func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer, pass int) error {
		if err := writes(ctx, r, ptr.ID(), pass); err != nil {
			return err
		}

		return controller.NewRequeueInterval(time.Hour)
	},
}

// A pass that succeeds and keeps writing what wakes it is slowed down, and what others change is not.
func TestCirclesAreSlowedDown(t *testing.T) {
	for name, pass := range circles {
		t.Run(name, func(t *testing.T) { testCircle(t, 1, pass) })
		t.Run(name+", with several workers", func(t *testing.T) { testCircle(t, 3, pass) })
	}
}

func testCircle(t *testing.T, workers uint, pass func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer, pass int) error) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		w := newWorld(t, nil, runtime.Config{Backoff: steady}, zap.New(core))

		var passes journal[int]

		w.register(loops(workers, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			passes.add(passes.len())

			return pass(ctx, r, ptr, passes.len())
		}))
		w.start()
		synctest.Wait()
		w.create(newSource("s", 0))
		time.Sleep(8 * time.Second)
		synctest.Wait()

		count := passes.len()
		assert.Greater(t, count, 16, "the first ones are free")
		assert.Less(t, count, 100)
		assert.NotEmpty(t, logs.FilterMessageSnippet("woken again and again").All())
		assert.Equal(t, 1, controllerHealth(t, w, "loops").Damped)
		assert.Len(t, w.Health().Problems(), 1)

		w.edit("s", func(s *source) { s.Metadata().Labels().Set("by", "others") })
		synctest.Wait()
		assert.Greater(t, passes.len(), count+1, "somebody else has changed it, which begins anew")

		w.end()
	})
}

// quickerThanUpdate is a state in which somebody else is quicker than the first update.
type quickerThanUpdate struct {
	state.CoreState

	other func()
}

func (q *quickerThanUpdate) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	if other := q.other; other != nil {
		q.other = nil

		other()
	}

	return q.CoreState.Update(ctx, res, opts...)
}

// Who wants to hold a resource, and finds that somebody else has done it in the same moment, has not done it.
func TestSameChangeOfSomebodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newState()
		quicker := &quickerThanUpdate{CoreState: st}
		w := newWorld(t, state.WrapCore(quicker), runtime.Config{Backoff: steady}, nil)
		began := time.Now()

		var passes journal[time.Duration]

		w.register(loops(1, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			passes.add(time.Since(began))

			if err := r.AddFinalizer(ctx, ptr, "f"); err != nil {
				return err
			}

			return errBroken
		}))
		w.start()
		synctest.Wait()

		quicker.other = func() { assert.NoError(t, st.AddFinalizer(t.Context(), sourcePtr("s"), "f")) }

		w.create(newSource("s", 0))
		synctest.Wait()
		assert.Equal(t, []time.Duration{0, 0}, passes.all(), "the second is for what somebody else has changed")
		w.end()
	})
}

// hangingUpdates is a state whose updates do not come back once they hang.
type hangingUpdates struct {
	state.CoreState

	hang bool
}

func (h *hangingUpdates) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	if h.hang {
		<-ctx.Done()

		return ctx.Err()
	}

	return h.CoreState.Update(ctx, res, opts...)
}

// What may be the work of a write that is under way waits for that, but not for one that hangs: other workers are there for it.
func TestChangeBesideAnOwnWriteThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newState()
		hanging := &hangingUpdates{CoreState: st}
		w := newWorld(t, state.WrapCore(hanging), runtime.Config{StuckAfter: time.Minute}, nil)

		var passes journal[resource.ID]

		c := loops(2, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			if ptr.ID() == "writes" {
				return writes(ctx, r, "shared", 5)
			}

			passes.add(ptr.ID())

			return nil
		})
		c.mapInput = func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			return []resource.Pointer{sourcePtr("looks")}, nil
		}

		w.register(c)
		require.NoError(t, st.Create(t.Context(), newTarget("shared", 0), state.WithCreateOwner("loops")))
		w.start()
		synctest.Wait()

		hanging.hang = true

		w.create(newSource("writes", 0))
		synctest.Wait()
		require.NoError(t, modify(t.Context(), st, "shared", func(target *target) { target.TypedSpec().N = 9 }))
		synctest.Wait()
		assert.Empty(t, passes.all(), "the write that hangs may have made it")

		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(t, passes.all(), 1)
		w.end()
	})
}

// The switch has every change wake at once. The controller here ends it itself.
func TestNothingIsSlowedDownOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Backoff: steady, NoDamping: true}, nil)

		var passes journal[int]

		w.register(loops(1, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			passes.add(0)

			return writes(ctx, r, ptr.ID(), min(passes.len(), 1000))
		}))
		w.create(newSource("s", 0))
		w.start()
		synctest.Wait()
		assert.Equal(t, 1001, passes.len())
		w.end()
	})
}

// A controller that gets somewhere step by step is not slowed down, however often it does so.
func TestStepsAreNotSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Backoff: steady}, nil)

		w.register(loops(1, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			s, err := safe.ReaderGet[*source](ctx, r, ptr)
			if err != nil {
				return err
			}

			if err := r.AddFinalizer(ctx, ptr, "f"); err != nil {
				return err
			}

			return safe.WriterModify(ctx, r, newTarget(ptr.ID(), 0), func(t *target) error {
				if t.TypedSpec().N < s.TypedSpec().N {
					t.TypedSpec().N++
				}

				return nil
			})
		}))
		w.create(newSource("s", 10))
		w.start()

		for n := 10; n < 1000; n += 10 {
			w.set("s", n)
			synctest.Wait()

			got, err := safe.StateGet[*target](t.Context(), w.state, targetPtr("s"))
			require.NoError(t, err)
			require.Equal(t, n, got.TypedSpec().N)
		}

		assert.Zero(t, controllerHealth(t, w, "loops").Damped)
		w.end()
	})
}

// When the delay is over, the item is worked on once more, on what there is then; when that changes nothing, it is over.
func TestSlowedDownItemSeesItsLastChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Backoff: steady}, nil)

		var seen journal[int]

		w.register(loops(1, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			return safe.WriterModify(ctx, r, newTarget(ptr.ID(), 0), func(t *target) error {
				seen.add(t.TypedSpec().N)
				t.TypedSpec().N = min(t.TypedSpec().N+1, 20)

				return nil
			})
		}))
		w.create(newSource("s", 0))
		w.start()
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, 20, seen.last())
		assert.Zero(t, controllerHealth(t, w, "loops").Damped)
		w.end()
	})
}

// A pass that asks to run again later, and writes something each time that it does, is no circle: it runs when it has asked
// to, and nobody is warned.
func TestHeartbeatsAreNoCircle(t *testing.T) {
	for name, mapped := range map[string]int{"mapped": 2, "not mapped": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zap.WarnLevel)
				w := newWorld(t, nil, runtime.Config{Backoff: steady}, zap.New(core))
				began := time.Now()

				var passes journal[time.Duration]

				c := loops(1, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
					passes.add(time.Since(began))

					if err := writes(ctx, r, ptr.ID(), int(time.Since(began).Hours())); err != nil {
						return err
					}

					return controller.NewRequeueInterval(time.Hour)
				})

				if mapped == 1 {
					c.mapInput = nil
				}

				w.register(c)
				w.create(newSource("s", 0))
				w.start()
				time.Sleep(99*time.Hour + time.Minute)
				synctest.Wait()

				require.Len(t, passes.all(), 100*mapped)
				assert.Equal(t, 99*time.Hour, passes.last())
				assert.Empty(t, logs.All())
				assert.Zero(t, controllerHealth(t, w, "loops").Damped)
				w.end()
			})
		})
	}
}

// One parent and two hundred children at once are a lot of work, and no circle.
func TestManyChildrenAreNoCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Backoff: steady}, nil)

		c := loops(4, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			for i := range 200 {
				if err := writes(ctx, r, fmt.Sprint(ptr.ID(), "-", i), i); err != nil {
					return err
				}
			}

			return nil
		})
		c.mapInput = func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			return []resource.Pointer{sourcePtr("parent")}, nil
		}

		w.register(c)
		w.create(newSource("parent", 0))
		w.start()
		synctest.Wait()

		all, err := w.state.List(t.Context(), targetPtr(""))
		require.NoError(t, err)
		assert.Len(t, all.Items, 200)
		assert.Empty(t, w.Health().Problems())
		w.end()
	})
}

// What other workers write meanwhile is no sign of a circle for an item whose own passes only look.
func TestWritesOfOtherWorkersAreNoCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		w := newWorld(t, nil, runtime.Config{Backoff: steady, PassDeadline: time.Minute}, zap.New(core))

		var seen journal[int]

		c := loops(8, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			if ptr.ID() == "parent" {
				all, err := safe.ReaderListAll[*target](ctx, r)
				if err != nil {
					return err
				}

				time.Sleep(150 * time.Millisecond)
				seen.add(all.Len())

				return nil
			}

			time.Sleep(100 * time.Millisecond)

			return writes(ctx, r, ptr.ID(), 1)
		})
		c.mapInput = func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			return []resource.Pointer{sourcePtr("parent")}, nil
		}

		w.register(c)
		w.create(newSource("parent", 0))

		for i := range 800 {
			w.create(newSource(fmt.Sprint(i), 0))
		}

		w.start()
		time.Sleep(15 * time.Second) // it is 11.5 s of work
		synctest.Wait()
		assert.Equal(t, 800, seen.last())
		assert.Empty(t, logs.All())
		w.end()
	})
}

// Whatever a controller and others write to the same resources, created, changed, held and destroyed, no change of the others
// ever waits for a backoff: with time standing still, the controller has seen the last of them.
func TestChangesOfOthersNeverWait(t *testing.T) {
	checked := 0

	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) { checked += testChangesOfOthers(t, seed) })
	}

	assert.Greater(t, checked, 300)
}

// testChangesOfOthers returns how often it was looked whether the controller has seen the last change.
func testChangesOfOthers(t *testing.T, seed uint64) (checked int) {
	w := newWorld(t, nil, runtime.Config{Backoff: steady, Seed: seed}, nil)
	began := time.Now()

	var (
		mu   sync.Mutex
		seen = map[resource.ID]string{}
		mine = rand.New(rand.NewPCG(seed, 1))
	)

	// draw is for the controller, whose passes run in parallel.
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()

		return mine.IntN(n)
	}

	c := loops(3, func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
		mark := ""

		t, err := safe.ReaderGetByID[*target](ctx, r, ptr.ID())
		if err == nil {
			mark, _ = t.Metadata().Annotations().Get("mark")
		} else if !state.IsNotFoundError(err) {
			return err
		}

		mu.Lock()
		seen[ptr.ID()] = mark
		mu.Unlock()

		switch draw(5) {
		case 0:
			err = r.AddFinalizer(ctx, targetPtr(ptr.ID()), "f")
		case 1:
			err = r.RemoveFinalizer(ctx, targetPtr(ptr.ID()), "f")
		case 2:
			err = r.Destroy(ctx, targetPtr(ptr.ID()))
		default:
			err = safe.WriterModify(ctx, r, newTarget(ptr.ID(), 0), func(t *target) error {
				t.TypedSpec().N++

				return nil
			}, controller.WithModifyNoOwner())
		}

		if err == nil && draw(2) == 0 {
			err = errBroken
		}

		return err
	})
	w.register(c)

	for i := range 3 {
		w.create(newSource(fmt.Sprint(i), 0))
	}

	w.start()

	for round := range 20 {
		var others sync.WaitGroup

		for other := range 3 {
			others.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(3*round+other)))

				for step := range 10 {
					id, mark := fmt.Sprint(random.IntN(3)), fmt.Sprint(round, other, step)

					if random.IntN(8) == 0 {
						w.state.Destroy(t.Context(), targetPtr(id)) // if it is there and not held
					} else {
						w.state.ModifyWithResult(t.Context(), newTarget(id, 0), func(res resource.Resource) error {
							res.Metadata().Annotations().Set("mark", mark)

							return nil
						})
					}
				}
			})
		}

		others.Wait()
		synctest.Wait()

		for i := range 3 {
			now, err := safe.StateGet[*target](t.Context(), w.state, targetPtr(fmt.Sprint(i)))
			if err != nil {
				continue
			}

			// What the controller changes, it leaves the mark on; what it has created has none.
			mark, marked := now.Metadata().Annotations().Get("mark")
			if !marked {
				continue
			}

			mu.Lock()
			saw := seen[fmt.Sprint(i)]
			mu.Unlock()

			checked++

			require.Equal(t, mark, saw, "seed %d, round %d", seed, round)
		}
	}

	assert.Equal(t, began, time.Now(), "nobody has waited")
	w.end()

	return checked
}
