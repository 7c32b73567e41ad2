package runtime_test

import (
	"context"
	"fmt"
	"io/fs"
	goruntime "runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/runtime"
)

// script is a state whose watches of sources are made up by the test: call is handed what was asked for, and how often
// before.
type script struct {
	state.State

	call func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error

	mu    sync.Mutex
	calls []state.WatchKindOptions
}

func (s *script) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	if kind.Type() != sourceType {
		return s.State.WatchKindAggregated(ctx, kind, ch, opts...)
	}

	var options state.WatchKindOptions

	for _, opt := range opts {
		opt(&options)
	}

	return s.watch(ctx, ch, options, true)
}

func (s *script) watch(ctx context.Context, ch chan<- []state.Event, options state.WatchKindOptions, count bool) error {
	s.mu.Lock()
	n := len(s.calls)

	if count {
		s.calls = append(s.calls, options)
	}
	s.mu.Unlock()

	return s.call(ctx, n, ch, options)
}

// WatchKind does the same, but does not count who asks for nothing but the newest bookmark.
func (s *script) WatchKind(ctx context.Context, kind resource.Kind, ch chan<- state.Event, opts ...state.WatchKindOption) error {
	if kind.Type() != sourceType {
		return s.State.WatchKind(ctx, kind, ch, opts...)
	}

	var options state.WatchKindOptions

	for _, opt := range opts {
		opt(&options)
	}

	batches := make(chan []state.Event)

	if err := s.watch(ctx, batches, options, !options.BootstrapBookmark); err != nil {
		return err
	}

	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case batch, ok := <-batches:
				if !ok {
					close(ch)

					return
				}

				for _, event := range batch {
					select {
					case ch <- event:
					case <-ctx.Done():
						return
					}
				}
			}
		}
	}()

	return nil
}

func (s *script) asked() []state.WatchKindOptions {
	s.mu.Lock()
	defer s.mu.Unlock()

	return append([]state.WatchKindOptions(nil), s.calls...)
}

// play sends batches, one after the other, in the background.
func play(ctx context.Context, ch chan<- []state.Event, batches ...[]state.Event) error {
	return playSlowly(ctx, ch, 0, batches...)
}

// playSlowly sends batches, each after a pause.
func playSlowly(ctx context.Context, ch chan<- []state.Event, pause time.Duration, batches ...[]state.Event) error {
	go func() {
		for _, batch := range batches {
			time.Sleep(pause)

			select {
			case ch <- batch:
			case <-ctx.Done():
				return
			}
		}
	}()

	return nil
}

var bootstrapped = state.Event{Type: state.Bootstrapped, Resource: newSource("", 0), Bookmark: state.Bookmark{1}}

func created(id resource.ID, n int) state.Event {
	return state.Event{Type: state.Created, Resource: stored(id, n, 1)}
}

// stored is a source as a state shows it.
func stored(id resource.ID, n int, version uint64) *source {
	v, err := resource.ParseVersion(strconv.FormatUint(version, 10))
	if err != nil {
		panic(err)
	}

	s := newSource(id, n)
	s.Metadata().SetVersion(v)

	return s
}

