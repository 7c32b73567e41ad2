package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// stepped passes events of aggregated watches one by one, a token each, once it is shut; and calls hooks around calls.
type stepped struct {
	state.CoreState

	mu     sync.Mutex
	shut   bool
	tokens chan struct{}

	onOpen       func()
	afterDestroy func(resource.Pointer)
	onGet        func(resource.Pointer)
	afterGet     func(resource.Pointer)
}

func newStepped() *stepped { return &stepped{CoreState: newState(), tokens: make(chan struct{}, 1000)} }

func (g *stepped) asState() state.State { return state.WrapCore(g) }

// close has events passed on one for each token from now on.
func (g *stepped) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

func (g *stepped) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
	select {
	case g.tokens <- struct{}{}:
	default:
	}
}

func (g *stepped) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

func (g *stepped) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	if g.onOpen != nil {
		g.onOpen()
	}

	inner := make(chan []state.Event)
	if err := g.CoreState.WatchKindAggregated(ctx, kind, inner, opts...); err != nil {
		return err
	}

	go func() {
		for {
			var batch []state.Event
			select {
			case <-ctx.Done():
				return
			case batch = <-inner:
			}

			for len(batch) > 0 {
				n := len(batch)
				if g.isShut() {
					n = 1
					select {
					case <-ctx.Done():
						return
					case <-g.tokens:
					}
				}
				select {
				case <-ctx.Done():
					return
				case ch <- batch[:n]:
				}
				batch = batch[n:]
			}
		}
	}()

	return nil
}

func (g *stepped) Destroy(ctx context.Context, ptr resource.Pointer, opts ...state.DestroyOption) error {
	err := g.CoreState.Destroy(ctx, ptr, opts...)
	if h := g.afterDestroy; h != nil {
		h(ptr)
	}
	return err
}

func (g *stepped) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	g.mu.Lock()
	h, after := g.onGet, g.afterGet
	g.mu.Unlock()
	if h != nil {
		h(ptr)
	}
	res, err := g.CoreState.Get(ctx, ptr, opts...)
	if after != nil {
		after(ptr)
	}
	return res, err
}

// tick lets the clock move on, and all that is not held back come to rest.
func tick() { <-time.After(time.Millisecond) }

func steppedWorld(t *testing.T) (*stepped, *world, *lent) {
	g := newStepped()
	w := newWorld(t, g.asState(), cachedTargets(), nil)
	ctrl := newLent("owner")
	w.register(ctrl)
	return g, w, ctrl
}

// The answer to a destroy takes longer than the stream; somebody creates the resource anew meanwhile.
func TestDestroyThatIsAnsweredAfterARecreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w, ctrl := steppedWorld(t)
		w.start()
		synctest.Wait()

		ctrl.do(func(ctx context.Context, r controller.Runtime) { require.NoError(t, r.Create(ctx, newTarget("x", 1))) })
		tick()

		g.afterDestroy = func(resource.Pointer) {
			g.afterDestroy = nil
			tick()
			require.NoError(t, g.CoreState.Create(t.Context(), newTarget("x", 2)))
			tick()
		}
		ptr := newTarget("x", 0).Metadata()
		ctrl.do(func(ctx context.Context, r controller.Runtime) { require.NoError(t, r.Destroy(ctx, ptr)) })
		elapse(time.Hour)
		_, err := w.state.UpdateWithConflicts(t.Context(), ptr, func(res resource.Resource) error { res.(*target).TypedSpec().N = 3; return nil })
		require.NoError(t, err)
		elapse(time.Hour)

		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			_, err := r.Get(ctx, ptr)
			require.NoError(t, err, "an hour after another's creation")
		})
	})
}

// Two own writers of one key, without anybody else: the destroy of one is answered after the creation by the other.
func TestDestroyThatIsAnsweredAfterAnOwnCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w, ctrl := steppedWorld(t)
		w.start()
		synctest.Wait()

		ptr := newTarget("x", 0).Metadata()
		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, newTarget("x", 1)))
			tick()
			g.afterDestroy = func(resource.Pointer) {
				g.afterDestroy = nil
				tick()
				require.NoError(t, r.Create(ctx, newTarget("x", 2))) // the other worker
			}
			require.NoError(t, r.Destroy(ctx, ptr))
		})
		elapse(time.Hour)
		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			_, err := r.Get(ctx, ptr)
			require.NoError(t, err)
		})
	})
}

// What was learned of one incarnation is taken for another.
func TestEachDestroyLearnsForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w, ctrl := steppedWorld(t)
		w.start()
		synctest.Wait()
		g.close()

		ptr := newTarget("x", 0).Metadata()
		foreign := func() {
			tick()
			require.NoError(t, w.state.Create(t.Context(), newTarget("x", 1), state.WithCreateOwner("owner")))
			tick()
		}
		destroy := func() {
			ctrl.do(func(ctx context.Context, r controller.Runtime) { require.NoError(t, r.Destroy(ctx, ptr)) })
		}
		foreign()
		destroy()
		foreign()
		destroy()

		for i := range 4 {
			g.tokens <- struct{}{}
			tick()
			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				_, err := r.Get(ctx, ptr)
				require.True(t, state.IsNotFoundError(err), "after event %d: %v", i+1, err)
			})
		}
	})
}

