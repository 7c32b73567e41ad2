package runtime_test

import (
	"context"
	"expvar"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// work is what a controller does about a target in each pass.
type work func(ctx context.Context, r controller.ReaderWriter) error

// about is a classic controller of the targets that works on "t".
func about(name string, do work) *classic {
	return &classic{
		name: name, inputs: []controller.Input{targets(controller.InputStrong)}, outputs: []controller.Output{shared(targetType)},
		pass: func(ctx context.Context, r controller.Runtime) error { return do(ctx, r) },
	}
}

// aboutEach is a queue controller that does the same.
func aboutEach(name string, do work) *queued {
	return &queued{
		name: name,
		settings: controller.QSettings{
			Inputs: []controller.Input{targets(controller.InputQPrimary)}, Outputs: []controller.Output{shared(targetType)},
		},
		reconcile: func(ctx context.Context, r controller.QRuntime, _ resource.Pointer) error { return do(ctx, r) },
	}
}

// edits changes the target, whoever owns it.
func edits(edit func(*target)) work {
	return func(ctx context.Context, r controller.ReaderWriter) error {
		return safe.WriterModify(ctx, r, newTarget("t", 0), func(t *target) error {
			edit(t)

			return nil
		}, controller.WithModifyNoOwner())
	}
}

func sets(n int) work { return edits(func(t *target) { t.TypedSpec().N = n }) }

// noting counts what is done.
func noting(passes *journal[time.Time], do work) work {
	return func(ctx context.Context, r controller.ReaderWriter) error {
		passes.add(time.Now())

		return do(ctx, r)
	}
}

// present returns the number and the version of the target.
func (w *world) present() (n int, version uint64) {
	w.t.Helper()

	t, err := safe.StateGet[*target](w.t.Context(), w.state, targetPtr("t"))
	require.NoError(w.t, err)

	return t.TypedSpec().N, t.Metadata().Version().Value()
}

// sleep lets time go by until all is at rest again.
func (w *world) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Controllers that undo each other are found, named with what they fight for, and told of it ever more rarely; when one of
// them has gone, the other one has its way, and all is forgotten.
func TestRivalsAreNamedAndSlowedDown(t *testing.T) {
	for name, pair := range map[string][2]func(string, work) any{
		"classic": {classicOf, classicOf}, "queue": {queueOf, queueOf}, "one of each": {classicOf, queueOf},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zap.InfoLevel)
				w := newWorld(t, nil, runtime.Config{}, zap.New(core))

				var passes journal[time.Time]

				w.register(pair[0]("left", noting(&passes, sets(1))))
				w.register(pair[1]("right", noting(&passes, sets(2))))
				w.create(newTarget("t", 0))
				w.start()
				synctest.Wait()

				rivalries := w.Health().Rivalries
				require.Len(t, rivalries, 1)
				assert.Equal(t, "t", rivalries[0].Resource.ID)
				assert.Equal(t, []string{"left", "right"}, rivalries[0].Controllers)
				assert.Equal(t, []string{"spec.n"}, rivalries[0].Fields)
				assert.Equal(t, time.Now(), rivalries[0].Since)
				assert.Equal(t, 500*time.Millisecond, rivalries[0].Interval)
				assert.Equal(t, []string{"controllers left, right keep rewriting Targets.test.switchyard.run(test/t), " +
					"each undoing what another has written: spec.n"}, w.Health().Problems())

				// At 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 61.5 s, and every 30 s.
				w.sleep(10 * time.Minute)
				assert.Equal(t, 30*time.Second, w.Health().Rivalries[0].Interval)
				assert.Less(t, passes.len(), 250)

				began := logs.FilterMessageSnippet("each undoing what another has written").All()
				require.Len(t, began, 1)
				assert.Equal(t, zap.WarnLevel, began[0].Level)

				fields := began[0].ContextMap()
				assert.Equal(t, "Targets.test.switchyard.run(test/t)", fields["resource"])
				assert.Equal(t, []any{"left", "right"}, fields["controllers"])
				assert.Equal(t, []any{"spec.n"}, fields["fields"])
				assert.GreaterOrEqual(t, fields["rewrites"], int64(16))
				assert.Equal(t, 500*time.Millisecond, fields["interval"])

				assert.Equal(t, 1, own(w, "rivalries"))
				assert.Equal(t, 1, own(w, "rewritten_resources"))

				require.NoError(t, w.Unregister(t.Context(), "right"))
				synctest.Wait()

				n, _ := w.present()
				assert.Equal(t, 1, n, "whoever is left does not wait any longer")
				assert.Empty(t, w.Health().Rivalries)
				assert.Empty(t, w.Health().Problems())
				assert.Zero(t, own(w, "rewritten_resources"))

				ended := logs.FilterMessageSnippet("do not keep rewriting").All()
				require.Len(t, ended, 1)
				assert.Equal(t, zap.InfoLevel, ended[0].Level)

				w.end()
			})
		})
	}
}