// hostileWatches are ways in which a state may fail a watch.
var hostileWatches = map[string]func(ctx context.Context, ch chan<- []state.Event) error{
	"panic in the call":           func(context.Context, chan<- []state.Event) error { panic("out of order") },
	"goexit in the call":          func(context.Context, chan<- []state.Event) error { goruntime.Goexit(); return nil },
	"error that can not be asked": func(context.Context, chan<- []state.Event) error { return noError },
	"closed channel": func(_ context.Context, ch chan<- []state.Event) error {
		close(ch)

		return nil
	},
	"nil resource": func(ctx context.Context, ch chan<- []state.Event) error {
		return play(ctx, ch, []state.Event{{Type: state.Updated}})
	},
	"typed nil resource": func(ctx context.Context, ch chan<- []state.Event) error {
		return play(ctx, ch, []state.Event{{Type: state.Destroyed, Resource: (*source)(nil)}})
	},
	"zero event": func(ctx context.Context, ch chan<- []state.Event) error {
		return play(ctx, ch, nil, []state.Event{}, []state.Event{{}})
	},
	"unknown event": func(ctx context.Context, ch chan<- []state.Event) error {
		return play(ctx, ch, []state.Event{{Type: 77}})
	},
	"error without an error": func(ctx context.Context, ch chan<- []state.Event) error {
		return play(ctx, ch, []state.Event{{Type: state.Errored}})
	},
	"typed nil error": func(ctx context.Context, ch chan<- []state.Event) error {
		return play(ctx, ch, []state.Event{{Type: state.Errored, Error: noError}})
	},
	"tombstone of what is there": func(ctx context.Context, ch chan<- []state.Event) error {
		return play(ctx, ch, []state.Event{{Type: state.Created, Resource: resource.NewTombstone(sourcePtr("a"))}})
	},
	"another type": func(ctx context.Context, ch chan<- []state.Event) error {
		return play(ctx, ch, []state.Event{{Type: state.Created, Resource: newTarget("alien", 1)}})
	},
	"another namespace": func(ctx context.Context, ch chan<- []state.Event) error {
		alien := resource.NewMetadata("elsewhere", sourceType, "alien", resource.VersionUndefined)

		return play(ctx, ch, []state.Event{{Type: state.Created, Resource: resource.NewTombstone(alien)}})
	},
}

var noError *fs.PathError

// What a state throws at its watch is a failure of the watch, which is named, tried again, and concerns nobody else.
func TestHostileWatches(t *testing.T) {
	for name, hostile := range hostileWatches {
		for _, form := range []string{"classic", "queue", "cached"} {
			t.Run(name+"/"+form, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					core, logs := observer.New(zap.WarnLevel)
					st := &script{State: newState()}
					st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
						switch {
						case n%2 == 0 && n < 10:
							return hostile(ctx, ch)
						case n < 10:
							return errBroken
						}

						return st.State.WatchKindAggregated(ctx, sourcePtr(""), ch, asOptions(opts)...)
					}

					var cfg runtime.Config
					if form == "cached" {
						cfg = cachedSources()
					}

					w := newWorld(t, st, cfg, zap.New(core))

					if form == "queue" {
						w.register(qmirror(1))
					} else {
						w.register(mirror())
					}

					var others journal[string]

					w.register(&classic{name: "bystander", inputs: []controller.Input{byID(targets(controller.InputWeak), "t")}, pass: func(context.Context, controller.Runtime) error {
						others.add("woken")

						return nil
					}})
					w.start()
					w.create(newSource("a", 1))
					time.Sleep(10 * time.Minute)

					w.requireMirrored()
					assert.NotEmpty(t, others.all())
					assert.Empty(t, w.Health().Problems())
					w.set("a", 2)
					synctest.Wait()
					w.requireMirrored()
					w.end()

					failures := logs.FilterMessage("watch failed and will be resumed").All()
					assert.Len(t, failures, 10, "each is told once")

					for _, entry := range failures {
						assert.NotEmpty(t, entry.ContextMap()["error"])
					}
				})
			})
		}
	}
}

func asOptions(opts state.WatchKindOptions) []state.WatchKindOption {
	switch {
	case opts.StartFromBookmark != nil:
		return []state.WatchKindOption{state.WithKindStartFromBookmark(opts.StartFromBookmark)}
	case opts.BootstrapContents:
		return []state.WatchKindOption{state.WithBootstrapContents(true)}
	default:
		return []state.WatchKindOption{state.WithBootstrapBookmark(opts.BootstrapBookmark)}
	}
}

// Under the policy that ends the run with it, the error names the kind.
func TestHostileWatchesAreNamed(t *testing.T) {
	for name, hostile := range hostileWatches {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := &script{State: newState(), call: func(ctx context.Context, _ int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
					return hostile(ctx, ch)
				}}
				cfg := cachedSources()
				cfg.OnWatchFailure = runtime.EndRun

				err := newWorld(t, st, cfg, nil).Run(t.Context())
				require.ErrorContains(t, err, ns+"/"+sourceType)
			})
		})
	}
}

