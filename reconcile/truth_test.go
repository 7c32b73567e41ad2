package reconcile_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/reconcile"
)

// reader is a state that can be read and listed. Whoever watches it, or writes to it, panics.
type reader struct {
	state.CoreState

	inner state.CoreState
}

func (r reader) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	return r.inner.Get(ctx, ptr, opts...)
}

func (r reader) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	return r.inner.List(ctx, kind, opts...)
}

// A manager says when, and never what: it opens no watch, writes nothing, and reads definitions and lists only.
func TestManagerHoldsNoWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.DebugLevel)
		inner := newState()
		require.NoError(t, inner.Create(t.Context(), number("a", 1)))

		var s seen

		m := reconcile.NewManager(reader{inner: inner}, reconcile.WithManagerLogger(zap.New(core)))
		require.NoError(t, m.Register(kind, &s, inDefault))

		stop := starting(m, t)

		require.Equal(t, []reconcile.Ref{ref("a")}, s.taken())
		m.Enqueue(ref("b"))
		require.Equal(t, []reconcile.Ref{ref("b")}, s.taken())
		time.Sleep(reconcile.DefaultResync)
		require.Equal(t, []reconcile.Ref{ref("a")}, s.taken())
		stop()
		assert.Zero(t, logs.Len())
	})
}

// A hint carries nothing: the pass finds what is there when it is made, or that nothing is.
func TestHintsAreNoFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newState()

		var (
			mu    sync.Mutex // guards found
			found []string
		)

		looks := reconcile.ReconcilerFunc[reconcile.Ref](func(ctx context.Context, ref reconcile.Ref) (reconcile.Result, error) {
			res, err := st.Get(ctx, ref)

			mu.Lock()
			defer mu.Unlock()

			switch {
			case state.IsNotFoundError(err):
				found = append(found, "nothing")
			case err != nil:
				return reconcile.Result{}, err
			default:
				found = append(found, strconv.Itoa(res.(*conformance.IntResource).Value()))
			}

			return reconcile.Result{}, nil
		})

		m := reconcile.NewManager(st, reconcile.WithoutResync())
		require.NoError(t, m.Register(kind, looks))

		n := number("a", 1)
		require.NoError(t, st.Create(t.Context(), n))
		m.Enqueue(ref("a"))

		for value := 2; value <= 4; value++ {
			n.SetValue(value)
			require.NoError(t, st.Update(t.Context(), n))
			m.Enqueue(ref("a"))
		}

		stop := starting(m, t)

		synctest.Wait()
		require.NoError(t, st.Destroy(t.Context(), n.Metadata()))
		m.Enqueue(ref("a"))
		synctest.Wait()
		stop()
		assert.Equal(t, []string{"4", "nothing"}, found)
	})
}

// A resync reaches all that is there, of every kind, in every namespace named, and in teardown, too.
func TestResyncReachesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newState()

		var texts, numbers []reconcile.Ref

		for _, id := range []resource.ID{"a", "b", "c"} {
			n, s := number(id, 1), conformance.NewStrResource("elsewhere", id, "")

			if id == "c" {
				n.Metadata().SetPhase(resource.PhaseTearingDown)
			}

			require.NoError(t, st.Create(t.Context(), n))
			require.NoError(t, st.Create(t.Context(), s))

			numbers, texts = append(numbers, reconcile.RefOf(n.Metadata())), append(texts, reconcile.RefOf(s.Metadata()))
		}

		var n, s seen

		m := reconcile.NewManager(st)
		require.NoError(t, m.Register(kind, &n, inDefault))
		require.NoError(t, m.Register(conformance.StrResourceType, &s, reconcile.WithScopes(ns, "elsewhere")))

		stop := starting(m, t)
		defer stop()

		for range 3 {
			assert.ElementsMatch(t, numbers, n.taken())
			assert.ElementsMatch(t, texts, s.taken())
			time.Sleep(reconcile.DefaultResync)
		}
	})
}

// What has halted is left alone, but for hints and resyncs: when somebody has changed what was in the way, and nobody says so, a
// resync finds out.
func TestWhatHasHaltedIsTriedAtTheNextResync(t *testing.T) {
	for _, class := range []reconcile.Class{
		reconcile.ClassTerminal, reconcile.ClassNeedsApproval, reconcile.ClassBudgetExceeded, reconcile.ClassCancelled,
	} {
		t.Run(class.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newState()
				require.NoError(t, st.Create(t.Context(), number("a", 1)))

				seen := newPasses()
				m := reconcile.NewManager(st)
				require.NoError(t, m.Register(kind, reconcile.ReconcilerFunc[reconcile.Ref](
					func(context.Context, reconcile.Ref) (reconcile.Result, error) {
						seen.add()

						return reconcile.Result{}, reconcile.WithClass(class, errOrdinary)
					}), inDefault))

				stop := starting(m, t)
				defer stop()

				time.Sleep(5 * time.Second)
				m.Enqueue(ref("a"))
				time.Sleep(time.Minute)
				assert.Equal(t, []time.Duration{0, 5 * time.Second, 30 * time.Second, time.Minute}, seen.all())
			})
		})
	}
}