func classicOf(name string, do work) any { return about(name, do) }
func queueOf(name string, do work) any   { return aboutEach(name, do) }

// own returns a metric of the engine that was made last.
func own(w *world, name string) (value int) {
	w.t.Helper()

	last := 0

	expvar.Get("switchyard").(*expvar.Map).Do(func(engine expvar.KeyValue) {
		number, err := strconv.Atoi(strings.TrimPrefix(engine.Key, "engine-"))
		require.NoError(w.t, err)

		if metric := engine.Value.(*expvar.Map).Get(name); number > last && metric != nil {
			value, err = strconv.Atoi(metric.String())
			require.NoError(w.t, err)

			last = number
		}
	})

	return value
}

// Three that want something else each are found as two are.
func TestThreeRivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var passes journal[time.Time]

		for i, name := range []string{"a", "b", "c"} {
			w.register(about(name, noting(&passes, sets(i))))
		}

		w.start()
		w.sleep(time.Hour)

		require.Len(t, w.Health().Rivalries, 1)
		assert.Equal(t, []string{"a", "b", "c"}, w.Health().Rivalries[0].Controllers)
		assert.Less(t, passes.len(), 2000)

		require.NoError(t, w.Unregister(t.Context(), "b"))
		w.sleep(time.Minute)
		require.Len(t, w.Health().Rivalries, 1, "two are enough")
		assert.Equal(t, []string{"a", "c"}, w.Health().Rivalries[0].Controllers)
		w.end()
	})
}

// What there is to fight for.
var bones = map[string]struct {
	left, right work
	fields      []string
}{
	"a label": {
		edits(func(t *target) { t.Metadata().Labels().Set("colour", "red") }),
		edits(func(t *target) { t.Metadata().Labels().Set("colour", "blue") }),
		[]string{"metadata.labels.colour"},
	},
	"whether there is a label": {
		edits(func(t *target) { t.Metadata().Labels().Set("colour", "red") }),
		edits(func(t *target) { t.Metadata().Labels().Delete("colour") }),
		[]string{"metadata.labels.colour"},
	},
	"an annotation and the spec": {
		edits(func(t *target) { t.Metadata().Annotations().Set("by", "left"); t.TypedSpec().N = 1 }),
		edits(func(t *target) { t.Metadata().Annotations().Set("by", "right"); t.TypedSpec().N = 2 }),
		[]string{"metadata.annotations.by", "spec.n"},
	},
	"a finalizer, in a modification": {
		edits(func(t *target) { t.Metadata().Finalizers().Add("f") }),
		edits(func(t *target) { t.Metadata().Finalizers().Remove("f") }),
		[]string{"metadata.finalizers.f"},
	},
	"a finalizer": {
		func(ctx context.Context, r controller.ReaderWriter) error {
			return r.AddFinalizer(ctx, targetPtr("t"), "f")
		},
		func(ctx context.Context, r controller.ReaderWriter) error {
			return r.RemoveFinalizer(ctx, targetPtr("t"), "f")
		},
		[]string{"metadata.finalizers.f"},
	},
	"whether it is there": {
		sets(1),
		func(ctx context.Context, r controller.ReaderWriter) error {
			if err := r.Destroy(ctx, targetPtr("t"), controller.WithOwner("")); !state.IsNotFoundError(err) {
				return err
			}

			return nil
		},
		[]string{"existence"},
	},
	"one field, while another one grows": {
		edits(func(t *target) {
			if n := t.TypedSpec().N; n%2 == 0 {
				t.TypedSpec().N = n + 1
				t.Metadata().Labels().Set("odd", "true")
			}
		}),
		edits(func(t *target) {
			if n := t.TypedSpec().N; n%2 == 1 {
				t.TypedSpec().N = n + 1
				t.Metadata().Labels().Delete("odd")
			}
		}),
		[]string{"metadata.labels.odd"},
	},
}