// A watch that fails as soon as it was opened ends the run with its failure, whoever comes to know of it first.
func TestWatchThatFailsAtOnceEndsTheRun(t *testing.T) {
	for range 2_000 { // which of two goroutines is quicker is chance
		st := &script{State: newState(), call: func(ctx context.Context, _ int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
			return play(ctx, ch, []state.Event{{Type: state.Errored, Error: errBroken}})
		}}
		cfg := cachedSources()
		cfg.OnWatchFailure = runtime.EndRun

		require.ErrorIs(t, newWorld(t, st, cfg, nil).Run(t.Context()), errBroken)
	}
}

// What came before a bad event in one batch is not lost with it.
func TestGoodEventsBeforeABadOneCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &script{State: newState()}
		st.call = func(ctx context.Context, n int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
			if n > 0 {
				return errBroken
			}

			return play(ctx, ch, []state.Event{bootstrapped}, []state.Event{created("a", 1), {Type: state.Updated}})
		}

		w := newWorld(t, st, runtime.Config{}, nil)

		seen := w.reconcilesSources()
		w.start()
		time.Sleep(time.Minute)
		assert.Equal(t, []resource.ID{"a"}, seen.all())
		w.end()
	})
}

// Work on what the first contents show begins before they are complete, but of a cached kind: whoever works may read it.
func TestFirstContentsAreWorkedOnAsTheyCome(t *testing.T) {
	for _, cached := range []bool{false, true} {
		t.Run(map[bool]string{false: "tracked", true: "cached"}[cached], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := &script{State: newState()}
				st.call = func(ctx context.Context, _ int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
					return playSlowly(ctx, ch, time.Minute, []state.Event{created("a", 1)}, []state.Event{created("b", 1), bootstrapped})
				}

				var cfg runtime.Config
				if cached {
					cfg = cachedSources()
				}

				w := newWorld(t, st, cfg, nil)

				seen := w.reconcilesSources()
				w.start()
				time.Sleep(90 * time.Second)

				if cached {
					assert.Empty(t, seen.all())
				} else {
					assert.Equal(t, []resource.ID{"a"}, seen.all())
				}

				time.Sleep(time.Minute)
				assert.Equal(t, []resource.ID{"a", "b"}, seen.all())

				w.end()
			})
		})
	}
}

// First contents count that were complete before the state failed in the same breath, however it did.
func TestContentsBeforeABadEventCount(t *testing.T) {
	for name, bad := range map[string]state.Event{
		"error":       {Type: state.Errored, Error: errBroken},
		"nil":         {Type: state.Destroyed},
		"that panics": {Type: state.Destroyed, Resource: (*source)(nil)},
	} {
		for _, cached := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, cached: %t", name, cached), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var (
						ids      []resource.ID
						contents []state.Event
					)

					for i := range 15 { // which are looked at before what follows them is
						ids = append(ids, fmt.Sprintf("%02d", i))
						contents = append(contents, created(ids[i], 1))
					}

					st := &script{State: newState()}
					st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
						switch {
						case n == 0 && !cached:
							return errBroken // so that all are filled in when they are complete
						case opts.BootstrapContents:
							return play(ctx, ch, append(slices.Clone(contents), bootstrapped, bad))
						default:
							return nil
						}
					}

					var cfg runtime.Config
					if cached {
						cfg = cachedSources()
					}

					w := newWorld(t, st, cfg, nil)
					seen := w.reconcilesSources()

					w.start()
					time.Sleep(time.Hour)
					assert.Equal(t, ids, seen.all())
					w.end()
				})
			})
		}
	}
}

// First contents count at the first attempt that come right before what can not be looked at.
func TestContentsBeforeWhatCanNotBeLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &script{State: newState(), call: func(ctx context.Context, n int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
			if n > 0 {
				return nil
			}

			return play(ctx, ch, []state.Event{created("a", 1), bootstrapped, {Type: state.Created, Resource: shy{}}})
		}}

		w := newWorld(t, st, cachedSources(), nil)
		seen := w.reconcilesSources()

		w.start()
		synctest.Wait()
		assert.Equal(t, []resource.ID{"a"}, seen.all())
		w.end()
	})
}

