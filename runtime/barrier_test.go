package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// barrier calls Barrier and sends what it returns.
func barrier(ctx context.Context, w *world, kinds ...resource.Kind) <-chan error {
	done := make(chan error, 1)

	go func() { done <- w.CachedState().(stateadapter.Barrierer).Barrier(ctx, kinds...) }()

	return done
}

func pending(t *testing.T, done <-chan error) {
	t.Helper()

	select {
	case err := <-done:
		require.Fail(t, "the barrier is passed too early", "%v", err)
	default:
	}
}

// A barrier is passed when the cache shows what was written before, whatever the state tells of its stream.
func TestBarrier(t *testing.T) {
	for name, spoil := range map[string]func(*faulty){
		"by bookmark":          func(*faulty) {},
		"by contents":          func(f *faulty) { f.noBooks = true },
		"after a lost watch":   func(f *faulty) { f.forget = true },
		"lost and no bookmark": func(f *faulty) { f.forget, f.noBooks = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFaulty(newState())
				w := newWorld(t, f.asState(), cachedSources(), nil)

				spoil(f)
				w.create(newSource("changed", 1), newSource("destroyed", 1), newSource("recreated", 1))
				w.start()
				elapse(time.Second)
				require.NoError(t, w.Barrier(t.Context(), newSource("", 0).Metadata()), "nothing has happened")

				f.hold()
				w.set("changed", 2)
				w.create(newSource("created", 1))
				w.destroy("destroyed")
				w.destroy("recreated")
				elapse(time.Nanosecond)
				w.create(newSource("recreated", 2))

				if f.forget {
					f.breakAll(sourceType, errors.New("lost"))
				}

				done := barrier(t.Context(), w, newSource("", 0).Metadata())

				elapse(time.Minute)
				pending(t, done)

				f.release()
				elapse(time.Minute)
				require.NoError(t, <-done)

				list, err := w.CachedState().List(t.Context(), newSource("", 0).Metadata())
				require.NoError(t, err)

				seen := map[resource.ID]int{}
				for _, res := range list.Items {
					seen[res.Metadata().ID()] = res.(*source).TypedSpec().N
				}

				require.Equal(t, map[resource.ID]int{"changed": 2, "created": 1, "recreated": 2}, seen)
			})
		})
	}
}

// What is destroyed while the barrier waits for it, or replaced, will never be shown, and is not waited for.
func TestBarrierDoesNotWaitForWhatHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(newState())
		f.noBooks = true
		w := newWorld(t, f.asState(), cachedSources(), nil)

		w.create(newSource("a", 1), newSource("b", 1))
		w.start()
		synctest.Wait()

		f.hold()
		w.set("a", 2)
		w.create(newSource("c", 1))

		done := barrier(t.Context(), w, newSource("", 0).Metadata())
		elapse(time.Second)

		for _, id := range []resource.ID{"a", "b", "c"} {
			w.destroy(id)
		}

		elapse(time.Nanosecond)
		w.create(newSource("b", 2))

		f.set(func() { f.forget = true })
		f.breakAll(sourceType, errors.New("lost"))
		f.release()
		elapse(time.Minute)
		require.NoError(t, <-done)
	})
}

func TestBarrierEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(newState())
		w := newWorld(t, f.asState(), cachedSources(), nil)
		kind := newSource("", 0).Metadata()

		require.NoError(t, w.Barrier(t.Context(), kind), "before the run the state is read")

		w.start()
		synctest.Wait()
		f.hold()
		w.create(newSource("a", 1))

		ctx, cancel := context.WithCancel(t.Context())
		done := barrier(ctx, w, kind)

		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)

		done = barrier(t.Context(), w, kind, newTarget("", 0).Metadata())

		synctest.Wait()
		pending(t, done)
		w.end()
		require.NoError(t, <-done, "after the run the state is read")
		require.NoError(t, w.Barrier(t.Context(), kind))
		f.release()
	})
}

// A barrier before the first contents waits for them.
func TestBarrierWaitsForTheFirstContents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, st := newGated()
		w := newWorld(t, st, cachedSources(), nil)

		w.start()
		synctest.Wait()

		done := barrier(t.Context(), w, newSource("", 0).Metadata())

		elapse(time.Minute)
		pending(t, done)
		close(g.gate)
		elapse(time.Second)
		require.NoError(t, <-done)
	})
}

// A controller can wait as well, for what it may list.
func TestBarrierOfAController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(newState())
		w := newWorld(t, f.asState(), runtime.Config{Options: []options.Option{
			options.WithCachedResource(ns, sourceType), options.WithCachedResource(ns, targetType),
		}}, nil)
		ctrl := newLent("reader")
		ctrl.inputs = []controller.Input{sources(controller.InputWeak)}

		w.register(ctrl)
		w.start()
		synctest.Wait()

		go func() {
			timer := time.NewTimer(time.Minute)
			<-timer.C
			f.release()
		}()

		f.hold()
		w.create(newSource("a", 1), newTarget("b", 1))

		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			_, err := r.Get(ctx, newSource("a", 0).Metadata())
			require.True(t, state.IsNotFoundError(err), "%v", err)

			require.NoError(t, stateadapter.Barrier(ctx, r, newSource("", 0).Metadata(), newTarget("", 0).Metadata()))

			_, err = r.Get(ctx, newSource("a", 0).Metadata())
			require.NoError(t, err)
			_, err = r.Get(ctx, newTarget("b", 0).Metadata())
			require.NoError(t, err)

			var refused *stateadapter.RefusedError

			require.ErrorAs(t, stateadapter.Barrier(ctx, r, resource.NewMetadata(ns, "Others", "", resource.VersionUndefined)), &refused)
		})
	})
}

// What was created and destroyed before a barrier is not seen after it, however slowly the stream shows it.
func TestBarrierSeesWhatLivedShortly(t *testing.T) {
	inOwned(t, func(t *testing.T, o *ownedWorld) {
		o.steps.hold()
		defer o.steps.release()

		o.othersCreate(1)
		tick()
		require.NoError(t, o.others.Destroy(t.Context(), o.x))
		tick()

		go func() {
			for range 2 {
				select {
				case <-time.After(time.Second):
					o.steps.let()
				case <-t.Context().Done():
				}
			}
		}()

		require.NoError(t, o.Barrier(t.Context(), o.x))

		for range 4 {
			require.Zero(t, o.read(t.Context(), o.CachedState()))
			elapse(600 * time.Millisecond)
		}
	})
}