// What rivals fight for is named, whatever it is, and makes no difference to how they are slowed down.
func TestWhatRivalsFightFor(t *testing.T) {
	for name, bone := range bones {
		for form, of := range map[string]func(string, work) any{"classic": classicOf, "queue": queueOf} {
			t.Run(name+", "+form, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, nil, runtime.Config{}, nil)

					var passes journal[time.Time]

					w.create(newTarget("t", 0))
					w.register(of("left", noting(&passes, bone.left)))
					w.register(of("right", noting(&passes, bone.right)))
					w.start()
					synctest.Wait()

					count := passes.len()
					require.Len(t, w.Health().Rivalries, 1)
					assert.Equal(t, bone.fields, w.Health().Rivalries[0].Fields)
					assert.Less(t, count, 200)

					w.sleep(10 * time.Minute)
					assert.Len(t, w.Health().Rivalries, 1, "it goes on")
					assert.Less(t, passes.len()-count, 250)
					w.end()
				})
			})
		}
	}
}

// When rivals were told of what was held back has nothing to do with when others are woken afterwards.
func TestOthersHaveNotWaitedSinceRivalsWereTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Passes: cause.DefaultPasses}, nil)

		var gaveIn atomic.Bool

		w.register(about("left", sets(1)))
		w.register(about("right", func(ctx context.Context, r controller.ReaderWriter) error {
			if gaveIn.Load() {
				return nil
			}

			return sets(2)(ctx, r)
		}))
		w.register(&classic{
			name: "other", inputs: []controller.Input{sources(controller.InputWeak)},
			run: func(ctx context.Context, r controller.Runtime) error {
				for ctx.Err() == nil {
					select {
					case <-r.EventCh():
						_, err := r.List(ctx, sourcePtr(""))
						require.NoError(t, err)
						time.Sleep(time.Second)
					case <-ctx.Done():
					}
				}

				return nil
			},
		})
		w.start()

		// At 571.5 s they are told for the last time, and left has its way: so nothing is held back any more.
		w.sleep(570 * time.Second)
		gaveIn.Store(true)
		w.sleep(10 * time.Second)
		require.Len(t, w.Health().Rivalries, 1)

		w.create(newSource("a", 0))

		woken := time.Now()

		synctest.Wait()

		passes, err := w.Passes("other")
		require.NoError(t, err)
		require.Len(t, passes[0].Causes, 1)
		require.Zero(t, passes[0].Waited)

		for _, c := range w.Health().Controllers {
			if c.Name == "other" {
				require.Equal(t, woken, c.BusySince)
			}
		}

		w.end()
	})
}

// Who fights does not keep others from knowing: they are told of each change at once.
func TestOthersSeeRivalsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var classics, queues journal[uint64]

		looks := func(seen *journal[uint64]) work {
			return func(ctx context.Context, r controller.ReaderWriter) error {
				t, err := r.Get(ctx, targetPtr("t"))
				if err == nil {
					seen.add(t.Metadata().Version().Value())
				}

				return err
			}
		}

		w.create(newTarget("t", 0))
		w.register(about("left", sets(1)))
		w.register(about("classic", looks(&classics)))
		w.register(aboutEach("queue", looks(&queues)))
		w.register(aboutEach("right", sets(2)))
		w.start()

		for range 200 {
			w.sleep(5 * time.Second)

			_, version := w.present()
			require.Equal(t, version, classics.last())
			require.Equal(t, version, queues.last())
		}

		assert.NotEmpty(t, w.Health().Rivalries)
		assert.Equal(t, []string{"left", "right"}, w.Health().Rivalries[0].Controllers)
		w.end()
	})
}