// First contents that broke off are not taken for what there is: what went before the next attempt is gone, and whoever
// was told of it is told so.
func TestContentsThatBrokeOffLeaveNoGhosts(t *testing.T) {
	for _, cached := range []bool{false, true} {
		t.Run(map[bool]string{false: "tracked", true: "cached"}[cached], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := &script{State: newState()}
				st.call = func(ctx context.Context, n int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
					if n == 0 {
						return play(ctx, ch, []state.Event{created("ghost", 1), created("kept", 1)}, []state.Event{{Type: state.Errored, Error: errBroken}})
					}

					return play(ctx, ch, []state.Event{created("kept", 1)}, []state.Event{bootstrapped})
				}

				var cfg runtime.Config
				if cached {
					cfg = cachedSources()
				}

				w := newWorld(t, st, cfg, nil)

				seen := w.reconcilesSources()
				w.start()
				time.Sleep(time.Minute)

				if cached {
					assert.Equal(t, []resource.ID{"kept"}, seen.all())
				} else {
					all := seen.all()
					require.Len(t, all, 4)
					assert.Equal(t, []resource.ID{"ghost", "kept"}, all[:2])
					assert.ElementsMatch(t, []resource.ID{"ghost", "kept"}, all[2:])
				}

				assert.Equal(t, 1, w.Health().Kinds[0].Known)

				if cached {
					list, err := w.CachedState().List(t.Context(), sourcePtr(""))
					require.NoError(t, err)
					assert.Len(t, list.Items, 1)
				}

				w.end()
			})
		})
	}
}

// A state that says twice that the contents are complete has not said that everything is gone.
func TestContentsAreCompleteOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, end := created("a", 1), bootstrapped
		end.Bookmark = nil

		st := &script{State: newState()}
		st.call = func(ctx context.Context, n int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
			if n == 0 {
				return playSlowly(ctx, ch, time.Second, []state.Event{a, end}, []state.Event{end}, []state.Event{{Type: state.Errored, Error: errBroken}})
			}

			return play(ctx, ch, []state.Event{a, end}, []state.Event{end})
		}

		w := newWorld(t, st, cachedSources(), nil)

		passes := w.reconcilesSources()
		w.start()
		time.Sleep(time.Minute)
		require.Len(t, st.asked(), 2)

		_, err := w.CachedState().Get(t.Context(), sourcePtr("a"))
		require.NoError(t, err)
		assert.Equal(t, []resource.ID{"a"}, passes.all(), "and nothing is news again")
		w.end()
	})
}

// A resource that is destroyed and created again while contents are being sent is there.
func TestRecreationWhileContentsAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &script{State: newState()}
		st.call = func(ctx context.Context, n int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
			end := bootstrapped
			end.Bookmark = nil

			if n == 0 {
				return play(ctx, ch, []state.Event{created("a", 1), end}, []state.Event{{Type: state.Errored, Error: errBroken}})
			}

			return play(ctx, ch, []state.Event{created("a", 1), {Type: state.Destroyed, Resource: stored("a", 1, 1)}, created("a", 2), end})
		}

		w := newWorld(t, st, cachedSources(), nil)
		w.start()
		time.Sleep(time.Minute)

		res, err := w.CachedState().Get(t.Context(), sourcePtr("a"))
		require.NoError(t, err)
		assert.Equal(t, 2, res.(*source).TypedSpec().N)
		w.end()
	})
}

// A bookmark that is refused by an event after the watch was opened is given up like one that is refused at once.
func TestBookmarkThatIsRefusedLate(t *testing.T) {
	for name, refusal := range map[string]error{"with the right error": errForgotten, "with any error": errBroken} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := &script{State: newState()}
				st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
					switch {
					case opts.StartFromBookmark != nil:
						return play(ctx, ch, []state.Event{{Type: state.Errored, Error: refusal}})
					case n == 0:
						return play(ctx, ch, []state.Event{bootstrapped}, []state.Event{{Type: state.Errored, Error: errBroken}})
					default:
						return st.State.WatchKindAggregated(ctx, sourcePtr(""), ch, asOptions(opts)...)
					}
				}

				w := newWorld(t, st, runtime.Config{}, nil)
				w.register(qmirror(1))
				w.start()
				synctest.Wait()
				w.create(newSource("a", 1))
				time.Sleep(time.Hour)
				w.requireMirrored()
				w.end()

				tried := 0

				for _, asked := range st.asked() {
					if asked.StartFromBookmark != nil {
						tried++
					}
				}

				assert.Equal(t, map[error]int{errForgotten: 1, errBroken: 2}[refusal], tried)
			})
		})
	}
}

