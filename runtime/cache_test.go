package runtime_test

import (
	"context"
	"expvar"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	contractmetrics "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest"
	"go.uber.org/zap/zaptest/observer"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// gated is a state that accepts watches of whole kinds and delivers nothing until its gate is opened.
type gated struct {
	state.CoreState

	gate chan struct{}
}

func newGated() (*gated, state.State) {
	g := &gated{CoreState: newState(), gate: make(chan struct{})}

	return g, state.WrapCore(g)
}

func (g *gated) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	inner := make(chan []state.Event)

	go func() {
		select {
		case <-ctx.Done():
			return
		case <-g.gate:
		}

		for {
			select {
			case <-ctx.Done():
				return
			case events := <-inner:
				select {
				case <-ctx.Done():
					return
				case ch <- events:
				}
			}
		}
	}()

	return g.CoreState.WatchKindAggregated(ctx, kind, inner, opts...)
}

// counting counts the reads of one type that reach the state.
type counting struct {
	state.State

	typ resource.Type

	reads atomic.Int64
}

func (c *counting) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	if ptr.Type() == c.typ {
		c.reads.Add(1)
	}

	return c.State.Get(ctx, ptr, opts...)
}

func (c *counting) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	if kind.Type() == c.typ {
		c.reads.Add(1)
	}

	return c.State.List(ctx, kind, opts...)
}

// sourceOf reads a source through what a controller or the host reads from.
func sourceOf(ctx context.Context, r interface {
	Get(context.Context, resource.Pointer, ...state.GetOption) (resource.Resource, error)
}, id resource.ID,
) (*source, error) {
	ptr := sourcePtr(id)

	res, err := r.Get(ctx, &ptr)
	if err != nil {
		return nil, err
	}

	return res.(*source), nil
}

func sourceKind() resource.Kind {
	kind := sourcePtr("")

	return &kind
}

// Reads of a cached kind wait until its first contents are complete, and show all of them then.
func TestCachedReadsWaitForTheFirstContents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, st := newGated()
		w := newWorld(t, st, cachedSources(), zaptest.NewLogger(t))

		for i := range 20 {
			w.create(newSource(fmt.Sprint("s", i), i))
		}

		var seen journal[string]

		note := func(who string, list resource.List, err error) {
			seen.add(fmt.Sprint(who, " ", len(list.Items), " ", err))
		}

		w.register(&classic{name: "classic", inputs: []controller.Input{sources(controller.InputWeak)}, pass: func(ctx context.Context, r controller.Runtime) error {
			list, err := r.List(ctx, sourceKind())
			note("classic", list, err)

			return err
		}})
		w.start()

		var host sync.WaitGroup

		host.Go(func() {
			synctest.Wait()
			list, err := w.CachedState().List(t.Context(), sourceKind())
			note("host", list, err)
		})

		elapse(time.Hour)
		require.Empty(t, seen.all())

		close(g.gate)
		host.Wait()
		synctest.Wait()
		require.ElementsMatch(t, []string{"classic 20 <nil>", "host 20 <nil>"}, seen.all())
	})
}

// Once filled, the cache answers alone: the state sees neither Get nor List of the kind, whoever reads and however.
func TestCachedReadsAreAnsweredFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &counting{State: newState(), typ: sourceType}
		w := newWorld(t, st, cachedSources(), zaptest.NewLogger(t))
		w.create(newSource("b", 2), labelled(newSource("a", 1), "even", "no"))

		var reads atomic.Int64

		readAll := func(ctx context.Context, r controller.Reader) error {
			for _, opts := range [][]state.ListOption{
				nil,
				{state.WithLabelQuery(resource.LabelExists("even"))},
				{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^b$")))},
			} {
				if _, err := r.List(ctx, sourceKind(), opts...); err != nil {
					return err
				}
			}

			if _, err := sourceOf(ctx, r, "a"); err != nil {
				return err
			}

			if _, err := sourceOf(ctx, r, "missing"); !state.IsNotFoundError(err) {
				return fmt.Errorf("expected a not-found error, got %w", err)
			}

			ptr := sourcePtr("a")

			watched, err := r.ContextWithTeardown(ctx, &ptr)
			if err != nil {
				return err
			}

			reads.Add(1)

			return watched.Err()
		}

		w.register(&classic{name: "classic", inputs: []controller.Input{sources(controller.InputWeak)}, pass: func(ctx context.Context, r controller.Runtime) error {
			return readAll(ctx, r)
		}})
		w.register(&queued{
			name:     "queue",
			settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(ctx context.Context, r controller.QRuntime, _ resource.Pointer) error {
				return readAll(ctx, r)
			},
		})
		w.start()
		synctest.Wait()

		for i := range 10 {
			w.set("a", i)
			synctest.Wait()
		}

		before := st.reads.Load()

		for range 10 {
			_, err := w.CachedState().List(t.Context(), sourceKind())
			require.NoError(t, err)

			_, err = sourceOf(t.Context(), w.CachedState(), "a")
			require.NoError(t, err)
		}

		require.Equal(t, before, st.reads.Load())
		require.Zero(t, before, "reads that reached the state")
		require.GreaterOrEqual(t, reads.Load(), int64(1+2+10+10))
		require.Empty(t, w.Health().Problems())
	})
}

