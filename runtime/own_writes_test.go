package runtime_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
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
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
	"github.com/switchyard-run/switchyard/stateadapter"
)

func cachedTargets() runtime.Config {
	return runtime.Config{Options: []options.Option{options.WithCachedResource(ns, targetType)}}
}

// lent is a controller that lends its runtime to the test for one call after the other.
type lent struct {
	*classic

	calls chan func(context.Context, controller.Runtime)
}

// newLent returns a controller that owns targets.
func newLent(name string) *lent {
	l := &lent{calls: make(chan func(context.Context, controller.Runtime))}
	l.classic = &classic{name: name, outputs: []controller.Output{shared(targetType)}, run: func(ctx context.Context, r controller.Runtime) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case call := <-l.calls:
				call(ctx, r)
			}
		}
	}}

	return l
}

// do has the controller make the call and waits for it.
func (l *lent) do(call func(context.Context, controller.Runtime)) {
	done := make(chan struct{})

	l.calls <- func(ctx context.Context, r controller.Runtime) {
		defer close(done)

		call(ctx, r)
	}

	<-done
}

// A controller sees what it has written, by every way of reading, while the stream shows nothing of it.
func TestOwnWritesAreSeenBeforeTheStreamShowsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(newState())
		w := newWorld(t, f.asState(), cachedTargets(), nil)
		ctrl := newLent("owner")

		w.register(ctrl)
		w.start()
		synctest.Wait()
		f.hold()

		ids := func(ctx context.Context, r controller.Runtime, opts ...state.ListOption) []resource.ID {
			list, err := r.List(ctx, newTarget("", 0).Metadata(), opts...)
			require.NoError(t, err)

			view, err := stateadapter.View(ctx, r, newTarget("", 0).Metadata())
			require.NoError(t, err)

			var listed []resource.ID
			for _, res := range list.Items {
				listed = append(listed, res.Metadata().ID())
			}

			if len(opts) == 0 {
				require.Equal(t, len(listed), view.Len())
			}

			return listed
		}

		// Twice: the values of the first writes are asked of the state, those of later ones are kept.
		for i := range 2 {
			id := fmt.Sprint("t", i)
			ptr := newTarget(id, 0).Metadata()

			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				number := func() int {
					res, err := safe.ReaderGet[*target](ctx, r, ptr)
					require.NoError(t, err)

					return res.TypedSpec().N
				}

				missing := func() {
					_, err := r.Get(ctx, ptr)
					require.True(t, state.IsNotFoundError(err), "%v", err)
					require.NotContains(t, ids(ctx, r), id)
				}

				missing()

				made := labelled(newTarget(id, 1), "colour", "red")
				require.NoError(t, r.Create(ctx, made))
				require.Equal(t, 1, number())
				require.Contains(t, ids(ctx, r), id)
				require.Contains(t, ids(ctx, r, state.WithLabelQuery(resource.LabelEqual("colour", "red"))), id)

				alive, err := r.ContextWithTeardown(ctx, ptr)
				require.NoError(t, err)
				require.NoError(t, alive.Err(), "it is there")

				made.TypedSpec().N = 2
				made.Metadata().Labels().Set("colour", "blue")
				require.NoError(t, r.Update(ctx, made))
				made.TypedSpec().N = 100 // what was written is not what the caller makes of it later
				require.Equal(t, 2, number())
				require.NotContains(t, ids(ctx, r, state.WithLabelQuery(resource.LabelEqual("colour", "red"))), id)

				require.NoError(t, safe.WriterModify(ctx, r, newTarget(id, 0), func(res *target) error {
					res.TypedSpec().N = 3

					return nil
				}))
				require.Equal(t, 3, number())

				ready, err := r.Teardown(ctx, ptr)
				require.NoError(t, err)
				require.True(t, ready)

				res, err := r.Get(ctx, ptr)
				require.NoError(t, err)
				require.Equal(t, resource.PhaseTearingDown, res.Metadata().Phase())

				require.NoError(t, r.Destroy(ctx, ptr))
				missing()

				require.NoError(t, r.Create(ctx, newTarget(id, 4)))
				require.Equal(t, 4, number(), "versions begin again")

				r.StartTrackingOutputs()
				require.NoError(t, r.CleanupOutputs(ctx, ptr))
				missing()

				require.NoError(t, r.Create(ctx, newTarget(id, 5)))
			})
		}

		f.release()
		synctest.Wait()

		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			require.Equal(t, []resource.ID{"t1"}, ids(ctx, r))
		})
	})
}