// A bookmark that works is kept, however often the watch breaks: right after an event, or after a while without any, or
// by an audit.
func TestBookmarkThatWorksIsKept(t *testing.T) {
	for name, test := range map[string]struct {
		quiet  time.Duration // how long a watch stays open without events
		events bool
		audit  time.Duration
	}{
		"after an event": {events: true},
		"after a while":  {quiet: time.Minute},
		"by an audit":    {quiet: time.Hour, audit: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := &script{State: newState()}
				st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
					var batch []state.Event

					switch {
					case opts.StartFromBookmark == nil:
						batch = append(batch, bootstrapped)
					case test.events:
						batch = append(batch, state.Event{Type: state.Updated, Resource: stored("a", n, uint64(n)), Bookmark: state.Bookmark{byte(n)}})
					}

					go func() {
						if len(batch) > 0 {
							select {
							case ch <- batch:
							case <-ctx.Done():
								return
							}
						}

						select {
						case <-time.After(test.quiet):
						case <-ctx.Done():
							return
						}

						select {
						case ch <- []state.Event{{Type: state.Errored, Error: errBroken}}:
						case <-ctx.Done():
						}
					}()

					return nil
				}

				cfg := cachedSources()
				cfg.AuditInterval = test.audit

				w := newWorld(t, st, cfg, nil)
				w.start()
				time.Sleep(10 * time.Minute)
				w.end()

				asked := st.asked()
				require.Greater(t, len(asked), 5)

				for _, again := range asked[1:] {
					assert.NotNil(t, again.StartFromBookmark)
				}
			})
		})
	}
}

// An empty bookmark is none: it can not be resumed from.
func TestEmptyBookmarkIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &script{State: newState()}
		st.call = func(ctx context.Context, _ int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
			end := bootstrapped
			end.Bookmark = state.Bookmark{}

			return play(ctx, ch, []state.Event{end}, []state.Event{{Type: state.Errored, Error: errBroken}})
		}

		w := newWorld(t, st, cachedSources(), nil)
		w.start()
		time.Sleep(time.Minute)
		w.end()

		for _, asked := range st.asked() {
			assert.Nil(t, asked.StartFromBookmark)
		}
	})
}

// A queue controller that comes while the watch of its kind is being opened again gets the items that there are.
func TestRegisterWhileTheWatchIsReopened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reopened := make(chan struct{})
		st := &script{State: newState()}
		broken := make(chan struct{})
		st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
			switch n {
			case 0:
				go func() {
					inner := make(chan []state.Event)
					assert.NoError(t, st.State.WatchKindAggregated(ctx, sourcePtr(""), inner, asOptions(opts)...))

					for {
						select {
						case batch := <-inner:
							ch <- batch
						case <-broken:
							ch <- []state.Event{{Type: state.Errored, Error: errBroken}}

							return
						case <-ctx.Done():
							return
						}
					}
				}()

				return nil
			case 1:
				<-reopened
			}

			return st.State.WatchKindAggregated(ctx, sourcePtr(""), ch, asOptions(opts)...)
		}

		w := newWorld(t, st, runtime.Config{}, nil)
		w.register(&classic{name: "weak", inputs: []controller.Input{sources(controller.InputWeak)}, pass: idle})
		w.create(newSource("a", 1))
		w.start()
		synctest.Wait()
		w.create(newSource("b", 1))
		synctest.Wait()
		close(broken)
		time.Sleep(time.Second)
		require.Len(t, st.asked(), 2, "the watch is being opened again")

		w.register(qmirror(1))
		close(reopened)
		time.Sleep(time.Minute)
		w.requireMirrored()
		w.end()
	})
}

