package runtime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/runtime"
)

func everything(state.Event) bool { return true }

// requireCached requires the cache to show the sources that there are.
func (w *world) requireCached() {
	w.t.Helper()

	values := func(st state.CoreState) map[resource.ID]int {
		list, err := st.List(w.t.Context(), sourcePtr(""))
		require.NoError(w.t, err)

		got := map[resource.ID]int{}
		for _, res := range list.Items {
			got[res.Metadata().ID()] = res.(*source).TypedSpec().N
		}

		return got
	}

	require.Equal(w.t, values(w.state), values(w.CachedState()))
}

// What a watch has left out without breaking is found by an audit, counted, and made up for, deletions included, whatever
// can be told of the bookmarks of the state.
func TestAuditHealsWhatAWatchHasLost(t *testing.T) {
	states := map[string]func(*lossy) state.CoreState{
		"lost with its bookmark":       func(l *lossy) state.CoreState { return l },
		"lost without its bookmark":    func(l *lossy) state.CoreState { l.marks = true; return l },
		"bookmarks of all kinds":       func(l *lossy) state.CoreState { return &revised{CoreState: l} },
		"no bookmarks":                 func(l *lossy) state.CoreState { f := newFaulty(state.WrapCore(l)); f.noBooks = true; return f },
		"bookmarks that are forgotten": func(l *lossy) state.CoreState { f := newFaulty(state.WrapCore(l)); f.forget = true; return f },
	}

	resumable := map[string]bool{"lost with its bookmark": true, "lost without its bookmark": true}

	for name, of := range states {
		for _, cached := range []bool{false, true} {
			for _, followed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, cached %t, followed %t", name, cached, followed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						core, logs := observer.New(zap.WarnLevel)
						lossy := &lossy{CoreState: newState()}

						cfg := runtime.Config{}
						if cached {
							cfg = cachedSources()
						}

						cfg.AuditInterval = time.Minute

						w := newWorld(t, state.WrapCore(of(lossy)), cfg, zap.New(core))
						w.register(qmirror(1))
						w.create(newSource("changed", 1), newSource("destroyed", 1), newSource("recreated", 1), newSource("kept", 1))
						w.start()
						elapse(time.Second)
						w.requireMirrored()

						lossy.losing(everything)
						w.set("changed", 2)
						w.create(newSource("created", 1))
						w.destroy("destroyed")
						w.destroy("recreated")
						elapse(time.Nanosecond)
						w.create(newSource("recreated", 2))
						elapse(time.Second)
						lossy.losing(nil)

						if followed {
							w.set("kept", 2)
						}

						elapse(2 * time.Minute)
						w.requireMirrored()
						w.requireCached()
						assert.Equal(t, 4, counted("watch_missed"))

						relists := counted("watch_relists")

						elapse(5*time.Minute + time.Second)
						assert.Equal(t, 4, counted("watch_missed"))

						if resumable[name] {
							assert.Equal(t, 1, relists)
							assert.Equal(t, 1, counted("watch_relists"))
						}

						said := logs.FilterMessageSnippet("audit").All()
						require.Len(t, said, 1)
						assert.EqualValues(t, 4, said[0].ContextMap()["missed"])
						assert.Equal(t, []any{"changed", "created", "destroyed", "recreated"}, said[0].ContextMap()["some"])

						w.end()
					})
				})
			}
		}
	}
}

// hammer writes sources at random for a while: created, changed, destroyed, created again at once.
func hammer(w *world, draw *rand.Rand, writes int) {
	there := map[resource.ID]bool{}

	for n := range writes {
		id := strconv.Itoa(draw.IntN(40))

		switch {
		case !there[id]:
			w.create(newSource(id, n))
			there[id] = true
		case draw.IntN(3) > 0:
			w.set(id, n)
		default:
			w.destroy(id)

			if there[id] = draw.IntN(2) == 0; there[id] {
				w.create(newSource(id, n))
			}
		}

		if pause := draw.IntN(4); pause > 0 {
			time.Sleep(time.Duration(draw.IntN(1000)) * time.Duration(pause) * time.Microsecond)
		}
	}
}