// A change by somebody else ends the wait, with time standing still; and what a rival reads and waits for is never held back.
func TestRivalsSeeOthersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{Options: []options.Option{options.WithCachedResource(ns, targetType)}}, nil)

		var marks journal[string]

		looking := func(do work) work {
			return func(ctx context.Context, r controller.ReaderWriter) error {
				if err := r.(interface {
					Barrier(ctx context.Context, kinds ...resource.Kind) error
				}).Barrier(ctx, targetPtr("")); err != nil {
					return err
				}

				t, err := safe.ReaderGetByID[*target](ctx, r, "t")
				if err != nil {
					return err
				}

				mark, _ := t.Metadata().Annotations().Get("mark")
				marks.add(mark)

				return do(ctx, r)
			}
		}

		w.create(newTarget("t", 0))
		w.register(about("left", looking(sets(1))))
		w.register(about("right", looking(sets(2))))
		w.start()
		w.sleep(5 * time.Minute)
		require.NotEmpty(t, w.Health().Rivalries)

		for i := range 20 {
			w.sleep(7 * time.Second)

			mark := strconv.Itoa(i)
			require.NoError(t, modify(t.Context(), w.state, "t", func(t *target) { t.Metadata().Annotations().Set("mark", mark) }))
			synctest.Wait()

			all := marks.all()
			assert.Equal(t, mark, all[len(all)-1])
			assert.Equal(t, mark, all[len(all)-2], "both were told")

			shown, err := safe.StateGet[*target](t.Context(), state.WrapCore(w.CachedState()), targetPtr("t"))
			require.NoError(t, err)

			n, version := w.present()
			assert.Equal(t, n, shown.TypedSpec().N)
			assert.Equal(t, version, shown.Metadata().Version().Value())
		}

		w.end()
	})
}

// When rivals stop, each of them has run once more on what there is in the end, and they are forgotten.
func TestLastChangeOfRivalsIsNotLost(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) { testLastChangeOfRivals(t, seed) })
	}
}

func testLastChangeOfRivals(t *testing.T, seed uint64) {
	w := newWorld(t, nil, runtime.Config{Seed: seed}, nil)
	random := rand.New(rand.NewPCG(seed, 0))

	var (
		mu    sync.Mutex
		seen  = map[string]uint64{}
		peace bool
		names []string
	)

	for i := range 2 + random.IntN(3) {
		name := fmt.Sprint("rival-", i)
		names = append(names, name)

		of := classicOf
		if random.IntN(2) == 0 {
			of = queueOf
		}

		w.register(of(name, func(ctx context.Context, r controller.ReaderWriter) error {
			t, err := safe.ReaderGetByID[*target](ctx, r, "t")
			if err != nil && !state.IsNotFoundError(err) {
				return err
			}

			mu.Lock()
			defer mu.Unlock()

			seen[name] = 0
			if err == nil {
				seen[name] = t.Metadata().Version().Value()
			}

			switch destroys := seed%4 == 0 && i == 0; {
			case peace || destroys && err != nil:
				return nil
			case destroys:
				return r.Destroy(ctx, targetPtr("t"), controller.WithOwner(""))
			default:
				return sets(i)(ctx, r)
			}
		}))
	}

	w.create(newTarget("t", 0))
	w.start()
	synctest.Wait()
	require.NotEmpty(t, w.Health().Rivalries, "seed %d", seed)

	for range random.IntN(20) {
		w.sleep(time.Duration(random.IntN(20_000)) * time.Millisecond)

		switch random.IntN(4) {
		case 0:
			w.state.ModifyWithResult(t.Context(), newTarget("t", 0), func(res resource.Resource) error {
				res.(*target).TypedSpec().N = 100 + random.IntN(3)

				return nil
			})
		case 1:
			name := names[random.IntN(len(names))]
			require.NoError(t, w.Pause(t.Context(), name))
			w.sleep(time.Duration(random.IntN(20_000)) * time.Millisecond)
			require.NoError(t, w.Resume(name))
		}
	}

	mu.Lock()
	peace = true
	mu.Unlock()

	w.sleep(2 * time.Minute)
	assert.Empty(t, w.Health().Problems(), "seed %d", seed)

	var version uint64
	if now, err := w.state.Get(t.Context(), targetPtr("t")); err == nil {
		version = now.Metadata().Version().Value()
	}

	for _, name := range names {
		assert.Equal(t, version, seen[name], "seed %d, %s", seed, name)
	}

	w.end()
}

