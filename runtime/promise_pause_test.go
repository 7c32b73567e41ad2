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
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/runtime"
)

// pausing calls Pause in the background and returns what it will return.
func (w *world) pausing(ctx context.Context, name string) <-chan error {
	paused := make(chan error, 1)

	go func() { paused <- w.Pause(ctx, name) }()

	synctest.Wait()

	return paused
}

// heldUp is a pass that notes its number and waits to be let go.
type heldUp struct {
	passes journal[int]
	gate   chan struct{}
}

func newHeldUp() *heldUp { return &heldUp{gate: make(chan struct{}, 1000)} }

func (g *heldUp) pass(ctx context.Context) error {
	g.passes.add(g.passes.len() + 1)

	select {
	case <-g.gate:
	case <-ctx.Done():
	}

	return nil
}

// pausable are a classic controller and a queue controller, "c", of the sources, with a pass that can be held up.
func pausable(g *heldUp) map[string]any {
	return map[string]any{
		"classic": &classic{
			name: "c", inputs: []controller.Input{sources(controller.InputWeak)},
			pass: func(ctx context.Context, _ controller.Runtime) error { return g.pass(ctx) },
		},
		"queue": &queued{
			name: "c", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(ctx context.Context, _ controller.QRuntime, _ resource.Pointer) error { return g.pass(ctx) },
		},
	}
}

// eachForm runs a test with a controller of each form.
func eachForm(t *testing.T, cfg runtime.Config, test func(t *testing.T, w *world, g *heldUp)) {
	for form := range pausable(nil) {
		t.Run(form, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newHeldUp()
				w := newWorld(t, nil, cfg, nil)
				w.register(pausable(g)[form])
				test(t, w, g)
			})
		})
	}
}

// A pass that does not come back is stuck also where its controller is to be paused: the pause waits for it.
func TestPassThatKeepsAPauseWaitingIsStuck(t *testing.T) {
	eachForm(t, runtime.Config{}, func(t *testing.T, w *world, g *heldUp) {
		w.create(newSource("s", 0))
		w.start()
		g.gate <- struct{}{}

		synctest.Wait()
		w.set("s", 1)
		synctest.Wait()

		paused := w.pausing(t.Context(), "c")

		w.set("s", 2)
		time.Sleep(time.Hour)

		health := w.Health()
		require.True(t, health.Controllers[0].Paused)
		require.True(t, health.Controllers[0].Stuck)
		require.Contains(t, health.Problems()[0], `controller "c" is stuck`)
		require.Equal(t, "1", ownMetric("stuck_controllers"))

		g.gate <- struct{}{}

		require.NoError(t, <-paused)
		time.Sleep(time.Hour)
		require.Empty(t, w.Health().Problems())
		w.end()
	})
}

// Pause lets the pass under way end and has no other begin; Resume catches up. Meanwhile the controller shows as paused, and is
// never stuck.
func TestPauseAndResume(t *testing.T) {
	eachForm(t, runtime.Config{}, func(t *testing.T, w *world, g *heldUp) {
		w.create(newSource("s", 0))
		w.start()
		synctest.Wait()
		require.Equal(t, 1, g.passes.len())
		require.Equal(t, "0", ownMetric("paused_controllers"))

		began := time.Now()
		paused := w.pausing(t.Context(), "c")

		require.Empty(t, paused, "a pass runs")
		require.Equal(t, "1", ownMetric("paused_controllers"))

		for i := range 10 {
			w.set("s", i+1)
			synctest.Wait()
		}

		time.Sleep(time.Minute)
		g.gate <- struct{}{}

		require.NoError(t, <-paused)
		time.Sleep(time.Hour)

		health := w.Health()
		require.True(t, health.Controllers[0].Paused)
		require.Equal(t, began, health.Controllers[0].PausedSince)
		require.False(t, health.Controllers[0].Stuck)
		require.Empty(t, health.Problems())
		require.Equal(t, "0", ownMetric("stuck_controllers"))
		require.Equal(t, 1, g.passes.len())
		require.NoError(t, w.Pause(t.Context(), "c"), "it is paused already")

		w.set("s", 100)
		require.NoError(t, w.Trigger("c"))
		time.Sleep(time.Hour)
		require.Equal(t, 1, g.passes.len())
		require.False(t, w.Health().Controllers[0].Stuck)

		require.NoError(t, w.Resume("c"))
		synctest.Wait()
		require.Equal(t, 2, g.passes.len(), "one pass for all that has waited")
		require.False(t, w.Health().Controllers[0].Paused)
		require.Zero(t, w.Health().Controllers[0].PausedSince)
		require.False(t, w.Health().Controllers[0].Stuck, "the wait was no fault of its")
		require.Equal(t, "0", ownMetric("paused_controllers"))

		g.gate <- struct{}{}

		require.NoError(t, w.Resume("c"), "it is not paused any more")
		synctest.Wait()
		require.Equal(t, 2, g.passes.len())

		w.set("s", 101)
		synctest.Wait()
		require.Equal(t, 3, g.passes.len())
		w.end()
	})
}

