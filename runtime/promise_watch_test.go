package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
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
	"github.com/switchyard-run/switchyard/runtime/options"
)

var errBroken = errors.New("connection reset")

// mirror is a classic controller that makes the targets equal to the sources, tracked outputs and all.
func mirror() *classic {
	return &classic{
		name:    "mirror",
		inputs:  []controller.Input{sources(controller.InputWeak)},
		outputs: []controller.Output{exclusive(targetType)},
		pass: func(ctx context.Context, r controller.Runtime) error {
			r.StartTrackingOutputs()

			list, err := safe.ReaderList[*source](ctx, r, sourcePtr(""))
			if err != nil {
				return err
			}

			for s := range list.All() {
				if err = copySource(ctx, r, s); err != nil {
					return err
				}
			}

			return r.CleanupOutputs(ctx, targetPtr(""))
		},
	}
}

// qmirror is the same as a queue controller.
func qmirror(concurrency uint) *queued {
	return &queued{
		name: "qmirror",
		settings: controller.QSettings{
			Inputs:      []controller.Input{sources(controller.InputQPrimary)},
			Outputs:     []controller.Output{exclusive(targetType)},
			Concurrency: optional.Some(concurrency),
		},
		reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			s, err := safe.ReaderGet[*source](ctx, r, ptr)
			if state.IsNotFoundError(err) {
				if err = r.Destroy(ctx, targetPtr(ptr.ID())); state.IsNotFoundError(err) {
					return nil
				}

				return err
			}

			if err != nil {
				return err
			}

			return copySource(ctx, r, s)
		},
	}
}

func copySource(ctx context.Context, r controller.Writer, s *source) error {
	return safe.WriterModify(ctx, r, newTarget(s.Metadata().ID(), 0), func(t *target) error {
		t.TypedSpec().N = s.TypedSpec().N

		return nil
	})
}

// requireMirrored asserts that each source has an equal target and there are no others.
func (w *world) requireMirrored() {
	w.t.Helper()

	values := func(ptr resource.Metadata) map[resource.ID]int {
		list, err := w.state.List(w.t.Context(), ptr)
		require.NoError(w.t, err)

		got := map[resource.ID]int{}

		for _, res := range list.Items {
			switch res := res.(type) {
			case *source:
				got[res.Metadata().ID()] = res.TypedSpec().N
			case *target:
				got[res.Metadata().ID()] = res.TypedSpec().N
			}
		}

		return got
	}

	require.Equal(w.t, values(sourcePtr("")), values(targetPtr("")))
}

// A watch that breaks again and again in a storm of writes and deletes loses nothing: classic or queue controller,
// cached or not, with bookmarks, with bookmarks that are refused, and without any.
func TestBrokenWatchInAStormLosesNothing(t *testing.T) {
	for _, form := range []string{"classic", "queue"} {
		for _, cached := range []bool{false, true} {
			for _, bookmarks := range []string{"kept", "refused", "none"} {
				t.Run(fmt.Sprintf("%s/cached=%t/bookmarks=%s", form, cached, bookmarks), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { storm(t, form, cached, bookmarks) })
				})
			}
		}
	}
}

func storm(t *testing.T, form string, cached bool, bookmarks string) {
	st := newFaulty(newState())
	st.forget = bookmarks == "refused"
	st.noBooks = bookmarks == "none"

	var cfg runtime.Config
	if cached {
		cfg.Options = append(cfg.Options, options.WithCachedResource(ns, sourceType))
	}

	w := newWorld(t, state.WrapCore(st), cfg, nil)

	if form == "classic" {
		w.register(mirror())
	} else {
		w.register(qmirror(4))
	}

	w.create(newSource("before", 1))
	w.start()

	random := rand.New(rand.NewPCG(1, 2))
	alive := map[resource.ID]bool{"before": true}

	for i := range 2000 {
		id := strconv.Itoa(random.IntN(40))

		switch {
		case !alive[id]:
			w.create(newSource(id, i))
			alive[id] = true
		case random.IntN(3) == 0:
			w.destroy(id)
			alive[id] = false
		default:
			w.set(id, i)
		}

		switch random.IntN(20) {
		case 0:
			st.breakAll(sourceType, errBroken)
		case 1:
			time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond) // virtual: watches reopen, passes run
		}
	}

	st.breakAll(sourceType, errBroken)
	time.Sleep(time.Hour)
	w.requireMirrored()

	resumed := 0

	for _, open := range st.opened(sourceType) {
		if open.resumed {
			resumed++
		}
	}

	assert.Greater(t, len(st.opened(sourceType)), 10, "the watch was broken and opened again")
	assert.Equal(t, bookmarks != "none", resumed > 0, "bookmarks are used where there are any")

	w.end()
}

