package reconcile_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/reconcile"
)

// seen are the references that were reconciled.
type seen struct {
	mu   sync.Mutex
	refs []reconcile.Ref
}

func (s *seen) Reconcile(_ context.Context, ref reconcile.Ref) (reconcile.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.refs = append(s.refs, ref)

	return reconcile.Result{}, nil
}

// taken returns what was reconciled since it was called last.
func (s *seen) taken() []reconcile.Ref {
	synctest.Wait()

	s.mu.Lock()
	defer s.mu.Unlock()

	refs := s.refs
	s.refs = nil

	return refs
}

func starting(m *reconcile.Manager, t *testing.T) (stop func()) {
	return running(t, func(ctx context.Context) { assert.NoError(t, m.Start(ctx)) })
}

var inDefault = reconcile.WithScopes(ns)

// What is there at the start is reconciled, and all of it again with each interval, so that lost hints do no harm.
func TestResync(t *testing.T) {
	for name, test := range map[string]struct {
		opts     []reconcile.ManagerOption
		first    bool
		interval time.Duration // 0 is never
	}{
		"default": {nil, true, 30 * time.Second},
		"longer":  {[]reconcile.ManagerOption{reconcile.WithResync(time.Hour)}, true, time.Hour},
		"once":    {[]reconcile.ManagerOption{reconcile.WithResync(0)}, true, 0},
		"less":    {[]reconcile.ManagerOption{reconcile.WithResync(-time.Second)}, true, 0},
		"never":   {[]reconcile.ManagerOption{reconcile.WithoutResync()}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newState()
				require.NoError(t, st.Create(t.Context(), number("a", 1)))

				var s seen

				m := reconcile.NewManager(st, test.opts...)
				require.NoError(t, m.Register(kind, &s, inDefault))

				stop := starting(m, t)
				defer stop()

				if test.first {
					assert.Equal(t, []reconcile.Ref{ref("a")}, s.taken())
				} else {
					assert.Empty(t, s.taken())
				}

				require.NoError(t, st.Create(t.Context(), number("b", 1)))
				assert.Empty(t, s.taken(), "nobody has said so")

				m.Enqueue(ref("c"))
				assert.Equal(t, []reconcile.Ref{ref("c")}, s.taken(), "a hint is not looked at: the reconciler is")

				if test.interval == 0 {
					time.Sleep(24 * time.Hour)
					assert.Empty(t, s.taken())

					return
				}

				for range 3 {
					time.Sleep(test.interval - time.Nanosecond)
					assert.Empty(t, s.taken())
					time.Sleep(time.Nanosecond)
					assert.ElementsMatch(t, []reconcile.Ref{ref("a"), ref("b")}, s.taken())
				}
			})
		})
	}
}

// Hints go to the reconciler of their kind, those of unknown kinds nowhere, and those that come before the start wait.
func TestHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var former, numbers, texts seen

		m := reconcile.NewManager(newState(), reconcile.WithoutResync())
		require.NoError(t, m.Register(kind, &former))
		require.NoError(t, m.Register(kind, &numbers))
		require.NoError(t, m.Register(conformance.StrResourceType, &texts))

		m.Enqueue(ref("early"))
		m.Enqueue(ref("early"))

		stop := starting(m, t)

		text := reconcile.Ref{Kind: conformance.StrResourceType, Scope: "elsewhere", Name: "t"}

		m.Enqueue(text)
		m.Enqueue(reconcile.Ref{Kind: "Unknown", Scope: ns, Name: "u"})

		assert.Equal(t, []reconcile.Ref{ref("early")}, numbers.taken())
		assert.Equal(t, []reconcile.Ref{text}, texts.taken())
		assert.Empty(t, former.taken())
		stop()

		m.Enqueue(ref("late"))
		assert.Empty(t, numbers.taken())
	})
}

// A hint is for a kind, and not for who was registered for it when the hint came.
func TestHintsOutliveTheReconcilerThatIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var former, present seen

		m := reconcile.NewManager(newState(), reconcile.WithoutResync())
		require.NoError(t, m.Register(kind, &former))
		m.Enqueue(ref("early"))
		require.NoError(t, m.Register(kind, &present))

		stop := starting(m, t)
		defer stop()

		assert.Equal(t, []reconcile.Ref{ref("early")}, present.taken())
		assert.Empty(t, former.taken())
	})
}

func TestStartWithoutKindsWorksUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		go func() { ended <- reconcile.NewManager(newState()).Start(ctx) }()

		time.Sleep(time.Hour)
		assert.Empty(t, ended)
		cancel()
		assert.NoError(t, <-ended)
	})
}

func TestKindsAreRegisteredBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := reconcile.NewManager(newState())
		stop := starting(m, t)

		synctest.Wait()
		require.ErrorIs(t, m.Register(kind, &seen{}), reconcile.ErrStarted)
		require.ErrorContains(t, m.Register(kind, &seen{}), kind)
		require.ErrorIs(t, m.Start(t.Context()), reconcile.ErrStarted)
		stop()

		require.Error(t, m.Register("", &seen{}))
		require.Error(t, m.Register(kind, nil))
	})
}