// What a controller is woken for is in the cache already: it never reads an older version than the one that woke it,
// and what it read last is the last that was written.
func TestCacheShowsWhatAControllerIsWokenFor(t *testing.T) {
	const (
		ids    = 5
		rounds = 200
	)

	st := newState()
	w := newWorld(t, st, cachedSources(), zap.NewNop())

	var (
		stale   journal[string]
		lastOf  sync.Map // resource.ID of the value that the reconcile read last
		newest  atomic.Int64
		classic = &classic{name: "classic", inputs: []controller.Input{sources(controller.InputWeak)}}
	)

	classic.pass = func(ctx context.Context, r controller.Runtime) error {
		list, err := safe.ReaderListAll[*source](ctx, r)
		if err != nil {
			return err
		}

		sum := 0
		for s := range list.All() {
			sum += s.TypedSpec().N
		}

		newest.Store(int64(sum))

		return nil
	}

	w.register(classic)
	w.register(&queued{
		name:     "mapping",
		settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQMapped)}},
		mapInput: func(ctx context.Context, r controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			got, err := r.Get(ctx, md)
			if err != nil {
				return nil, err
			}

			woken := md.(interface{ Version() uint64 }).Version()
			if read := got.Metadata().Version().Value(); read < woken {
				stale.add(fmt.Sprintf("%s: woken for version %d, read %d", md.ID(), woken, read))
			}

			return nil, nil
		},
	})
	w.register(&queued{
		name:     "reconciling",
		settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
		reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			got, err := sourceOf(ctx, r, ptr.ID())
			if err != nil {
				return err
			}

			lastOf.Store(ptr.ID(), got.TypedSpec().N)

			return nil
		},
	})

	for i := range ids {
		w.create(newSource(fmt.Sprint("s", i), 0))
	}

	w.start()

	var writers sync.WaitGroup

	for i := range ids {
		writers.Go(func() {
			for n := 1; n <= rounds; n++ {
				w.set(fmt.Sprint("s", i), n)
			}
		})
	}

	writers.Wait()

	require.Eventually(t, func() bool {
		for i := range ids {
			if last, _ := lastOf.Load(fmt.Sprint("s", i)); last != rounds {
				return false
			}
		}

		return newest.Load() == ids*rounds
	}, patience, time.Millisecond)

	require.Empty(t, stale.all())
}

// The same, one change at a time, so that each wakeup is as early as it can be.
func TestEachWakeupFindsItsChangeInTheCache(t *testing.T) {
	const rounds = 2000

	w := newWorld(t, nil, cachedSources(), zap.NewNop())
	woken := make(chan error, rounds)

	w.register(&queued{
		name:     "mapping",
		settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQMapped)}},
		mapInput: func(ctx context.Context, r controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			version := md.(interface{ Version() uint64 }).Version()

			got, err := r.Get(ctx, md)
			if err == nil && got.Metadata().Version().Value() < version {
				err = fmt.Errorf("woken for version %d, read %d", version, got.Metadata().Version().Value())
			}

			woken <- err

			return nil, nil
		},
	})
	w.start()
	require.Eventually(t, func() bool { kinds := w.Health().Kinds; return len(kinds) == 1 && kinds[0].Synced }, patience, time.Millisecond)

	w.create(newSource("s", 0))

	for n := range rounds {
		require.NoError(t, <-woken)
		w.set("s", n+1)
	}

	require.NoError(t, <-woken)
}