// A history that is too short for the writes does not end the engine either: it lists the kind anew.
func TestOverrunWatchIsRelisted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		w := newWorld(t, newStateWithHistory(10), runtime.Config{}, zap.New(core))

		gate := make(chan struct{})
		ctrl := qmirror(1)
		inner := ctrl.reconcile
		ctrl.reconcile = func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			<-gate

			return inner(ctx, r, ptr)
		}

		w.register(ctrl)
		w.start()
		synctest.Wait()

		for i := range 5000 {
			w.create(newSource(strconv.Itoa(i), i))
		}

		for i := range 2500 {
			w.destroy(strconv.Itoa(2 * i))
		}

		close(gate)
		time.Sleep(time.Hour)
		w.requireMirrored()

		failures := logs.FilterMessage("watch failed and will be resumed").All()
		require.NotEmpty(t, failures)
		assert.Equal(t, string(ns+"/"+sourceType), failures[0].ContextMap()["kind"])
		assert.Contains(t, failures[0].ContextMap()["error"], "buffer overrun")

		w.end()
	})
}

// A broken watch stops nobody, least of all those who do not depend on it.
func TestBrokenWatchConcernsItsKindOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)

		var cancelled, wakeups journal[string]

		observe := func(name string, in controller.Input) *classic {
			return &classic{name: name, inputs: []controller.Input{in}, run: func(ctx context.Context, r controller.Runtime) error {
				for {
					select {
					case <-ctx.Done():
						cancelled.add(name)

						return nil
					case <-r.EventCh():
						wakeups.add(name)
					}
				}
			}}
		}

		w.register(observe("a", sources(controller.InputWeak)))
		w.register(observe("b", targets(controller.InputWeak)))
		w.start()
		synctest.Wait()

		st.set(func() { st.refuse[sourceType] = errBroken })
		st.breakAll(sourceType, errBroken)
		time.Sleep(time.Hour)

		w.create(newTarget("t", 1))
		synctest.Wait()

		assert.ElementsMatch(t, []string{"a", "b", "b"}, wakeups.all())
		assert.Empty(t, cancelled.all())

		problems := w.Health().Problems()
		require.Len(t, problems, 1)
		assert.Contains(t, problems[0], string(sourceType))
		assert.Contains(t, problems[0], errBroken.Error())

		// What was written while nobody watched is not missed.
		w.create(newSource("s", 1))
		st.set(func() { delete(st.refuse, sourceType) })
		time.Sleep(time.Minute)

		assert.Equal(t, "a", wakeups.last())
		assert.Empty(t, w.Health().Problems())

		w.end()
	})
}

// Who reads the state itself may see what comes and goes while the watch is broken. A list shows nothing of it, and so nothing that is
// different: a classic controller looks again after every list.
func TestRelistWakesWhoMayHaveReadWhatIsGone(t *testing.T) {
	for _, cached := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			st := newFaulty(newState())
			st.forget = true

			cfg := runtime.Config{}
			if cached {
				cfg = cachedSources()
			}

			w := newWorld(t, state.WrapCore(st), cfg, nil)
			w.reconcilesSources() // so that the known keys of the kind are tracked

			var seen journal[int]

			w.register(&classic{
				name: "reader", inputs: []controller.Input{sources(controller.InputWeak), targets(controller.InputWeak)},
				pass: func(ctx context.Context, r controller.Runtime) error {
					list, err := r.(controller.UncachedReader).ListUncached(ctx, sourcePtr(""))
					seen.add(len(list.Items))

					return err
				},
			})
			w.start()
			synctest.Wait()

			st.breakAll(sourceType, errBroken)
			synctest.Wait()
			w.create(newSource("brief", 1), newTarget("wakes", 1))
			synctest.Wait()
			require.Equal(t, 1, seen.last(), "it has read what its watch does not show")
			w.destroy("brief")

			time.Sleep(time.Minute)
			assert.Equal(t, 0, seen.last(), "cached: %t", cached)
		})
	}
}