// On a busy kind, honest watches are never said to have missed anything, however list and stream happen to meet.
func TestAuditBelievesHonestWatches(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				draw, delays := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
				lossy := &lossy{CoreState: newState()}
				lossy.delay = func() time.Duration { return time.Duration(delays.IntN(20)*delays.IntN(2)) * time.Millisecond }
				lossy.list = func(_ context.Context, list func() (resource.List, error)) (resource.List, error) {
					time.Sleep(time.Duration(seed) * time.Millisecond)
					defer time.Sleep(time.Duration(seed) * time.Millisecond)

					return list()
				}

				cfg := runtime.Config{}
				if seed%2 == 0 {
					cfg = cachedSources()
				}

				cfg.AuditInterval = 150 * time.Millisecond

				st := state.CoreState(lossy)
				if seed%4 > 1 {
					st = &revised{CoreState: lossy}
				}

				w := newWorld(t, state.WrapCore(st), cfg, nil)
				w.register(qmirror(1))
				w.start()
				synctest.Wait()
				hammer(w, draw, 3000)
				assert.Greater(t, counted("watch_audits"), 10)
				assert.Zero(t, counted("watch_missed"))
				elapse(time.Second)
				w.requireMirrored()
				assert.Zero(t, counted("watch_missed"))
				w.end()
			})
		})
	}
}

// On a busy kind, too, what was lost for good is made up for, and no more is counted than was lost.
func TestAuditHealsBusyKinds(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				draw, losses := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
				lossy := &lossy{CoreState: newState(), marks: seed%2 == 0}

				cfg := cachedSources()
				cfg.AuditInterval = 150 * time.Millisecond

				st := state.CoreState(lossy)
				if seed%4 > 1 {
					st = &revised{CoreState: lossy}
				}

				w := newWorld(t, state.WrapCore(st), cfg, nil)
				w.register(qmirror(1))
				w.start()
				synctest.Wait()
				lossy.losing(func(state.Event) bool { return losses.IntN(20) == 0 })
				hammer(w, draw, 2000)
				lossy.losing(nil)
				elapse(time.Second)
				w.requireMirrored()
				w.requireCached()
				assert.LessOrEqual(t, counted("watch_missed"), lossy.losses())
				assert.Positive(t, lossy.losses())
				w.end()
			})
		})
	}
}

// Where a list can not be had, the watch is closed and resumed, which finds one that has gone silent.
func TestAuditWithoutAList(t *testing.T) {
	for name, list := range map[string]func(ctx context.Context) (resource.List, error){
		"refused": func(context.Context) (resource.List, error) { return resource.List{}, errBroken },
		"hangs":   func(ctx context.Context) (resource.List, error) { <-ctx.Done(); return resource.List{}, ctx.Err() },
		"deaf":    func(context.Context) (resource.List, error) { time.Sleep(time.Hour); return resource.List{}, nil },
		"panics":  func(context.Context) (resource.List, error) { panic("out of order") },
		"exits":   func(context.Context) (resource.List, error) { goruntime.Goexit(); return resource.List{}, nil },
		"nothing": func(context.Context) (resource.List, error) {
			return resource.List{Items: []resource.Resource{nil}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lossy := &lossy{CoreState: newState()}
				lossy.list = func(ctx context.Context, _ func() (resource.List, error)) (resource.List, error) { return list(ctx) }

				st := newFaulty(state.WrapCore(lossy))
				w := newWorld(t, st.asState(), runtime.Config{AuditInterval: time.Minute}, nil)
				seen := w.reconcilesSources()
				w.start()
				synctest.Wait()

				st.silence(sourceType)
				w.create(newSource("a", 1))
				elapse(2*time.Minute + time.Second)
				assert.Equal(t, []resource.ID{"a"}, seen.all())

				for range 10 { // one audit at a time asks the state
					elapse(time.Minute)
				}

				assert.Zero(t, counted("watch_missed"))
				w.end()
			})
		})
	}
}