// What the stream has shown is forgotten: reads come from the cache alone again.
func TestOwnWritesCostNothingOnceTheStreamHasShownThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(newState())
		counted := &counting{State: f.asState(), typ: targetType}
		w := newWorld(t, counted, cachedTargets(), nil)
		ctrl := newLent("owner")

		w.register(ctrl)
		w.start()
		synctest.Wait()

		read := func() int64 {
			before := counted.reads.Load()

			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				for i := range 10 {
					if _, err := r.Get(ctx, newTarget(strconv.Itoa(i), 0).Metadata()); i%3 == 0 {
						require.True(t, state.IsNotFoundError(err), "%v", err)
					} else {
						require.NoError(t, err)
					}
				}

				_, err := r.List(ctx, newTarget("", 0).Metadata())
				require.NoError(t, err)
			})

			return counted.reads.Load() - before
		}

		for round := range 3 {
			f.hold()

			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				for i := range 10 {
					res := newTarget(strconv.Itoa(i), round)

					require.NoError(t, safe.WriterModify(ctx, r, res, func(res *target) error {
						res.TypedSpec().N = round

						return nil
					}))

					if i%3 == 0 {
						_, err := r.Teardown(ctx, res.Metadata())
						require.NoError(t, err)
						require.NoError(t, r.Destroy(ctx, res.Metadata()))
					}

					// It changes nothing, so the stream will not show it.
					if i%3 == 1 {
						require.NoError(t, safe.WriterModify(ctx, r, res, func(*target) error { return nil }))
					}
				}
			})

			if round == 0 {
				require.Positive(t, read(), "nothing is kept for a controller that does not read what it writes")
			} else {
				require.Zero(t, read(), "from then on it is")
			}

			if round == 2 {
				f.set(func() { f.forget = true })
				f.breakAll(targetType, errors.New("lost with all that was held"))
			}

			f.release()
			elapse(time.Minute)
			require.Zero(t, read())
		}
	})
}

// history is what the state has shown of each resource, in order: its numbers, and 0 while there was none. No number is
// used twice.
type history struct {
	states map[resource.ID][]int
	// floor is the place from which on the owner may see the resource: what it has written, or seen.
	floor map[resource.ID]int
	last  int
}

func (h *history) next() int {
	h.last++

	return h.last
}

func (h *history) now(id resource.ID) int {
	if all := h.states[id]; len(all) > 0 {
		return all[len(all)-1]
	}

	return 0
}

func (h *history) happened(id resource.ID, n int) {
	if len(h.states[id]) == 0 {
		h.states[id] = []int{0}
	}

	h.states[id] = append(h.states[id], n)
}

// wrote says that what happened last was done by the owner.
func (h *history) wrote(id resource.ID) { h.floor[id] = len(h.states[id]) - 1 }

// read says that the owner has seen the number, or nothing. Of several times when there was none the last one is meant.
func (h *history) read(id resource.ID, n int) error {
	all := h.states[id]

	for i := len(all) - 1; i >= h.floor[id] && i >= 0; i-- {
		if all[i] == n {
			h.floor[id] = i

			return nil
		}
	}

	if len(all) == 0 && n == 0 {
		return nil
	}

	return fmt.Errorf("%s is read as %d after it was seen or written at place %d of %v", id, n, h.floor[id], all)
}

// Whatever the owner and others do, and whatever happens to the stream, the owner reads nothing older than what it wrote
// or has read before.
func TestOwnWritesAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// The bubble needs a test of its own; its failure is reported to the property.
		var failure error

		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				what: rapid.SampledFrom([]string{
					"create", "update", "modify", "keep", "teardown", "destroy", "read", "read", "read", "list", "shared", "shared",
					"foreign create", "foreign update", "foreign finalizer", "foreign destroy", "hold", "release", "release", "break", "lose", "rest",
				}).Draw(rt, "what"),
				id: rapid.SampledFrom([]resource.ID{"a", "b", "c"}).Draw(rt, "id"),
			}
		}), 1, 60).Draw(rt, "steps")

		synctest.Test(t, func(t *testing.T) { failure = followSteps(t, steps) })

		if failure != nil {
			rt.Fatalf("%v", failure)
		}
	})
}

type step struct {
	what string
	id   resource.ID
}