// stuttering is a state whose watches repeat the batch before the last one, as one does that was resumed from further
// back than where it broke.
type stuttering struct{ state.CoreState }

func (s *stuttering) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	inner := make(chan []state.Event)

	go func() {
		var before []state.Event

		for {
			select {
			case <-ctx.Done():
				return
			case events := <-inner:
				for _, batch := range [][]state.Event{events, before} {
					select {
					case <-ctx.Done():
						return
					case ch <- batch:
					}
				}

				if events[0].Type == state.Updated {
					before = events
				}
			}
		}
	}()

	return s.CoreState.WatchKindAggregated(ctx, kind, inner, opts...)
}

// Events that come again do not take the cache back.
func TestRepeatedEventsDoNotTakeTheCacheBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, state.WrapCore(&stuttering{newState()}), cachedSources(), zaptest.NewLogger(t))
		w.create(newSource("s", 0))
		w.start()

		for n := range 20 {
			synctest.Wait()
			w.set("s", n)
			synctest.Wait()

			res, err := sourceOf(t.Context(), w.CachedState(), "s")
			require.NoError(t, err)
			require.Equal(t, n, res.TypedSpec().N)
		}
	})
}

// A resource that is destroyed and created again while its kind is not watched is read as it is then, also when the time
// of its creation does not tell it from its predecessor, as on a clock that stands still.
func TestRecreationIsSeenWhenTheClockStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(newState())
		f.set(func() { f.forget = true })

		var reconciled journal[int]

		w := newWorld(t, f.asState(), cachedSources(), zaptest.NewLogger(t))
		w.register(&queued{
			name:     "reconciling",
			settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				res, err := sourceOf(ctx, r, ptr.ID())
				if err == nil {
					reconciled.add(res.TypedSpec().N)
				}

				return err
			},
		})
		w.create(newSource("s", 0))
		w.start()
		synctest.Wait()

		for n := range 5 {
			w.set("s", n)
		}

		synctest.Wait()
		f.breakAll(sourceType, errBroken)
		synctest.Wait()

		w.destroy("s")
		w.create(newSource("s", 42))
		elapse(time.Minute)

		res, err := sourceOf(t.Context(), w.CachedState(), "s")
		require.NoError(t, err)
		require.Equal(t, 42, res.TypedSpec().N)
		require.Equal(t, 42, reconciled.last())
	})
}

// What is read from the cache is the reader's own: changing it changes nothing for others.
func TestCachedReadsAreCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, cachedSources(), zaptest.NewLogger(t))
		w.create(labelled(newSource("s", 1), "colour", "green"))

		spoil := func(res resource.Resource) {
			s := res.(*source)
			s.TypedSpec().N = 666
			s.Metadata().Labels().Set("colour", "red")
			s.Metadata().Finalizers().Add("spoilt")
			s.Metadata().SetPhase(resource.PhaseTearingDown)
		}

		read := func(ctx context.Context, r controller.Reader, spoil func(resource.Resource)) error {
			list, err := r.List(ctx, sourceKind())
			if err != nil {
				return err
			}

			spoil(list.Items[0])

			res, err := sourceOf(ctx, r, "s")
			if err != nil {
				return err
			}

			spoil(res)

			return nil
		}

		check := func(res resource.Resource) {
			s := res.(*source)
			colour, _ := s.Metadata().Labels().Get("colour")
			assert.Equal(t, 1, s.TypedSpec().N)
			assert.Equal(t, "green", colour)
			assert.True(t, s.Metadata().Finalizers().Empty())
			assert.Equal(t, resource.PhaseRunning, s.Metadata().Phase())
		}

		passes := 0

		w.register(&classic{name: "spoiler", inputs: []controller.Input{sources(controller.InputWeak)}, pass: func(ctx context.Context, r controller.Runtime) error {
			passes++

			if err := read(ctx, r, spoil); err != nil {
				return err
			}

			return read(ctx, r, check)
		}})
		w.start()
		synctest.Wait()

		host := state.WrapCore(w.CachedState())
		require.NoError(t, read(t.Context(), host, check))
		require.NoError(t, read(t.Context(), host, spoil))
		require.NoError(t, read(t.Context(), host, check))
		require.Equal(t, 1, passes)
	})
}

