package cache_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
)

// ptr points at a resource of the cached kind.
func ptr(id resource.ID) resource.Pointer { return number(id, 0).Metadata() }

// cached returns a state that holds "a" with the value 1, its cached form, and the collection, not started.
func cached(t *testing.T) (state.State, state.CoreState, *cache.Collection) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))
	require.NoError(t, st.Create(t.Context(), number("a", 1)))

	c := cache.New(cache.Config{Kinds: []reduced.Kind{ints}})

	return st, c.State(st, nil), c.Collection(ints)
}

func requireValue(t *testing.T, st state.CoreState, want int, opts ...state.GetOption) {
	t.Helper()

	res, err := st.Get(t.Context(), ptr("a"), opts...)
	require.NoError(t, err)
	require.Equal(t, want, res.(*conformance.IntResource).Value())
}

func requireList(t *testing.T, st state.CoreState, want []pair, opts ...state.ListOption) {
	t.Helper()

	list, err := st.List(t.Context(), ptr(""), opts...)
	require.NoError(t, err)
	require.Equal(t, want, values(list))
}

// Before the engine runs and after it has ended the state itself is read; in between the cache is.
func TestCachedStateReadsTheCacheWhileItServes(t *testing.T) {
	t.Parallel()

	_, cs, c := cached(t)

	requireValue(t, cs, 1)
	requireList(t, cs, []pair{{"a", 1}})

	c.Start()
	c.Put(number("a", 100))
	c.Put(number("b", 200))
	c.Complete()

	requireValue(t, cs, 100)
	requireList(t, cs, []pair{{"a", 100}, {"b", 200}})
	requireList(t, cs, []pair{{"b", 200}}, state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^b$"))))

	_, err := cs.Get(t.Context(), ptr("missing"))
	require.True(t, state.IsNotFoundError(err))

	c.Stop()

	requireValue(t, cs, 1)
	requireList(t, cs, []pair{{"a", 1}})
}

// A read with options that the cache can not serve is served by the state, it does not fail.
func TestCachedStateAsksTheStateForOtherForms(t *testing.T) {
	t.Parallel()

	_, cs, c := cached(t)

	c.Start()
	c.Put(number("a", 100))
	c.Complete()

	requireValue(t, cs, 1, state.WithGetUnmarshalOptions(state.WithSkipProtobufUnmarshal()))
	requireList(t, cs, []pair{{"a", 1}}, state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal()))
}

func TestCachedStateWaitsForTheFirstContents(t *testing.T) {
	t.Parallel()

	_, cs, c := cached(t)
	c.Start()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := cs.Get(ctx, ptr("a"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = cs.List(ctx, ptr(""))
	require.ErrorIs(t, err, context.Canceled)

	// Other kinds, and other calls, do not wait.
	require.NoError(t, cs.Create(t.Context(), conformance.NewStrResource("n", "s", "")))
	_, err = cs.Get(t.Context(), conformance.NewStrResource("n", "s", "").Metadata())
	require.NoError(t, err)
	_, err = cs.List(t.Context(), conformance.NewStrResource("n", "", "").Metadata())
	require.NoError(t, err)
}

// Writes and watches are the state's, and so is whatever more it can do than a core state.
func TestCachedStateWritesToTheState(t *testing.T) {
	t.Parallel()

	st, cs, c := cached(t)
	c.Start()
	c.Complete()

	wrapped := state.WrapCore(cs)

	require.NoError(t, wrapped.Create(t.Context(), number("b", 2)))

	res, err := st.Get(t.Context(), ptr("b"))
	require.NoError(t, err)

	// The cache shows nothing of it, since nobody feeds it here; so these go by the state and not by reads.
	ready, err := wrapped.Teardown(t.Context(), ptr("b"))
	require.NoError(t, err)
	require.True(t, ready)
	require.NoError(t, wrapped.TeardownAndDestroy(t.Context(), res.Metadata()))

	_, err = st.Get(t.Context(), ptr("b"))
	require.True(t, state.IsNotFoundError(err))
}