// A state that lists other things than its watches show has a kind loaded anew once, and not by every audit.
func TestAuditOfAStateAtOddsWithItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		lossy := &lossy{CoreState: newState()}
		cfg := cachedSources()
		cfg.AuditInterval = time.Minute
		ghost := stored("ghost", 1, 1)
		lossy.list = func(_ context.Context, list func() (resource.List, error)) (resource.List, error) {
			all, err := list()
			all.Items = append(all.Items, ghost)

			return all, err
		}

		w := newWorld(t, state.WrapCore(lossy), cfg, zap.New(core))
		w.register(qmirror(1))
		w.create(newSource("a", 1))
		w.start()
		elapse(10 * time.Minute)
		assert.Equal(t, 1, counted("watch_relists"))
		assert.Equal(t, 1, counted("watch_missed"))
		assert.NotZero(t, logs.FilterMessageSnippet("lists a kind otherwise").Len())

		// What is lost beside it is found all the same.
		lossy.losing(everything)
		w.set("a", 2)
		synctest.Wait()
		lossy.losing(nil)
		elapse(3 * time.Minute)

		read, err := w.CachedState().Get(t.Context(), sourcePtr("a"))
		require.NoError(t, err)
		assert.Equal(t, 2, read.(*source).TypedSpec().N)
		assert.Equal(t, 2, counted("watch_missed"))
		w.end()
	})
}

// Classic controllers are woken for what their watch has left out, though nobody else needs to know the keys of the kind.
func TestAuditHealsKindsOfClassicControllers(t *testing.T) {
	for _, kind := range []controller.InputKind{controller.InputWeak, controller.InputStrong} {
		synctest.Test(t, func(t *testing.T) {
			lossy := &lossy{CoreState: newState()}

			var seen []int

			w := newWorld(t, state.WrapCore(lossy), runtime.Config{AuditInterval: time.Minute}, nil)
			w.register(&classic{name: "sum", inputs: []controller.Input{sources(kind)}, pass: func(ctx context.Context, r controller.Runtime) error {
				list, err := safe.ReaderListAll[*source](ctx, r)
				if err != nil {
					return err
				}

				sum := 0
				for s := range list.All() {
					sum += s.TypedSpec().N
				}

				seen = append(seen, sum)

				return nil
			}})
			w.create(newSource("a", 1), newSource("b", 10))
			w.start()
			elapse(time.Second)

			lossy.losing(everything)
			w.set("a", 2)
			w.destroy("b")
			elapse(time.Second)
			lossy.losing(nil)
			w.create(newSource("c", 100))
			elapse(2 * time.Minute)

			assert.Equal(t, 102, seen[len(seen)-1])
			assert.Equal(t, 2, counted("watch_missed"))

			passes := len(seen)

			elapse(10 * time.Minute)
			assert.Len(t, seen, passes)
			assert.Equal(t, 2, counted("watch_missed"))
			w.end()
		})
	}
}

// An audit does not outlive what it looks at: the watch, the run.
func TestAuditEndsWithWhatItLooksAt(t *testing.T) {
	for name, end := range map[string]func(*world){
		"watch": func(w *world) {
			require.NoError(w.t, w.Unregister(w.t.Context(), "qmirror"))
			require.NoError(w.t, w.Unregister(w.t.Context(), "weak"))
		},
		"run": func(w *world) { w.end() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lossy := &lossy{CoreState: newState()}
				first := true
				lossy.list = func(ctx context.Context, list func() (resource.List, error)) (resource.List, error) {
					if !first {
						return list()
					}

					first = false

					select {
					case <-ctx.Done():
					case <-time.After(30 * time.Second):
					}

					return resource.List{}, nil
				}

				w := newWorld(t, state.WrapCore(lossy), runtime.Config{AuditInterval: time.Minute}, nil)
				w.register(qmirror(1))
				w.register(&classic{name: "weak", inputs: []controller.Input{sources(controller.InputWeak)}, pass: idle})
				w.create(newSource("a", 1))
				w.start()
				elapse(70 * time.Second)
				end(w)
				elapse(time.Nanosecond)

				if name != "run" {
					w.create(newSource("b", 1))
					w.register(qmirror(1))
					elapse(25 * time.Second) // the audit has had its answer, and would have had its patience
					w.requireMirrored()
				}

				assert.Zero(t, counted("watch_missed"))
				w.end()
			})
		})
	}
}