// A controller that was paused before Run begins when it is resumed.
func TestPausedBeforeRun(t *testing.T) {
	eachForm(t, runtime.Config{}, func(t *testing.T, w *world, g *heldUp) {
		require.NoError(t, w.Pause(t.Context(), "c"))
		w.create(newSource("s", 0))
		w.start()
		time.Sleep(time.Hour)
		require.Zero(t, g.passes.len())

		health := w.Health().Controllers[0]
		require.True(t, health.Paused)
		require.False(t, health.Stuck)

		require.NoError(t, w.Resume("c"))
		synctest.Wait()
		require.Equal(t, 1, g.passes.len())
		w.end()
	})
}

// The end of Run and Unregister work on a paused controller, whether its pass has ended or not.
func TestEndOfAPausedController(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, w *world){
		"end":        func(_ *testing.T, w *world) { w.end() },
		"unregister": func(t *testing.T, w *world) { require.NoError(t, w.Unregister(t.Context(), "c")) },
	} {
		t.Run(name, func(t *testing.T) {
			eachForm(t, runtime.Config{}, func(t *testing.T, w *world, g *heldUp) {
				w.create(newSource("s", 0))
				w.start()
				synctest.Wait()

				paused := w.pausing(t.Context(), "c")

				end(t, w)
				require.NoError(t, <-paused, "the pass has ended with its context")
				require.Equal(t, 1, g.passes.len())
			})

			eachForm(t, runtime.Config{}, func(t *testing.T, w *world, g *heldUp) {
				require.NoError(t, w.Pause(t.Context(), "c"))
				w.create(newSource("s", 0))
				w.start()
				synctest.Wait()
				end(t, w)
				require.Zero(t, g.passes.len())

				if name == "unregister" {
					require.ErrorIs(t, w.Resume("c"), runtime.ErrNotRegistered)
				}
			})
		})
	}
}

// When the context of Pause ends first, the controller stays paused; when it is resumed first, that is an error, too.
func TestPauseThatDoesNotWait(t *testing.T) {
	eachForm(t, runtime.Config{}, func(t *testing.T, w *world, g *heldUp) {
		w.create(newSource("s", 0))
		w.start()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		err := w.Pause(ctx, "c")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, `controller "c": it is paused, but still in a pass`)
		require.True(t, w.Health().Controllers[0].Paused)

		w.set("s", 1)
		synctest.Wait()

		paused := w.pausing(t.Context(), "c")

		require.NoError(t, w.Resume("c"))
		require.ErrorIs(t, <-paused, adapter.ErrResumed)

		g.gate <- struct{}{}

		synctest.Wait()
		require.Equal(t, 2, g.passes.len())
		w.end()
	})
}

// Unknown names are refused, and so is a controller that pauses itself; it may resume itself, and pause others.
func TestPauseFromInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{PassDeadline: time.Minute}, nil)

		require.ErrorIs(t, w.Pause(t.Context(), "nobody"), runtime.ErrNotRegistered)
		require.ErrorIs(t, w.Resume("nobody"), runtime.ErrNotRegistered)

		var returned journal[error]

		w.register(&classic{name: "other", pass: idle})
		w.register(&classic{name: "c", pass: func(ctx context.Context, _ controller.Runtime) error {
			returned.add(w.Pause(ctx, "c"))
			returned.add(w.Resume("c"))
			returned.add(w.Pause(ctx, "other"))

			return nil
		}})
		w.register(&queued{
			name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(ctx context.Context, _ controller.QRuntime, _ resource.Pointer) error {
				returned.add(w.Pause(ctx, "q"))

				return nil
			},
		})
		w.start()
		synctest.Wait()
		w.create(newSource("s", 0))
		synctest.Wait()

		all := returned.all()
		require.Len(t, all, 4)
		require.ErrorIs(t, all[0], runtime.ErrPausesItself)
		require.NoError(t, all[1])
		require.NoError(t, all[2])
		require.ErrorIs(t, all[3], runtime.ErrPausesItself)
		w.end()
	})
}