// A rival that no longer has the resource among its inputs is not told of it, and is when it has again.
func TestInputsOfRivalsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var (
			passes  journal[time.Time]
			updated = make(chan []controller.Input)
		)

		left := about("left", sets(1))
		left.run = func(ctx context.Context, r controller.Runtime) error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case inputs := <-updated:
					if err := r.UpdateInputs(inputs); err != nil {
						return err
					}
				case <-r.EventCh():
					passes.add(time.Now())

					if err := sets(1)(ctx, r); err != nil {
						return err
					}
				}
			}
		}

		w.create(newTarget("t", 0))
		w.register(left)
		w.register(about("right", sets(2)))
		w.start()
		w.sleep(2 * time.Minute)
		require.NotEmpty(t, w.Health().Rivalries)

		updated <- []controller.Input{sources(controller.InputWeak)}

		synctest.Wait()

		count := passes.len()
		w.sleep(5 * time.Minute)
		assert.Equal(t, count, passes.len())
		assert.Empty(t, w.Health().Problems())

		n, _ := w.present()
		assert.Equal(t, 2, n, "the other one has run on the last change")

		updated <- []controller.Input{targets(controller.InputWeak)}

		synctest.Wait()
		require.NoError(t, modify(t.Context(), w.state, "t", func(t *target) { t.TypedSpec().N = 0 }))
		w.sleep(time.Minute)
		assert.Len(t, w.Health().Rivalries, 1, "and there they are again")
		w.end()
	})
}

// The end of the run does not wait for what is held back, nor does anything of it stay.
func TestEndOfARunWithRivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)
		w.register(about("left", sets(1)))
		w.register(aboutEach("right", sets(2)))
		w.create(newTarget("t", 0))
		w.start()
		w.sleep(5 * time.Minute)
		require.NotEmpty(t, w.Health().Rivalries)

		now := time.Now()
		w.end()
		assert.Equal(t, now, time.Now())
		assert.Empty(t, w.Health().Rivalries)
	})
}

// What looks like it, and is none: with time standing still, all of it is done.
func TestWhatIsNoRivalry(t *testing.T) {
	// step has a controller do something while the number is below 1000.
	step := func(edit func(t *target)) work {
		return edits(func(t *target) {
			if t.TypedSpec().N < 1000 {
				edit(t)
			}
		})
	}

	for name, controllers := range map[string][]work{
		"counting": {step(func(t *target) { t.TypedSpec().N++ }), step(func(t *target) { t.TypedSpec().N++ })},
		"one goes back and forth, the other one counts": {
			step(func(t *target) {
				if t.TypedSpec().N%2 == 0 {
					t.Metadata().Labels().Set("even", "true")
				} else {
					t.Metadata().Labels().Delete("even")
				}
			}),
			step(func(t *target) { t.TypedSpec().N++ }),
		},
		"each its finalizer": {
			step(func(t *target) {
				if !t.Metadata().Finalizers().Add("a") {
					t.Metadata().Finalizers().Remove("a")
				}
			}),
			step(func(t *target) {
				t.TypedSpec().N++

				if !t.Metadata().Finalizers().Add("b") {
					t.Metadata().Finalizers().Remove("b")
				}
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil, runtime.Config{}, nil)
				now := time.Now()

				for i, do := range controllers {
					w.register(about(fmt.Sprint("c", i), do))
				}

				w.create(newTarget("t", 0))
				w.start()
				synctest.Wait()

				n, _ := w.present()
				assert.Equal(t, 1000, n)
				assert.Equal(t, now, time.Now())
				assert.Zero(t, own(w, "rivalries"))
				w.end()
			})
		})
	}
}