// A panic of the state while it is asked which incarnation is there leaves the write open.
func TestPanicOfTheStateBeforeADestroy(t *testing.T) {
	for _, panics := range []bool{false, true} {
		t.Run(fmt.Sprint(panics), func(t *testing.T) { panicBeforeDestroy(t, panics) })
	}
}

func panicBeforeDestroy(t *testing.T, panics bool) {
	synctest.Test(t, func(t *testing.T) {
		g, w, ctrl := steppedWorld(t)
		w.start()
		synctest.Wait()
		ptr := newTarget("x", 0).Metadata()

		g.mu.Lock()
		if panics {
			g.onGet = func(resource.Pointer) { panic("state") }
		}
		g.mu.Unlock()
		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			defer func() { _ = recover() }()
			_ = r.Destroy(ctx, ptr)
		})
		g.mu.Lock()
		g.onGet = nil
		g.mu.Unlock()

		// With one write open for ever, a clock that stood still between two lives is enough to lose a creation.
		g.close()
		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, newTarget("x", 1)))
			require.NoError(t, r.Destroy(ctx, ptr))
			require.NoError(t, r.Create(ctx, newTarget("x", 2)))
			_, err := r.Get(ctx, ptr)
			require.NoError(t, err)
		})
		g.open()
	})
}

// Two readers of one owner ask the state at once; what one has seen must not be taken back by the other's answer.
func TestTwoReadersOfOneOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w, ctrl := steppedWorld(t)
		w.start()
		synctest.Wait()
		g.close()
		ptr := newTarget("x", 0).Metadata()

		set := func(n int) {
			_, err := w.state.UpdateWithConflicts(t.Context(), ptr, func(res resource.Resource) error { res.(*target).TypedSpec().N = n; return nil },
				state.WithUpdateOwner("owner"))
			require.NoError(t, err)
		}

		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, newTarget("x", 1)))

			slow, slower := make(chan struct{}), make(chan struct{})
			read := func() int {
				res, err := r.Get(ctx, ptr)
				require.NoError(t, err)
				return res.(*target).TypedSpec().N
			}

			// The answer to the first is 1 and comes while the second, which is to see 2, is under way.
			calls := 0
			g.mu.Lock()
			g.afterGet = func(resource.Pointer) {
				g.mu.Lock()
				calls++
				n := calls
				g.mu.Unlock()
				if n == 1 {
					<-slow
				} else if n == 2 {
					<-slower
				}
			}
			g.mu.Unlock()

			var first, second sync.WaitGroup
			seen := 0
			first.Go(func() { read() })
			synctest.Wait()
			g.mu.Lock()
			saved := g.afterGet
			g.afterGet = nil
			g.mu.Unlock()
			set(2)
			g.mu.Lock()
			g.afterGet = saved
			g.mu.Unlock()
			second.Go(func() { seen = read() })
			synctest.Wait()
			close(slow)
			first.Wait()
			close(slower)
			second.Wait()
			require.Equal(t, 2, seen)
			require.Equal(t, 2, read(), "2 was seen before")
		})
		g.open()
	})
}

// A barrier while the stream lags: what was created and destroyed before it must not be seen after it.
func TestBarrierSeesWhatLivedShortly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w, _ := steppedWorld(t)
		w.start()
		synctest.Wait()
		g.close()
		ptr := newTarget("x", 0).Metadata()
		require.NoError(t, w.state.Create(t.Context(), newTarget("x", 1)))
		tick()
		require.NoError(t, w.state.Destroy(t.Context(), ptr))
		tick()
		go func() { // the stream comes at one event a second
			for range 2 {
				select {
				case <-time.After(time.Second):
				case <-t.Context().Done():
					return
				}
				g.tokens <- struct{}{}
			}
		}()
		require.NoError(t, w.Barrier(t.Context(), ptr))

		for range 4 {
			_, err := w.CachedState().Get(t.Context(), ptr)
			if !state.IsNotFoundError(err) {
				t.Errorf("after the barrier: %v", err)
			}
			<-time.After(600 * time.Millisecond)
		}
	})
}