// A kind whose first contents never come: reads end with their context and say why, a warning names the kind and who
// waits for it, and the health shows it.
func TestCacheThatIsNeverFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, st := newGated()
		core, logs := observer.New(zapcore.WarnLevel)
		w := newWorld(t, st, cachedSources(), zap.New(core))

		var failures journal[error]

		w.register(&classic{name: "patient", inputs: []controller.Input{sources(controller.InputWeak)}, run: func(ctx context.Context, r controller.Runtime) error {
			brief, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()

			_, err := r.List(brief, sourceKind())
			failures.add(err)

			_, err = r.List(ctx, sourceKind())
			failures.add(err)

			return nil
		}})
		w.start()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()

		_, err := sourceOf(ctx, w.CachedState(), "s")
		require.ErrorIs(t, err, context.DeadlineExceeded)

		require.Len(t, failures.all(), 1)
		require.ErrorIs(t, failures.last(), context.DeadlineExceeded)
		require.ErrorContains(t, failures.last(), "patient")
		require.ErrorContains(t, failures.last(), string(sourceType))
		require.Zero(t, logs.Len())

		elapse(4 * time.Second)

		require.Equal(t, 1, logs.Len())
		fields := logs.All()[0].ContextMap()
		require.Equal(t, ns+"/"+sourceType, fields["kind"])
		require.Equal(t, []any{"patient"}, fields["waiting"])
		require.Equal(t, 5*time.Second, fields["after"])

		health := w.Health()
		require.Len(t, health.Kinds, 1)
		require.False(t, health.Kinds[0].Synced)
		require.True(t, health.Kinds[0].Cached)
		require.Equal(t, []string{"patient"}, health.Kinds[0].Waiting)
		require.Contains(t, fmt.Sprint(health.Problems()), "is not synced, waited for by patient")

		// The warning comes again, ever more rarely.
		elapse(time.Hour)

		warnings := logs.FilterMessageSnippet("first contents").Len()
		require.Greater(t, warnings, 2)
		require.Less(t, warnings, 15)
	})
}

// Before the engine runs, and after it has ended, the cached state is the state: nothing blocks and nothing is stale.
func TestCachedStateOutsideOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, cachedSources(), zaptest.NewLogger(t))
		w.create(newSource("s", 1))

		read := func() int {
			res, err := sourceOf(t.Context(), w.CachedState(), "s")
			require.NoError(t, err)

			list, err := w.CachedState().List(t.Context(), sourceKind())
			require.NoError(t, err)
			require.Len(t, list.Items, 1)
			require.Equal(t, res.TypedSpec().N, list.Items[0].(*source).TypedSpec().N)

			return res.TypedSpec().N
		}

		require.Equal(t, 1, read())

		w.start()
		synctest.Wait()
		require.Equal(t, 1, read())
		w.set("s", 2)
		synctest.Wait()
		require.Equal(t, 2, read())

		w.end()
		require.Equal(t, 2, read())
		w.set("s", 3)
		require.Equal(t, 3, read())
	})
}

// A read that waits for the first contents when the engine ends is let go, with what the state has.
func TestEndOfRunLetsWaitingReadsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, st := newGated()
		w := newWorld(t, st, cachedSources(), zaptest.NewLogger(t))
		w.create(newSource("s", 1))
		w.start()
		synctest.Wait()

		got := make(chan error, 1)

		go func() {
			_, err := sourceOf(t.Context(), w.CachedState(), "s")
			got <- err
		}()

		synctest.Wait()
		require.Empty(t, got)
		w.end()
		require.NoError(t, <-got)
	})
}