// A parent that has two hundred children at once, each of which is written by two controllers and counted in the parent by
// them, is a lot of work, and no rivalry.
func TestManyChildrenAreNoRivalry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)
		now := time.Now()

		child := func(id resource.ID) bool { return strings.HasPrefix(id, "child-") }

		// Each child is born, named by one controller and made ready by another, which are counted in the parent.
		parent := about("parent", nil)
		parent.pass = func(ctx context.Context, r controller.Runtime) error {
			for i := range 200 {
				if err := safe.WriterModify(ctx, r, newTarget(fmt.Sprint("child-", i), 0), func(t *target) error {
					t.Metadata().Labels().Set("parent", "t")

					return nil
				}, controller.WithModifyNoOwner()); err != nil {
					return err
				}
			}

			return edits(func(t *target) { t.Metadata().Annotations().Set("children", "200") })(ctx, r)
		}

		counts := func(name string, field string) *queued {
			q := aboutEach(name, nil)
			q.reconcile = func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				if !child(ptr.ID()) {
					return nil
				}

				if err := safe.WriterModify(ctx, r, newTarget(ptr.ID(), 0), func(t *target) error {
					t.Metadata().Annotations().Set(field, "done")

					return nil
				}, controller.WithModifyNoOwner()); err != nil {
					return err
				}

				all, err := safe.ReaderListAll[*target](ctx, r)
				if err != nil {
					return err
				}

				count := 0

				for t := range all.All() {
					if _, done := t.Metadata().Annotations().Get(field); done && child(t.Metadata().ID()) {
						count++
					}
				}

				return edits(func(t *target) { t.Metadata().Annotations().Set(field, strconv.Itoa(count)) })(ctx, r)
			}

			return q
		}

		w.register(parent)
		w.register(counts("names", "named"))
		w.register(counts("readies", "ready"))
		w.create(newTarget("t", 0))
		w.start()
		synctest.Wait()

		got, err := safe.StateGet[*target](t.Context(), w.state, targetPtr("t"))
		require.NoError(t, err)

		for _, field := range []string{"named", "ready"} {
			count, _ := got.Metadata().Annotations().Get(field)
			assert.Equal(t, "200", count)
		}

		assert.Equal(t, now, time.Now())
		assert.Zero(t, own(w, "rivalries"))
		w.end()
	})
}

// Rivals that wake each other by way of a third controller are named. They are told of nothing too early, but it is not that
// which wakes them.
func TestIndirectRivalsAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var passes journal[time.Time]

		// rival is woken by the sources, and fights for the target, for a while.
		rival := func(name string, n int) *classic {
			c := about(name, noting(&passes, func(ctx context.Context, r controller.ReaderWriter) error {
				if passes.len() > 500 {
					return nil
				}

				return sets(n)(ctx, r)
			}))
			c.inputs = []controller.Input{sources(controller.InputWeak)}

			return c
		}

		messenger := about("messenger", func(ctx context.Context, r controller.ReaderWriter) error {
			t, err := r.Get(ctx, targetPtr("t"))
			if err != nil {
				return err
			}

			return safe.WriterModify(ctx, r, newSource("s", 0), func(s *source) error {
				s.TypedSpec().N = int(t.Metadata().Version().Value())

				return nil
			})
		})
		messenger.outputs = []controller.Output{exclusive(sourceType)}

		w.create(newTarget("t", 0))
		w.register(rival("left", 1))
		w.register(rival("right", 2))
		w.register(messenger)
		w.start()
		synctest.Wait()

		require.Len(t, w.Health().Rivalries, 1)
		assert.Equal(t, []string{"left", "right"}, w.Health().Rivalries[0].Controllers)
		w.sleep(time.Minute)
		assert.Empty(t, w.Health().Rivalries)
		w.end()
	})
}