// A classic controller that fails while it is paused is called again when it is resumed, and not before its backoff.
func TestPauseSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Backoff: steady}, nil)

		var runs journal[time.Duration]

		began := time.Now()
		fail := make(chan struct{})

		w.register(&classic{name: "c", run: func(ctx context.Context, r controller.Runtime) error {
			runs.add(time.Since(began))
			<-r.EventCh()

			select {
			case <-fail:
				return errBroken
			case <-ctx.Done():
				return nil
			}
		}})
		w.start()
		synctest.Wait()

		paused := w.pausing(t.Context(), "c")

		close(fail)
		require.NoError(t, <-paused)
		time.Sleep(time.Hour)
		require.Equal(t, []time.Duration{0}, runs.all())
		require.NoError(t, w.Resume("c"))
		synctest.Wait()
		require.Equal(t, []time.Duration{0, time.Hour}, runs.all())

		// Its backoff goes on when it is resumed before.
		require.NoError(t, w.Pause(t.Context(), "c"))
		require.NoError(t, w.Resume("c"))
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, 2, runs.len())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 3, runs.len())
		w.end()
	})
}

// While a queue controller is paused, delays run on, failures and first contents wait, and the run hook goes on.
func TestWhatWaitsForAPausedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Backoff: steady}, nil)

		var (
			passes journal[string]
			ticks  journal[int]
		)

		began := time.Now()
		failing := true

		w.register(&queued{
			name: "q", settings: controller.QSettings{
				Inputs:      []controller.Input{sources(controller.InputQPrimary)},
				Concurrency: optional.Some[uint](2),
				RunHook: func(ctx context.Context, _ *zap.Logger, _ controller.QRuntime) error {
					for ctx.Err() == nil {
						ticks.add(1)

						select {
						case <-time.After(time.Second):
						case <-ctx.Done():
						}
					}

					return nil
				},
			},
			reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
				passes.add(fmt.Sprint(ptr.ID(), " ", time.Since(began)))

				if failing && ptr.ID() == "failing" {
					return errBroken
				}

				return nil
			},
		})
		w.create(newSource("failing", 0))
		w.start()
		synctest.Wait()
		require.NoError(t, w.Pause(t.Context(), "q"))

		for i := range 100 {
			w.create(newSource(strconv.Itoa(i), 0))
		}

		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"failing 0s"}, passes.all())
		require.Equal(t, 11, ticks.len())

		health := w.Health().Controllers[0]
		require.Equal(t, 101, health.Ready, "the delay of the failed one has gone by")
		require.Equal(t, 1, health.Failing)

		failing = false

		require.NoError(t, w.Resume("q"))
		synctest.Wait()
		require.Equal(t, 102, passes.len())
		require.Contains(t, passes.all(), "failing 10s")
		w.end()
	})
}

// However Pause and Resume meet changes, nothing is lost, and after Pause has returned nothing runs.
func TestPauseInAStorm(t *testing.T) {
	w := newWorld(t, nil, runtime.Config{}, nil)

	const count = 50

	var at [2]sync.Map // of what each controller has seen last, by id

	inPass := [2]chan struct{}{make(chan struct{}, 8), make(chan struct{}, 8)}

	within := func(form int, do func()) {
		inPass[form] <- struct{}{}

		do()
		<-inPass[form]
	}

	w.register(&classic{
		name: "0", inputs: []controller.Input{sources(controller.InputWeak)},
		pass: func(ctx context.Context, r controller.Runtime) (err error) {
			within(0, func() {
				var list resource.List

				list, err = r.List(ctx, sourceKind())
				for _, res := range list.Items {
					at[0].Store(res.Metadata().ID(), res.(*source).TypedSpec().N)
				}
			})

			return err
		},
	})
	w.register(&queued{
		name: "1", settings: controller.QSettings{
			Inputs: []controller.Input{sources(controller.InputQPrimary)}, Concurrency: optional.Some[uint](4),
		},
		reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) (err error) {
			within(1, func() {
				var res resource.Resource

				if res, err = r.Get(ctx, ptr); err == nil {
					at[1].Store(ptr.ID(), res.(*source).TypedSpec().N)
				}
			})

			return err
		},
	})

	for i := range count {
		w.create(newSource(strconv.Itoa(i), 0))
	}

	w.start()

	var storm sync.WaitGroup

	for form := range at {
		storm.Go(func() {
			for range 300 {
				assert.NoError(t, w.Pause(t.Context(), strconv.Itoa(form)))
				assert.Empty(t, inPass[form])
				assert.NoError(t, w.Resume(strconv.Itoa(form)))
			}
		})
	}

	storm.Go(func() {
		for n := range 40 {
			for i := range count {
				w.set(strconv.Itoa(i), n+1)
			}
		}
	})
	storm.Wait()

	require.Eventually(t, func() bool {
		for form := range at {
			for i := range count {
				if n, _ := at[form].Load(strconv.Itoa(i)); n != 40 {
					return false
				}
			}
		}

		return true
	}, 10*time.Second, time.Millisecond)
	w.end()
}