// 1c. The state is asked, knows nothing, and somebody creates before the answer is noted.
func TestAnswerOfTheStateBesideARecreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStepped()
		f := newFaulty(g.asState())
		w := newWorld(t, f.asState(), cachedTargets(), nil)
		ctrl := newLent("owner")
		w.register(ctrl)
		w.start()
		synctest.Wait()

		gate := make(chan struct{})
		g.onOpen = func() { <-gate }
		f.set(func() { f.forget = true })
		f.breakAll(targetType, errors.New("broken"))
		elapse(10 * time.Second)

		res := newTarget("x", 0)
		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, res))
			tick()
			require.NoError(t, r.Destroy(ctx, res.Metadata()))
		})
		close(gate)
		elapse(time.Hour)

		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			once := true
			g.mu.Lock()
			g.afterGet = func(resource.Pointer) {
				if once {
					once = false
					require.NoError(t, g.CoreState.Create(ctx, newTarget("x", 2)))
					tick()
				}
			}
			g.mu.Unlock()
			_, _ = r.Get(ctx, res.Metadata())
			elapse(time.Hour)
			_, err := r.Get(ctx, res.Metadata())
			require.NoError(t, err, "an hour after another's creation")
		})
	})
}

// Over gRPC: a creation does not tell when the state created the resource.
func TestOwnCreationsOverGRPC(t *testing.T) {
	for _, way := range []string{"create", "modify"} {
		t.Run(way, func(t *testing.T) {
			l := newLink(t)
			w := newWorld(t, l.remote(), runtime.Config{Options: []options.Option{options.WithCachedResource(far, conformance.IntResourceType)}}, nil)
			ctrl := newLent("owner")
			ctrl.outputs = []controller.Output{shared(conformance.IntResourceType)}
			w.register(ctrl)
			w.start()

			number := func(id resource.ID, n int) *conformance.IntResource { return conformance.NewIntResource(far, id, n) }
			b := number("b", 0).Metadata()
			make := func(ctx context.Context, r controller.Runtime, id resource.ID) {
				if way == "create" {
					require.NoError(t, r.Create(ctx, number(id, 1)))
				} else {
					require.NoError(t, r.Modify(ctx, number(id, 1), func(resource.Resource) error { return nil }))
				}
			}
			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				make(ctx, r, "a")
				_, err := r.Get(ctx, number("a", 0).Metadata())
				require.NoError(t, err)
				make(ctx, r, "b")
			})
			_, err := l.state.UpdateWithConflicts(t.Context(), b, func(res resource.Resource) error {
				res.(*conformance.IntResource).SetValue(2)
				return nil
			}, state.WithUpdateOwner("owner"))
			require.NoError(t, err)
			require.NoError(t, w.Barrier(t.Context(), b))
			res, err := w.CachedState().Get(t.Context(), b)
			require.NoError(t, err)
			require.Equal(t, 2, res.(*conformance.IntResource).Value())

			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				res, err := r.Get(ctx, b)
				require.NoError(t, err)
				if n := res.(*conformance.IntResource).Value(); n != 2 {
					t.Errorf("the cache shows 2, the owner reads %d", n)
				}
				require.NoError(t, r.Destroy(ctx, b))
			})
			require.NoError(t, l.state.Create(t.Context(), number("b", 3)))
			require.NoError(t, w.Barrier(t.Context(), b))
			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				if _, err := r.Get(ctx, b); err != nil {
					t.Errorf("recreated by another, and shown by the cache: %v", err)
				}
			})
		})
	}
}

// hookedCreate calls a function before a creation.
type hookedCreate struct {
	*stepped
	onCreate func()
}

func (h *hookedCreate) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	if h.onCreate != nil {
		h.onCreate()
	}
	return h.stepped.CoreState.Create(ctx, res, opts...)
}

// An answer of the state about a note that was forgotten is taken for one about the note that has its memory now.
func TestAnswerAboutAForgottenNote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStepped()
		h := &hookedCreate{stepped: g}
		w := newWorld(t, state.WrapCore(h), cachedTargets(), nil)
		ctrl := newLent("owner")
		w.register(ctrl)
		w.start()
		synctest.Wait()
		g.close()
		ptr := newTarget("x", 0).Metadata()

		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, newTarget("x", 1)))
			tick()
			require.NoError(t, g.CoreState.Destroy(ctx, ptr, state.WithDestroyOwner("owner")))

			answer, once := make(chan struct{}), sync.Once{}
			g.mu.Lock()
			g.afterGet = func(resource.Pointer) { once.Do(func() { <-answer }) }
			g.mu.Unlock()

			var reader sync.WaitGroup
			reader.Go(func() { _, _ = r.Get(ctx, ptr) })
			synctest.Wait()

			g.open()
			tick()
			require.NoError(t, g.CoreState.Create(ctx, newTarget("x", 2)))
			tick()

			h.onCreate = func() { close(answer); reader.Wait() }
			require.True(t, state.IsConflictError(r.Create(ctx, newTarget("x", 3))))
			elapse(time.Hour)

			res, err := r.Get(ctx, ptr)
			require.NoError(t, err, "an hour after another's creation")
			require.Equal(t, 2, res.(*target).TypedSpec().N)
		})
	})
}