// A circle over two resources is none of two rivals: each has one writer, who undoes nobody's work but its own.
func TestCircleOverTwoResourcesIsNoRivalry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var passes journal[time.Time]

		follow := about("follow", func(ctx context.Context, r controller.ReaderWriter) error {
			t, err := safe.ReaderGetByID[*target](ctx, r, "t")
			if err != nil {
				return err
			}

			return safe.WriterModify(ctx, r, newSource("s", 0), func(s *source) error {
				s.TypedSpec().N = t.TypedSpec().N

				return nil
			})
		})
		follow.outputs = []controller.Output{shared(sourceType)}

		negate := about("negate", noting(&passes, func(ctx context.Context, r controller.ReaderWriter) error {
			s, err := safe.ReaderGetByID[*source](ctx, r, "s")
			if err != nil || passes.len() > 1000 {
				return err
			}

			return sets(1-s.TypedSpec().N)(ctx, r)
		}))
		negate.inputs = []controller.Input{sources(controller.InputWeak)}

		w.create(newTarget("t", 0), newSource("s", 0))
		require.NoError(t, w.state.Destroy(t.Context(), sourcePtr("s")))
		w.register(follow)
		w.register(negate)
		w.start()
		w.sleep(time.Minute)
		assert.Greater(t, passes.len(), 1000)
		assert.Zero(t, own(w, "rivalries"))
		w.end()
	})
}

// The switch has nobody looked for, and nobody slowed down. The controllers here end it themselves.
func TestRivalsAreLeftAloneOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{NoDamping: true}, nil)

		var passes journal[time.Time]

		fights := func(n int) work {
			return func(ctx context.Context, r controller.ReaderWriter) error {
				passes.add(time.Now())

				if passes.len() > 1000 {
					return nil
				}

				return sets(n)(ctx, r)
			}
		}

		w.create(newTarget("t", 0))
		w.register(about("left", fights(1)))
		w.register(about("right", fights(2)))

		now := time.Now()
		w.start()
		synctest.Wait()
		assert.Greater(t, passes.len(), 1000)
		assert.Equal(t, now, slices.MaxFunc(passes.all(), time.Time.Compare))
		assert.Zero(t, own(w, "rivalries"))
		w.end()
	})
}

// Rivals that rewrite many resources are slowed down at each of them.
func TestRivalsOverManyResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 300

		w := newWorld(t, nil, runtime.Config{}, nil)

		var passes journal[int]

		fights := func(name string, n int) *queued {
			q := aboutEach(name, nil)
			q.reconcile = func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				passes.add(n)

				return safe.WriterModify(ctx, r, newTarget(ptr.ID(), 0), func(t *target) error {
					t.TypedSpec().N = n

					return nil
				}, controller.WithModifyNoOwner())
			}

			return q
		}

		for i := range many {
			w.create(newTarget(fmt.Sprint(i), 0))
		}

		w.register(fights("left", 1))
		w.register(fights("right", 2))
		w.start()
		synctest.Wait()
		assert.Len(t, w.Health().Rivalries, many)

		count := passes.len()
		w.sleep(2 * time.Minute)
		assert.Less(t, passes.len()-count, many*60)

		require.NoError(t, w.Unregister(t.Context(), "left"))
		synctest.Wait()
		assert.Empty(t, w.Health().Rivalries)

		all, err := safe.StateListAll[*target](t.Context(), w.state)
		require.NoError(t, err)

		for t := range all.All() {
			assert.Equal(w.t, 2, t.TypedSpec().N)
		}

		w.end()
	})
}