// Options that ask for another form of the resource are honoured, by asking the state.
func TestCachedReadsWithOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &counting{State: newState(), typ: sourceType}
		w := newWorld(t, st, cachedSources(), zaptest.NewLogger(t))
		w.create(newSource("s", 1))

		var (
			getOpts  = []state.GetOption{state.WithGetUnmarshalOptions(state.WithSkipProtobufUnmarshal())}
			listOpts = []state.ListOption{state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal())}
			ptr      = sourcePtr("s")
			failed   journal[error]
		)

		read := func(ctx context.Context, r controller.Reader) error {
			if _, err := r.Get(ctx, &ptr, getOpts...); err != nil {
				return err
			}

			_, err := r.List(ctx, &ptr, listOpts...)

			return err
		}

		w.register(&classic{name: "classic", inputs: []controller.Input{sources(controller.InputWeak)}, pass: func(ctx context.Context, r controller.Runtime) error {
			failed.add(read(ctx, r))

			return nil
		}})
		w.start()
		synctest.Wait()

		require.Equal(t, []error{nil}, failed.all())
		require.NoError(t, read(t.Context(), state.WrapCore(w.CachedState())))
		require.EqualValues(t, 4, st.reads.Load())
	})
}

// The warning about uncached reads is for those who did not ask for them: once for each controller and kind.
func TestWarningOfUncachedReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.WarnLevel)
		cfg := cachedSources()
		cfg.Options = append(cfg.Options, options.WithWarnOnUncachedReads(true))
		w := newWorld(t, nil, cfg, zap.New(core))
		w.create(newSource("s", 1), newTarget("t", 1))

		w.register(&classic{
			name:   "reader",
			inputs: []controller.Input{sources(controller.InputWeak), targets(controller.InputWeak)},
			pass: func(ctx context.Context, r controller.Runtime) error {
				for range 3 {
					if _, err := r.List(ctx, sourceKind()); err != nil {
						return err
					}

					if _, err := r.ListUncached(ctx, sourceKind()); err != nil {
						return err
					}

					ptr := targetPtr("t")
					if _, err := r.GetUncached(ctx, &ptr); err != nil {
						return err
					}
				}

				if logs.Len() != 0 {
					return fmt.Errorf("warned of a read that asked for it: %v", logs.All())
				}

				for range 3 {
					ptr := targetPtr("t")
					if _, err := r.Get(ctx, &ptr); err != nil {
						return err
					}
				}

				return nil
			},
		})
		w.start()
		synctest.Wait()

		require.Equal(t, 1, logs.Len(), "%v", logs.All())
		fields := logs.All()[0].ContextMap()
		require.Equal(t, "reader", fields["controller"])
		require.Equal(t, ns+"/"+targetType, fields["kind"])
	})
}

// The gauge of cached resources counts those of the engines that run, and goes with them; without metrics there is none.
func TestGaugesGoWithTheirEngine(t *testing.T) {
	gauge := func() string {
		value := contractmetrics.CachedResources.Get(sourceType)
		if value == nil {
			return "none"
		}

		return value.String()
	}

	queueLength := func() expvar.Var { return contractmetrics.QControllerQueueLength.Get("gauged") }

	synctest.Test(t, func(t *testing.T) {
		run := func(metrics bool) *world {
			cfg := cachedSources()
			cfg.Options = append(cfg.Options, options.WithMetrics(metrics))

			w := newWorld(t, nil, cfg, zaptest.NewLogger(t))
			w.create(newSource("s", 1))
			w.register(&queued{name: "gauged", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}}})
			w.start()
			synctest.Wait()

			return w
		}

		for range 3 {
			require.Equal(t, "none", gauge())
			w := run(true)
			require.Equal(t, "1", gauge())
			require.NotNil(t, queueLength())
			w.end()
			require.Equal(t, "none", gauge())
			require.Nil(t, queueLength())
		}

		for range 3 {
			w := run(false)
			require.Equal(t, "none", gauge())
			require.Nil(t, queueLength())
			w.end()
		}

		one, other := run(true), run(true)
		require.Equal(t, "2", gauge())
		one.end()
		require.Equal(t, "1", gauge())
		other.end()
		require.Equal(t, "none", gauge())
	})
}