// Deleted while the watch was broken and no bookmark could be resumed: the mapped input still gets the last labels.
func TestRelistDeliversDeletions(t *testing.T) {
	for _, cached := range []bool{false, true} {
		t.Run(fmt.Sprintf("cached=%t", cached), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newFaulty(newState())
				st.forget = true

				var cfg runtime.Config
				if cached {
					cfg.Options = append(cfg.Options, options.WithCachedResource(ns, sourceType))
				}

				w := newWorld(t, state.WrapCore(st), cfg, nil)

				var mapped, reconciled journal[string]

				w.register(&queued{
					name:     "mapper",
					settings: controller.QSettings{Inputs: []controller.Input{targets(controller.InputQPrimary), sources(controller.InputQMapped)}},
					reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
						reconciled.add(ptr.ID())

						return nil
					},
					mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
						parent, _ := md.Labels().Get("parent")
						mapped.add(md.ID() + ">" + parent)

						return []resource.Pointer{targetPtr(parent)}, nil
					},
				})

				child := newSource("child", 1)
				child.Metadata().Labels().Set("parent", "p")
				w.create(child, newSource("other", 1), newTarget("p", 1))
				w.start()
				synctest.Wait()
				require.Equal(t, []string{"p"}, reconciled.all(), "the primary once at start, mapped inputs are not mapped for it")

				st.breakAll(sourceType, errBroken)
				synctest.Wait()
				w.destroy("child")
				time.Sleep(time.Minute)

				assert.Equal(t, []string{"child>p"}, mapped.all(), "one map for the deleted resource, none for what has not changed")
				assert.Equal(t, []string{"p", "p"}, reconciled.all())

				w.end()
			})
		})
	}
}

// A resource that is destroyed and created again during a gap is told from one that was not, even at the same version.
func TestRelistSeesRecreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		st.forget = true
		w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)

		var seen journal[int]

		ctrl := qmirror(1)
		ctrl.reconcile = func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			s, err := safe.ReaderGet[*source](ctx, r, ptr)
			if err != nil {
				return err
			}

			seen.add(s.TypedSpec().N)

			return nil
		}

		w.register(ctrl)
		w.create(newSource("s", 1))
		w.start()
		synctest.Wait()

		st.breakAll(sourceType, errBroken)
		synctest.Wait()
		w.destroy("s")
		time.Sleep(time.Nanosecond)
		w.create(newSource("s", 2))
		time.Sleep(time.Minute)

		assert.Equal(t, []int{1, 2}, seen.all())

		w.end()
	})
}

// A watch that has gone silent without an error is found by the audit.
func TestAuditFindsASilentWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		w := newWorld(t, state.WrapCore(st), runtime.Config{AuditInterval: time.Minute}, nil)

		w.register(qmirror(1))
		w.create(newSource("a", 1))
		w.start()
		synctest.Wait()

		st.silence(sourceType)
		w.create(newSource("b", 2))
		w.destroy("a")
		time.Sleep(2 * time.Minute)
		w.requireMirrored()

		w.end()
	})
}

// A state that can not pass all contents of a kind in one message is asked for them one by one.
func TestContentsTooLargeForOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &oneByOne{CoreState: newState()}
		w := newWorld(t, state.WrapCore(st), runtime.Config{Options: []options.Option{options.WithCachedResource(ns, sourceType)}}, nil)

		w.register(qmirror(1))

		for i := range 10 {
			w.create(newSource(strconv.Itoa(i), i))
		}

		w.start()
		time.Sleep(time.Minute)
		w.requireMirrored()

		w.set("3", 33)
		time.Sleep(time.Minute)
		w.requireMirrored()

		w.end()
	})
}

// oneByOne refuses to send contents in one batch.
type oneByOne struct{ state.CoreState }