func followSteps(t *testing.T, steps []step) (failure error) {
	f := newFaulty(newState())
	w := newWorld(t, f.asState(), cachedTargets(), nil)
	ctrl := newLent("owner")

	w.register(ctrl)
	w.start()
	synctest.Wait()

	defer f.release()

	h := &history{states: map[resource.ID][]int{}, floor: map[resource.ID]int{}}

	for i, s := range steps {
		<-time.After(time.Nanosecond) // no two lives of a resource begin at the same time

		ctrl.do(func(ctx context.Context, r controller.Runtime) {
			failure = h.step(ctx, r, f, w.state, s)
		})

		if failure != nil {
			return fmt.Errorf("step %d, %s %s: %w", i, s.what, s.id, failure)
		}

		if s.what == "rest" {
			f.release()
			elapse(time.Minute)
		}
	}

	f.release()
	elapse(time.Minute)

	for _, id := range []resource.ID{"a", "b", "c"} {
		ctrl.do(func(ctx context.Context, r controller.Runtime) { failure = h.see(ctx, r, id) })

		if failure == nil && len(h.states[id]) > 0 && h.floor[id] != len(h.states[id])-1 && h.now(id) != 0 {
			failure = fmt.Errorf("%s is at place %d of %v when all is at rest", id, h.floor[id], h.states[id])
		}

		if failure != nil {
			return failure
		}
	}

	return nil
}

func (h *history) see(ctx context.Context, r controller.Reader, id resource.ID) error {
	res, err := safe.ReaderGet[*target](ctx, r, newTarget(id, 0).Metadata())

	switch {
	case state.IsNotFoundError(err):
		return h.read(id, 0)
	case err != nil:
		return err
	default:
		return h.read(id, res.TypedSpec().N)
	}
}

func (h *history) step(ctx context.Context, r controller.Runtime, f *faulty, st state.State, s step) error {
	ptr := newTarget(s.id, 0).Metadata()
	there := h.now(s.id) != 0

	renumber := func(res resource.Resource) error {
		res.(*target).TypedSpec().N = h.next()

		return nil
	}

	switch s.what {
	case "create":
		if there {
			return nil
		}

		n := h.next()
		if err := r.Create(ctx, newTarget(s.id, n)); err != nil {
			return err
		}

		h.happened(s.id, n)
		h.wrote(s.id)
	case "update":
		if !there {
			return nil
		}

		res, err := r.(controller.UncachedReader).GetUncached(ctx, ptr)
		if err != nil {
			return err
		}

		if err = renumber(res); err != nil {
			return err
		}

		if res.Metadata().Phase() != resource.PhaseRunning {
			return nil
		}

		if err = r.Update(ctx, res); err != nil {
			return err
		}

		h.happened(s.id, h.last)
		h.wrote(s.id)
	case "modify", "keep":
		res, err := r.ModifyWithResult(ctx, newTarget(s.id, 0), func(res resource.Resource) error {
			if s.what == "keep" && there {
				return nil
			}

			return renumber(res)
		}, controller.WithExpectedPhaseAny())
		if err != nil {
			return err
		}

		if n := res.(*target).TypedSpec().N; n != h.now(s.id) {
			h.happened(s.id, n)
		}

		h.wrote(s.id)
	case "teardown":
		if !there {
			return nil
		}

		was, err := st.Get(ctx, ptr)
		if err != nil {
			return err
		}

		if _, err := r.Teardown(ctx, ptr); err != nil {
			return err
		}

		if was.Metadata().Phase() != resource.PhaseTearingDown {
			h.wrote(s.id)
		}

		res, err := r.Get(ctx, ptr)
		if err != nil {
			return err
		}

		if res.Metadata().Phase() != resource.PhaseTearingDown {
			return fmt.Errorf("it is not seen tearing down")
		}
	case "destroy":
		if !there {
			return nil
		}

		if err := st.RemoveFinalizer(ctx, ptr, "foreign"); err != nil {
			return err
		}

		if err := r.Destroy(ctx, ptr); err != nil {
			return err
		}

		h.happened(s.id, 0)
		h.wrote(s.id)
	case "read":
		return h.see(ctx, r, s.id)
	case "list":
		list, err := r.List(ctx, ptr)
		if err != nil {
			return err
		}

		return h.listed(slices.Values(list.Items))
	case "shared":
		view, err := stateadapter.View(ctx, r, ptr)
		if err != nil {
			return err
		}

		return h.listed(view.All())
	case "foreign create":
		if there {
			return nil
		}

		n := h.next()
		if err := st.Create(ctx, newTarget(s.id, n), state.WithCreateOwner("owner")); err != nil {
			return err
		}

		h.happened(s.id, n)
	case "foreign update":
		if !there {
			return nil
		}

		if _, err := st.UpdateWithConflicts(ctx, ptr, renumber, state.WithUpdateOwner("owner"), state.WithExpectedPhaseAny()); err != nil {
			return err
		}

		h.happened(s.id, h.last)
	case "foreign finalizer":
		if there {
			return st.AddFinalizer(ctx, ptr, "foreign")
		}
	case "foreign destroy":
		if !there {
			return nil
		}

		if err := st.RemoveFinalizer(ctx, ptr, "foreign"); err != nil {
			return err
		}

		if err := st.Destroy(ctx, ptr, state.WithDestroyOwner("owner")); err != nil {
			return err
		}

		h.happened(s.id, 0)
	case "hold":
		f.release()
		f.hold()
	case "release":
		f.release()
	case "break":
		f.set(func() { f.forget = false })
		f.breakAll(targetType, errors.New("broken"))
	case "lose":
		f.set(func() { f.forget = true })
		f.breakAll(targetType, errors.New("lost"))
	}

	return nil
}