// On a clock that is moved by hand, the interval is over when the clock says so.
func TestResyncIsOnTheClockOfTheManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newState()
		require.NoError(t, st.Create(t.Context(), number("a", 1)))

		var s seen

		clock := clockwork.NewFakeClock()
		m := reconcile.NewManager(st, reconcile.WithClock(clock))
		require.NoError(t, m.Register(kind, &s, inDefault))

		stop := starting(m, t)
		defer stop()

		require.Len(t, s.taken(), 1)
		time.Sleep(time.Hour)
		require.Empty(t, s.taken())
		clock.Advance(reconcile.DefaultResync)
		require.Len(t, s.taken(), 1)
	})
}

// listing is a state whose lists do something else first.
type listing struct {
	state.CoreState

	list func(context.Context, resource.Kind) error
}

func (l *listing) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	if err := l.list(ctx, kind); err != nil {
		return resource.List{}, err
	}

	return l.CoreState.List(ctx, kind, opts...)
}

// A list that fails is tried again soon, however long the interval is; a kind that can not be listed keeps no other.
func TestListsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.ErrorLevel)
		inner := newState()
		require.NoError(t, inner.Create(t.Context(), number("a", 1)))
		require.NoError(t, inner.Create(t.Context(), conformance.NewStrResource(ns, "t", "")))

		tries := 0
		st := &listing{CoreState: inner, list: func(ctx context.Context, k resource.Kind) error {
			switch {
			case k.Type() == conformance.StrResourceType:
				<-ctx.Done()

				return ctx.Err()
			case k.Namespace() == "hanging":
				panic("out of order")
			case tries < 3:
				tries++

				return errors.New("not now")
			}

			return nil
		}}

		var numbers, texts seen

		m := reconcile.NewManager(st, reconcile.WithResync(time.Hour), reconcile.WithManagerLogger(zap.New(core)))
		require.NoError(t, m.Register(kind, &numbers, inDefault))
		require.NoError(t, m.Register(conformance.StrResourceType, &texts, inDefault))

		stop := starting(m, t)
		defer stop()

		time.Sleep(6 * time.Second)
		assert.Empty(t, numbers.taken())
		time.Sleep(time.Second)
		assert.Equal(t, []reconcile.Ref{ref("a")}, numbers.taken())
		assert.Empty(t, texts.taken())
		assert.Equal(t, 3, logs.FilterField(zap.String("kind", kind)).Len())
	})
}

// The namespace of a kind is that of its definition, where no others are named.
func TestScopes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.ErrorLevel)
		st := newState()

		for _, in := range []resource.Namespace{"default", "one", "other"} {
			require.NoError(t, st.Create(t.Context(), newThing(in, "in "+in)))
		}

		collect := func(opts ...reconcile.ControllerOption) func() []resource.Namespace {
			var s seen

			m := reconcile.NewManager(st, reconcile.WithManagerLogger(zap.New(core)))
			require.NoError(t, m.Register(thingType, &s, opts...))
			t.Cleanup(starting(m, t))

			return func() []resource.Namespace {
				var scopes []resource.Namespace
				for _, ref := range s.taken() {
					scopes = append(scopes, ref.Scope)
				}

				return scopes
			}
		}

		named, defined := collect(reconcile.WithScopes("one", "other")), collect()

		assert.ElementsMatch(t, []resource.Namespace{"one", "other"}, named())
		assert.Empty(t, defined())
		require.Equal(t, 1, logs.Len())
		assert.Contains(t, logs.All()[0].ContextMap()["error"], "name namespaces with WithScopes")

		definition, err := meta.NewResourceDefinition(meta.ResourceDefinitionSpec{Type: thingType, DefaultNamespace: "other"})
		require.NoError(t, err)
		require.NoError(t, st.Create(t.Context(), definition))
		time.Sleep(time.Second)
		assert.Equal(t, []resource.Namespace{"other"}, defined())
	})
}

// A manager that ends in the middle of everything, and is started anew, has everything done that there is to do.
func TestNothingInTheQueueIsNeededAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newState()

		for _, id := range []string{"a", "b", "c"} {
			require.NoError(t, st.Create(t.Context(), number(id, 1)))
		}

		doubles := reconcile.ReconcilerFunc[reconcile.Ref](func(ctx context.Context, ref reconcile.Ref) (reconcile.Result, error) {
			res, err := st.Get(ctx, ref)
			if err != nil {
				return reconcile.Result{}, err
			}

			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return reconcile.Result{}, ctx.Err()
			}

			if n := res.(*conformance.IntResource); n.Value() == 1 {
				n.SetValue(2)

				return reconcile.Result{}, st.Update(ctx, n)
			}

			return reconcile.Result{}, nil
		})

		for range 10 {
			m := reconcile.NewManager(st, reconcile.WithResync(0))
			require.NoError(t, m.Register(kind, doubles, inDefault))

			stop := starting(m, t)

			time.Sleep(1500 * time.Millisecond)
			stop()
		}

		list, err := st.List(t.Context(), number("", 0).Metadata())
		require.NoError(t, err)

		doubled := 0

		for _, res := range list.Items {
			doubled += res.(*conformance.IntResource).Value() - 1
		}

		assert.Positive(t, doubled)

		m := reconcile.NewManager(st)
		require.NoError(t, m.Register(kind, doubles, inDefault))

		stop := starting(m, t)
		defer stop()

		time.Sleep(time.Minute)

		for _, id := range []string{"a", "b", "c"} {
			res, err := st.Get(t.Context(), number(id, 0).Metadata())
			require.NoError(t, err)
			assert.Equal(t, 2, res.(*conformance.IntResource).Value())
		}
	})
}