// Under concurrent writers, with watches that break and are resumed or listed anew, no reader ever sees an older version
// after a newer one, nor a former incarnation after its successor; in the end the cache is the state.
func TestCachedVersionsNeverGoBack(t *testing.T) {
	for name, forget := range map[string]bool{"resumed": false, "listed anew": true} {
		t.Run(name, func(t *testing.T) {
			const (
				ids    = 4
				rounds = 150
			)

			f := newFaulty(newState())
			f.set(func() { f.forget = forget })

			w := newWorld(t, f.asState(), cachedSources(), zap.NewNop())
			w.start()
			require.Eventually(t, func() bool { return w.Health().Running }, patience, time.Millisecond)

			var (
				writers, readers sync.WaitGroup
				written          = make(chan struct{})
			)

			for i := range ids {
				writers.Go(func() {
					id := fmt.Sprint("s", i)

					for n := range rounds {
						switch n % 5 {
						case 0:
							w.create(newSource(id, n))
						case 4:
							w.destroy(id)
						default:
							w.set(id, n)
						}

						if n%20 == 10*(i%2) {
							f.breakAll(sourceType, errBroken)
						}
					}

					w.create(newSource(id, rounds))
				})
			}

			for range 2 {
				readers.Go(func() {
					seen := map[resource.ID]*resource.Metadata{}

					check := func(md *resource.Metadata) {
						if last, ok := seen[md.ID()]; ok {
							assert.False(t, md.Created().Before(last.Created()), "%s: a former incarnation", md.ID())

							if md.Created().Equal(last.Created()) {
								assert.GreaterOrEqual(t, md.Version().Value(), last.Version().Value(), md.ID())
							}
						}

						seen[md.ID()] = md
					}

					for {
						select {
						case <-written:
							return
						default:
						}

						list, err := w.CachedState().List(t.Context(), sourceKind())
						assert.NoError(t, err)

						for i, res := range list.Items {
							check(res.Metadata())

							if i > 0 {
								assert.Less(t, list.Items[i-1].Metadata().ID(), res.Metadata().ID())
							}
						}

						if res, err := sourceOf(t.Context(), w.CachedState(), "s1"); err == nil {
							check(res.Metadata())
						} else {
							assert.True(t, state.IsNotFoundError(err), "%v", err)
						}
					}
				})
			}

			writers.Wait()

			require.Eventually(t, func() bool { return sameList(t, w.CachedState(), w.state) }, patience, time.Millisecond)
			close(written)
			readers.Wait()
		})
	}
}

// sameList tells whether both list the same versions of the same sources.
func sameList(t *testing.T, one, other state.CoreState, opts ...state.ListOption) bool {
	var lists [2][]string

	for i, st := range []state.CoreState{one, other} {
		list, err := st.List(t.Context(), sourceKind(), opts...)
		require.NoError(t, err)

		for _, res := range list.Items {
			md := res.Metadata()
			lists[i] = append(lists[i], fmt.Sprint(md.ID(), md.Version(), md.Created().UnixNano(), *md.Labels(), *md.Finalizers(), md.Phase(), res.Spec()))
		}
	}

	return assert.ObjectsAreEqual(lists[0], lists[1])
}

// Whatever is written, and whatever is asked for, the cache at rest answers as the state does.
func TestCacheAnswersAsTheStateDoes(t *testing.T) {
	var (
		ids    = rapid.SampledFrom([]resource.ID{"a", "b", "c", "d"})
		keys   = rapid.SampledFrom([]string{"colour", "size"})
		values = rapid.SampledFrom([]string{"1", "2", "10"})
		writes = rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) drawnWrite {
			return drawnWrite{rapid.IntRange(0, 4).Draw(rt, "what"), ids.Draw(rt, "id"), keys.Draw(rt, "key"), values.Draw(rt, "value")}
		}), 1, 30)
	)

	rapid.Check(t, func(rt *rapid.T) {
		script := writes.Draw(rt, "writes")
		key, value, id := keys.Draw(rt, "key"), values.Draw(rt, "value"), ids.Draw(rt, "id")

		queries := map[string]state.ListOption{
			"exists":  state.WithLabelQuery(resource.LabelExists(key)),
			"absent":  state.WithLabelQuery(resource.LabelExists(key, resource.NotMatches)),
			"equal":   state.WithLabelQuery(resource.LabelEqual(key, value)),
			"in":      state.WithLabelQuery(resource.LabelIn(key, []string{"1", "10"})),
			"numeric": state.WithLabelQuery(resource.LabelLTNumeric(key, value)),
			"id":      state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("[" + id + "-d]"))),
		}

		var differs []string

		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil, cachedSources(), zap.NewNop())
			w.start()

			for i, write := range script {
				if i%3 == 0 {
					synctest.Wait()
				}

				write.do(t, w)
			}

			synctest.Wait()

			if !sameList(t, w.CachedState(), w.state) {
				differs = append(differs, "all")
			}

			for name, query := range queries {
				if !sameList(t, w.CachedState(), w.state, query) {
					differs = append(differs, name)
				}
			}

			cached, cachedErr := sourceOf(t.Context(), w.CachedState(), id)
			stored, storedErr := sourceOf(t.Context(), w.state, id)

			if state.IsNotFoundError(cachedErr) != state.IsNotFoundError(storedErr) || storedErr == nil && !resource.Equal(cached, stored) {
				differs = append(differs, "get")
			}
		})

		if len(differs) > 0 {
			rt.Fatalf("the cache and the state do not agree on %v", differs)
		}
	})
}