// A watch that comes after the patience of an audit is late, and has not missed anything, as long as it moves.
func TestAuditKnowsLateFromLost(t *testing.T) {
	for name, of := range map[string]func(*lossy) state.CoreState{
		"bookmarks":              func(l *lossy) state.CoreState { return l },
		"bookmarks of all kinds": func(l *lossy) state.CoreState { return &revised{CoreState: l} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lossy := &lossy{CoreState: newState()}
				cfg := cachedSources()
				cfg.AuditInterval = time.Minute

				w := newWorld(t, state.WrapCore(of(lossy)), cfg, nil)
				w.register(qmirror(1))
				w.start()
				elapse(2 * time.Minute)

				lossy.mu.Lock()
				lossy.delay = func() time.Duration { return 4 * time.Second }
				lossy.mu.Unlock()

				for n := range 200 {
					w.create(newSource(strconv.Itoa(n), n))
					elapse(time.Second)
				}

				assert.Zero(t, counted("watch_missed"))
				elapse(10 * time.Minute)
				assert.Zero(t, counted("watch_missed"))
				w.requireMirrored()
				w.end()
			})
		})
	}
}

// Kinds whose watches were opened together are not all listed together.
func TestAuditsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const kinds = 10

		var (
			mu    sync.Mutex
			times = map[resource.Type]time.Duration{}
		)

		began := time.Now()
		listed := &lists{CoreState: newState(), listed: func(typ resource.Type) {
			mu.Lock()
			defer mu.Unlock()

			times[typ] = time.Since(began)
		}}

		w := newWorld(t, state.WrapCore(listed), runtime.Config{AuditInterval: 10 * time.Minute}, nil)

		for n := range kinds {
			input := controller.Input{Namespace: ns, Type: fmt.Sprintf("Kind%d.test", n), Kind: controller.InputWeak}
			w.register(&classic{name: input.Type, inputs: []controller.Input{input}, pass: idle})
		}

		w.start()
		elapse(10*time.Minute + time.Second)

		different := map[time.Duration]struct{}{}

		for typ, at := range times {
			require.GreaterOrEqual(t, at, 9*time.Minute, typ)
			different[at] = struct{}{}
		}

		require.Len(t, times, kinds)
		require.Len(t, different, kinds)
		w.end()
	})
}

// lists tells of the lists that are asked for.
type lists struct {
	state.CoreState

	listed func(resource.Type)
}

func (l *lists) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	l.listed(kind.Type())

	return l.CoreState.List(ctx, kind, opts...)
}

// Nor does the call of a timer that had begun to say that an audit is due: Run returns after it.
func TestRunWaitsForATimerThatRings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &slowTimers{Clock: clockwork.NewRealClock(), release: make(chan struct{})}
		w := newWorld(t, nil, runtime.Config{AuditInterval: time.Minute, Clock: clock}, nil)
		w.register(qmirror(1))
		w.start()
		elapse(61 * time.Second)
		require.Equal(t, int32(1), clock.ringing.Load(), "the audit of the one kind is due")

		w.stop()
		synctest.Wait()

		select {
		case err := <-w.ended:
			t.Fatalf("Run has returned %v while a goroutine of its own runs", err)
		default:
		}

		close(clock.release)
		w.end()
	})
}

// slowTimers has all calls of timers wait.
type slowTimers struct {
	clockwork.Clock

	ringing atomic.Int32
	release chan struct{}
}

func (c *slowTimers) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return c.Clock.AfterFunc(d, func() {
		c.ringing.Add(1)
		<-c.release
		f()
	})
}