// Keys that come to be tracked anew while contents are being loaded are loaded themselves.
func TestTrackingThatStartsAnewDuringALoad(t *testing.T) {
	for range 20 { // which of two signals is seen first is chance
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			st := &script{State: newState()}
			st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
				err := st.State.WatchKindAggregated(ctx, sourcePtr(""), ch, asOptions(opts)...)

				if n == 0 {
					<-release
				}

				return err
			}

			w := newWorld(t, st, runtime.Config{}, nil)
			w.create(newSource("a", 1))
			w.register(&classic{name: "weak", inputs: []controller.Input{sources(controller.InputWeak)}, pass: idle})
			w.register(qmirror(1))
			w.start()
			time.Sleep(time.Minute)
			require.NoError(t, w.Unregister(t.Context(), "qmirror"))

			registered := make(chan error, 1)

			go func() { registered <- w.RegisterQController(qmirror(1)) }()

			synctest.Wait()
			close(release)
			require.NoError(t, <-registered)
			time.Sleep(time.Minute)
			w.requireMirrored()
			assert.Equal(t, 1, w.Health().Kinds[0].Known)

			// Nobody tracks them any more: that alone is no reason to open the watch again.
			require.NoError(t, w.Unregister(t.Context(), "qmirror"))

			before := len(st.asked())

			w.create(newSource("b", 1))
			synctest.Wait()
			assert.Len(t, st.asked(), before)
			w.end()
		})
	}
}

// A resource that contents show older than it was known, within one tick of the clock, has been destroyed in between.
func TestContentsThatAreOlderThanWhatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		former, now, end := stored("a", 2, 2), stored("a", 1, 1), bootstrapped
		end.Bookmark = nil

		st := &script{State: newState()}
		st.call = func(ctx context.Context, n int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
			if n == 0 {
				return play(ctx, ch, []state.Event{{Type: state.Created, Resource: former}, end}, []state.Event{{Type: state.Errored, Error: errBroken}})
			}

			return play(ctx, ch, []state.Event{{Type: state.Created, Resource: now}, end})
		}

		w := newWorld(t, st, runtime.Config{}, nil)

		var woken journal[string]

		// A classic controller would be woken by the list in any case.
		w.register(&queued{
			name:     "q",
			settings: controller.QSettings{Inputs: []controller.Input{targets(controller.InputQPrimary), sources(controller.InputQMappedDestroyReady)}},
			mapInput: func(context.Context, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				woken.add("woken")

				return nil, nil
			},
		})
		w.start()
		time.Sleep(10 * time.Millisecond)
		assert.Empty(t, woken.all(), "nothing has gone before its start")
		time.Sleep(time.Minute)
		assert.Equal(t, 1, woken.len())
		w.end()
	})
}

// A destroy that a tombstone tells of is mapped with what was known of the resource.
func TestTombstonesAreMappedAsWhatTheyWere(t *testing.T) {
	for _, cached := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			st := &script{State: newState()}
			st.call = func(ctx context.Context, _ int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
				labelled := stored("a", 1, 1)
				labelled.Metadata().Labels().Set("parent", "p")

				return play(ctx, ch, []state.Event{{Type: state.Created, Resource: labelled}, bootstrapped},
					[]state.Event{{Type: state.Destroyed, Resource: resource.NewTombstone(labelled.Metadata())}})
			}

			var cfg runtime.Config
			if cached {
				cfg = cachedSources()
			}

			w := newWorld(t, st, cfg, nil)

			var parents journal[string]

			w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQMapped)}},
				mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
					parent, _ := md.Labels().Get("parent")
					parents.add(parent)

					return nil, nil
				}})
			w.start()
			time.Sleep(time.Minute)
			assert.Equal(t, []string{"p"}, parents.all())
			w.end()
		})
	}
}

// A resource that can not be copied is the failure of whoever reads it, and of nobody else.
func TestResourceThatCanNotBeCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &script{State: newState()}
		st.call = func(ctx context.Context, _ int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
			return play(ctx, ch, []state.Event{{Type: state.Created, Resource: unique{stored("a", 1, 1)}}, created("b", 1), bootstrapped})
		}

		w := newTrustingWorld(t, st, cachedSources(), nil)

		var read journal[string]

		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				_, err := r.Get(ctx, ptr)
				read.add(ptr.ID())

				return err
			}})
		w.start()
		synctest.Wait()
		assert.Equal(t, []string{"b"}, read.all())
		assert.Equal(t, 1, w.Health().Controllers[0].Failing)
		assert.Panics(t, func() { _, _ = w.CachedState().List(t.Context(), sourcePtr("")) })

		_, err := w.CachedState().Get(t.Context(), sourcePtr("b"))
		require.NoError(t, err)
		w.end()
	})
}