// drawnWrite is one write of a property test, which may well fail.
type drawnWrite struct {
	what       int
	id         resource.ID
	key, value string
}

func (d drawnWrite) do(t *testing.T, w *world) {
	ptr := sourcePtr(d.id)

	switch d.what {
	case 0:
		_ = w.state.Create(t.Context(), newSource(d.id, 0))
	case 1:
		_ = w.state.Destroy(t.Context(), &ptr)
	case 2:
		_, _ = w.state.Teardown(t.Context(), &ptr)
	default:
		_, _ = safe.StateUpdateWithConflicts(t.Context(), w.state, &ptr, func(s *source) error {
			s.TypedSpec().N++
			s.Metadata().Labels().Set(d.key, d.value)

			return nil
		}, state.WithExpectedPhaseAny())
	}
}

// A context that waits for the teardown of a cached resource ends with it: at once when there is no such resource, and
// with the engine.
func TestCachedContextWithTeardown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, cachedSources(), zaptest.NewLogger(t))
		w.create(newSource("torn", 1), newSource("destroyed", 1), newSource("kept", 1))

		watched := map[string]context.Context{}

		w.register(&classic{name: "waiter", inputs: []controller.Input{sources(controller.InputWeak)}, run: func(ctx context.Context, r controller.Runtime) error {
			for _, id := range []string{"torn", "destroyed", "kept", "missing"} {
				ptr := sourcePtr(id)

				until, err := r.ContextWithTeardown(context.Background(), &ptr)
				if err != nil {
					return err
				}

				watched[id] = until
			}

			<-ctx.Done()

			return nil
		}})
		w.start()
		synctest.Wait()

		require.Error(t, watched["missing"].Err())

		for _, id := range []string{"torn", "destroyed", "kept"} {
			require.NoError(t, watched[id].Err(), id)
		}

		w.set("torn", 2)
		synctest.Wait()
		require.NoError(t, watched["torn"].Err())

		ptr := sourcePtr("torn")
		_, err := w.state.Teardown(t.Context(), &ptr)
		require.NoError(t, err)
		w.destroy("destroyed")
		synctest.Wait()

		require.Error(t, watched["torn"].Err())
		require.Error(t, watched["destroyed"].Err())
		require.NoError(t, watched["kept"].Err())

		w.end()
		require.Error(t, watched["kept"].Err())
	})
}

// A kind may be named twice among the cached ones, and needs no controller to be cached.
func TestCacheWithoutControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := runtime.Config{Options: []options.Option{safe.WithResourceCache[*source](), options.WithCachedResource(ns, sourceType)}}
		w := newWorld(t, nil, cfg, zaptest.NewLogger(t))
		w.create(newSource("s", 1))
		w.start()
		synctest.Wait()

		health := w.Health()
		require.Len(t, health.Kinds, 1)
		require.True(t, health.Kinds[0].Cached)
		require.True(t, health.Kinds[0].Synced)
		require.Equal(t, 1, health.Kinds[0].Known)

		res, err := sourceOf(t.Context(), w.CachedState(), "s")
		require.NoError(t, err)
		require.Equal(t, 1, res.TypedSpec().N)
	})
}