func (o *oneByOne) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	var options state.WatchKindOptions

	for _, opt := range opts {
		opt(&options)
	}

	if !options.BootstrapContents {
		return o.CoreState.WatchKindAggregated(ctx, kind, ch, opts...)
	}

	go func() {
		select {
		case ch <- []state.Event{{Type: state.Errored, Error: errors.New("message larger than max")}}:
		case <-ctx.Done():
		}
	}()

	return nil
}

// What a batch holds before the error that ends the watch counts: the bookmark is behind it, so it does not come again.
func TestEventsBeforeAnErrorInOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, state.WrapCore(&errorTail{CoreState: newState()}), runtime.Config{}, nil)
		w.register(qmirror(1))
		w.start()
		synctest.Wait()

		for i := range 10 {
			w.create(newSource(strconv.Itoa(i), i))
			time.Sleep(time.Minute)
			w.requireMirrored()
		}

		w.end()
	})
}

// errorTail ends every batch of live events, and the watch with it, with an error.
type errorTail struct{ state.CoreState }

func (e *errorTail) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	inner := make(chan []state.Event)

	if err := e.CoreState.WatchKindAggregated(ctx, kind, inner, opts...); err != nil {
		return err
	}

	go func() {
		for {
			var events []state.Event

			select {
			case <-ctx.Done():
				return
			case events = <-inner:
			}

			last := events[len(events)-1].Type
			broken := last != state.Bootstrapped && last != state.Noop

			if broken {
				events = append(events, state.Event{Type: state.Errored, Error: errBroken})
			}

			select {
			case ch <- events:
			case <-ctx.Done():
				return
			}

			if broken {
				return
			}
		}
	}()

	return nil
}

// One aggregated watch for each kind, however many controllers and caches need it, and none that nobody needs.
func TestOneWatchPerKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		w := newWorld(t, state.WrapCore(st), runtime.Config{Options: []options.Option{options.WithCachedResource(ns, targetType)}}, nil)

		for i := range 5 {
			w.register(&classic{name: "c" + strconv.Itoa(i), inputs: []controller.Input{sources(controller.InputWeak), targets(controller.InputStrong)}, pass: idle})
			w.register(&queued{name: "q" + strconv.Itoa(i), settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}}})
		}

		w.start()
		synctest.Wait()

		assert.Equal(t, []opened{{contents: true}}, st.opened(sourceType))
		assert.Equal(t, []opened{{contents: true}}, st.opened(targetType))

		for i := range 5 {
			require.NoError(t, w.Unregister(t.Context(), "c"+strconv.Itoa(i)))
			require.NoError(t, w.Unregister(t.Context(), "q"+strconv.Itoa(i)))
		}

		synctest.Wait()
		assert.Zero(t, st.watching(sourceType), "nobody needs it any more")
		assert.Equal(t, 1, st.watching(targetType), "the cache needs it")

		w.end()
	})
}

func idle(context.Context, controller.Runtime) error { return nil }

// Keys are tracked only where an input needs it; a kind that comes to need it is loaded then, and nothing is missed
// around that moment.
func TestTrackingBeginsWithNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)

		w.register(&classic{name: "weak", inputs: []controller.Input{sources(controller.InputWeak)}, pass: idle})
		w.create(newSource("a", 1))
		w.start()
		synctest.Wait()
		require.Equal(t, []opened{{}}, st.opened(sourceType))
		require.Zero(t, w.Health().Kinds[0].Known)

		w.register(qmirror(1))
		w.create(newSource("b", 2))
		synctest.Wait()
		w.requireMirrored()
		assert.Equal(t, []opened{{}, {contents: true}}, st.opened(sourceType))
		assert.Equal(t, 2, w.Health().Kinds[0].Known)

		require.NoError(t, w.Unregister(t.Context(), "qmirror"))
		assert.Zero(t, w.Health().Kinds[0].Known)

		w.end()
	})
}

// That contents were too large for one message once is not held against the kind: as long as they can be had at once,
// they are.
func TestRelistTakesContentsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		st.noBooks = true
		w := newWorld(t, state.WrapCore(st), cachedSources(), nil)
		w.start()

		for range 3 {
			time.Sleep(time.Minute)
			st.breakAll(sourceType, errBroken)
		}

		time.Sleep(time.Minute)
		assert.Equal(t, []opened{{contents: true}, {contents: true}, {contents: true}, {contents: true}}, st.opened(sourceType))
		w.end()
	})
}