type unique struct{ *source }

func (unique) DeepCopy() resource.Resource { panic("there is but one") }

// An audit does not keep contents that come slowly from ever being complete.
func TestAuditLetsSlowContentsCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &script{State: newState()}
		st.call = func(ctx context.Context, _ int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
			if opts.StartFromBookmark != nil {
				return nil
			}

			go func() {
				for i := range 50 {
					select {
					case <-ctx.Done():
						return
					case <-time.After(time.Second):
					}

					select {
					case <-ctx.Done():
						return
					case ch <- []state.Event{created(strconv.Itoa(i), i)}:
					}
				}

				select {
				case <-ctx.Done():
				case ch <- []state.Event{bootstrapped}:
				}
			}()

			return nil
		}

		cfg := cachedSources()
		cfg.AuditInterval = 10 * time.Second

		w := newWorld(t, st, cfg, nil)
		w.start()
		time.Sleep(5 * time.Minute)
		assert.True(t, w.Health().Kinds[0].Synced)
		assert.Equal(t, 50, w.Health().Kinds[0].Known)
		w.end()
	})
}

// Nor does it where they come late, and all at once.
func TestAuditLetsLateContentsCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &script{State: newState()}
		st.call = func(ctx context.Context, _ int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
			if !opts.BootstrapContents {
				return nil
			}

			return playSlowly(ctx, ch, 35*time.Second, []state.Event{created("a", 1), bootstrapped})
		}

		cfg := cachedSources()
		cfg.AuditInterval = 10 * time.Second

		w := newWorld(t, st, cfg, nil)
		w.start()
		time.Sleep(5*time.Minute + time.Second)
		assert.True(t, w.Health().Kinds[0].Synced)

		// Once they have come, it is as impatient as ever.
		before := len(st.asked())

		time.Sleep(time.Minute)
		assert.Len(t, st.asked(), before+6)
		w.end()
		time.Sleep(time.Minute) // for what the state was about to send
	})
}

// A kind whose first contents never come does not hold up the end, not even where a controller waits for them under a
// context that does not end.
func TestEndLetsReadersOfUnfilledCachesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &script{State: newState(), call: func(context.Context, int, chan<- []state.Event, state.WatchKindOptions) error { return nil }}
		w := newWorld(t, st, cachedSources(), nil)
		w.create(newSource("a", 1))

		read := make(chan error, 1)

		w.register(&classic{name: "deaf", inputs: []controller.Input{sources(controller.InputWeak)}, run: func(_ context.Context, r controller.Runtime) error {
			_, err := r.Get(context.Background(), sourcePtr("a"))
			read <- err

			return err
		}})
		w.start()
		time.Sleep(time.Minute)
		w.end()
		require.NoError(t, <-read)
	})
}

// Keys that come to be tracked on a busy kind are loaded once.
func TestTrackingBeginsOnceOnABusyKind(t *testing.T) {
	for range 200 { // which of two signals is seen first is chance
		synctest.Test(t, func(t *testing.T) {
			begin := make(chan struct{})
			st := &script{State: newState()}
			st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
				if n > 0 {
					return st.State.WatchKindAggregated(ctx, sourcePtr(""), ch, asOptions(opts)...)
				}

				go func() {
					<-begin

					for {
						select {
						case ch <- []state.Event{created("a", 1)}:
						case <-ctx.Done():
							return
						}
					}
				}()

				return nil
			}

			w := newWorld(t, st, runtime.Config{}, nil)
			w.create(newSource("a", 1))
			w.register(&classic{name: "weak", inputs: []controller.Input{sources(controller.InputWeak)}, pass: idle})
			w.start()
			time.Sleep(time.Minute)

			close(begin)
			w.register(qmirror(1))
			time.Sleep(time.Minute)
			w.requireMirrored()

			loads := 0

			for _, asked := range st.asked() {
				if asked.BootstrapContents {
					loads++
				}
			}

			assert.Equal(t, 1, loads)
			w.end()
		})
	}
}