func (h *history) listed(all func(func(resource.Resource) bool)) error {
	listed := map[resource.ID]int{}

	for res := range all {
		listed[res.Metadata().ID()] = res.(*target).TypedSpec().N
	}

	for _, id := range []resource.ID{"a", "b", "c"} {
		if err := h.read(id, listed[id]); err != nil {
			return err
		}
	}

	return nil
}

// cycles is how often TestOwnWritesUnderLoad creates, updates, destroys and cleans up.
//
//	go test -race ./runtime -run TestOwnWritesUnderLoad -cycles 100000
var cycles = flag.Int("cycles", 10_000, "how many cycles TestOwnWritesUnderLoad runs")

// Many cycles beside others who write to the same kind, and to the same resources.
func TestOwnWritesUnderLoad(t *testing.T) {
	const owners = 4

	w := newTrustingWorld(t, nil, cachedTargets(), nil)
	w.start()

	var (
		own, foreign sync.WaitGroup
		stop         atomic.Bool
	)

	for i := range owners {
		ctrl := newLent(fmt.Sprint("owner", i))
		w.register(ctrl)

		own.Go(func() {
			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				for n := range *cycles / owners {
					if err := cycle(ctx, r, fmt.Sprintf("%d-%d", i, n%100)); !assert.NoError(t, err, "cycle %d of %d", n, i) {
						return
					}
				}
			})
		})

		foreign.Go(func() {
			for n := 0; !stop.Load(); n++ {
				ptr := newTarget(fmt.Sprintf("%d-%d", i, n%100), 0).Metadata()

				_, err := safe.StateUpdateWithConflicts(t.Context(), w.state, ptr, func(res *target) error {
					res.TypedSpec().N++

					return nil
				}, state.WithUpdateOwner(fmt.Sprint("owner", i)), state.WithExpectedPhaseAny())
				if err != nil && !state.IsNotFoundError(err) {
					assert.NoError(t, err)
				}

				other := newTarget(fmt.Sprintf("other%d-%d", i, n%100), 0)
				if err := w.state.Create(t.Context(), other); err != nil {
					assert.NoError(t, w.state.Destroy(t.Context(), other.Metadata()))
				}
			}
		})
	}

	own.Wait()
	stop.Store(true)
	foreign.Wait()
}

// cycle creates, updates, destroys and cleans up, and reads after each.
func cycle(ctx context.Context, r controller.Runtime, id resource.ID) error {
	ptr := newTarget(id, 0).Metadata()

	var last uint64

	see := func(least int) error {
		res, err := safe.ReaderGet[*target](ctx, r, ptr)
		if err != nil {
			return err
		}

		version := res.Metadata().Version().Value()
		if res.TypedSpec().N < least || version < last {
			return fmt.Errorf("%s is read at %d, version %d, after %d, version %d", id, res.TypedSpec().N, version, least, last)
		}

		last = version

		return nil
	}

	missing := func() error {
		if _, err := r.Get(ctx, ptr); !state.IsNotFoundError(err) {
			return fmt.Errorf("%s is there after it was destroyed: %w", id, err)
		}

		view, err := stateadapter.View(ctx, r, ptr)
		if err != nil {
			return err
		}

		if _, there := view.Lend(id); there {
			return fmt.Errorf("%s is in the view after it was destroyed", id)
		}

		return nil
	}

	update := func(n int) error {
		return safe.WriterModify(ctx, r, newTarget(id, 0), func(res *target) error {
			res.TypedSpec().N += n

			return nil
		})
	}

	for _, do := range []func() error{
		func() error { return r.Create(ctx, newTarget(id, 1)) },
		func() error { return see(1) },
		func() error { return update(10) },
		func() error { return see(11) },
		func() error { return r.Destroy(ctx, ptr) },
		missing,
		func() error { last = 0; return update(100) },
		func() error { return see(100) },
		func() error { r.StartTrackingOutputs(); return nil },
		func() error { return r.CleanupOutputs(ctx, ptr) },
		missing,
	} {
		if err := do(); err != nil {
			return err
		}
	}

	return nil
}