// A watch that can not be opened at first neither keeps the engine from running nor is given up.
func TestFirstWatchRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		st.refuse[sourceType] = errBroken
		w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)

		w.register(mirror())
		w.start()
		synctest.Wait()

		w.create(newSource("s", 1))
		time.Sleep(time.Hour)

		st.set(func() { delete(st.refuse, sourceType) })
		time.Sleep(time.Minute)
		w.requireMirrored()

		w.end()
	})
}

// A mapped input whose watch could not be opened at first: what changed until it was, unseen, is made up for by looking
// at all primary inputs again.
func TestLateWatchOfAMappedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		st.refuse[sourceType] = errBroken
		w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)

		var seen journal[int]

		w.register(&queued{name: "q",
			settings: controller.QSettings{Inputs: []controller.Input{targets(controller.InputQPrimary), sources(controller.InputQMapped)}},
			reconcile: func(ctx context.Context, r controller.QRuntime, _ resource.Pointer) error {
				s, err := safe.ReaderGet[*source](ctx, r, sourcePtr("s"))
				if err != nil {
					return err
				}

				seen.add(s.TypedSpec().N)

				return nil
			}})
		w.create(newTarget("t", 0), newSource("s", 1))
		w.start()
		synctest.Wait()
		w.set("s", 2)
		time.Sleep(time.Minute)
		require.Equal(t, []int{1}, seen.all())

		st.set(func() { delete(st.refuse, sourceType) })
		time.Sleep(time.Minute)
		assert.Equal(t, []int{1, 2}, seen.all())

		w.end()
	})
}

// A state that hangs while a watch is opened delays those who need the kind, and nobody else.
func TestHangingWatchDelaysItsKindOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, state.WrapCore(hanging{newState()}), runtime.Config{}, nil)

		var woken journal[string]

		note := func(name string) func(context.Context, controller.Runtime) error {
			return func(context.Context, controller.Runtime) error {
				woken.add(name)

				return nil
			}
		}

		w.register(&classic{name: "needs it", inputs: []controller.Input{sources(controller.InputWeak)}, pass: note("needs it")})
		w.register(&classic{name: "does not", inputs: []controller.Input{targets(controller.InputWeak)}, pass: note("does not")})
		w.start()
		time.Sleep(time.Minute)

		assert.Equal(t, []string{"does not"}, woken.all())

		w.end()
	})
}

type hanging struct{ state.State }

func (h hanging) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	if kind.Type() == sourceType {
		<-ctx.Done()

		return ctx.Err()
	}

	return h.State.WatchKindAggregated(ctx, kind, ch, opts...)
}

// Under the policy for it, a watch that fails ends Run with the text of the engine that ships with the contract.
func TestEndRunPolicy(t *testing.T) {
	t.Run("overrun", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, newStateWithHistory(10), runtime.Config{OnWatchFailure: runtime.EndRun}, nil)
			w.register(mirror())

			ended := make(chan error, 1)

			go func() { ended <- w.Run(t.Context()) }()

			synctest.Wait()

			for i := range 10000 {
				w.create(newSource(strconv.Itoa(i), i))
			}

			err := <-ended
			require.ErrorContains(t, err, `controller runtime watch error: buffer overrun: namespace "test"`)
			require.ErrorIs(t, w.Run(t.Context()), runtime.ErrStopped)
		})
	})

	t.Run("first watch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			st := newFaulty(newState())
			st.refuse[sourceType] = errBroken
			w := newWorld(t, state.WrapCore(st), runtime.Config{OnWatchFailure: runtime.EndRun}, nil)
			w.register(mirror())

			err := w.Run(t.Context())
			require.ErrorIs(t, err, errBroken)
			require.ErrorContains(t, err, "controller runtime watch error: ")

			// Nothing was started, so it may run again.
			st.set(func() { delete(st.refuse, sourceType) })
			w.create(newSource("s", 1))
			w.start()
			synctest.Wait()
			w.requireMirrored()
			w.end()
		})
	})
}
