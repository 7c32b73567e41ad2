package stateadapter_test

import (
	"context"
	"expvar"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// newCached is an adapter over a cached kind, with a cache that has not started.
func newCached(t *testing.T, edit func(*stateadapter.Config)) (*bench, *cache.Collection) {
	kind := reduced.Kind{Namespace: ns, Type: intType}
	d := reads(controller.InputWeak)
	d.inputs = append(d.inputs, controller.Input{Namespace: ns, Type: strType, Kind: controller.InputWeak})

	b := newBench(t, d, func(cfg *stateadapter.Config) {
		cfg.Cache = cache.New(cache.Config{Kinds: []reduced.Kind{kind}})

		if edit != nil {
			edit(cfg)
		}
	})
	b.create(t, "", number("a", 1))

	return b, b.cache.Collection(kind)
}

func TestReadsOfCachedKindsAreAnsweredFromMemory(t *testing.T) {
	t.Parallel()

	b, c := newCached(t, nil)
	ctx := t.Context()

	value := func(uncached bool, opts ...state.GetOption) int {
		get := b.Get
		if uncached {
			get = b.GetUncached
		}

		res, err := get(ctx, ptr("a"), opts...)
		require.NoError(t, err)

		return res.(*conformance.IntResource).Value()
	}

	length := func(uncached bool, opts ...state.ListOption) int {
		list := b.List
		if uncached {
			list = b.ListUncached
		}

		res, err := list(ctx, ptr(""), opts...)
		require.NoError(t, err)

		return len(res.Items)
	}

	// Before the cache runs, the state is read.
	require.Equal(t, 1, value(false))
	require.Equal(t, 1, length(false))

	c.Start()
	c.Put(number("a", 100))
	c.Put(number("b", 200))
	c.Complete()

	before := b.counted.calls()

	require.Equal(t, 100, value(false))
	require.Equal(t, 2, length(false))
	require.Equal(t, before, b.counted.calls())

	_, err := b.Get(ctx, ptr("missing"))
	require.True(t, state.IsNotFoundError(err))

	torn, err := b.ContextWithTeardown(ctx, ptr("b"))
	require.NoError(t, err)
	require.NoError(t, torn.Err())
	require.Equal(t, before, b.counted.calls())

	c.Delete("b")
	c.Publish("b")
	require.Error(t, torn.Err())

	// Who asks for the state itself, or for what the cache can not give, is answered by the state.
	require.Equal(t, 1, value(true))
	require.Equal(t, 1, length(true))
	require.Equal(t, 1, value(false, state.WithGetUnmarshalOptions(state.WithSkipProtobufUnmarshal())))
	require.Equal(t, 1, length(false, state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal())))

	c.Stop()
	require.Equal(t, 1, value(false))
}

// A read that waits for the first contents says so when its context ends, and the cache says who waits.
func TestReadsOfAnUnsyncedCacheSayWhatTheyWaitFor(t *testing.T) {
	t.Parallel()

	b, c := newCached(t, nil)
	c.Start()

	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)

	go func() {
		_, err := b.Get(ctx, ptr("a"))
		failed <- err
	}()

	require.Eventually(t, func() bool { return len(c.Waiting()) > 0 }, time.Minute, time.Millisecond)
	require.Equal(t, []string{me}, c.Waiting())
	cancel()

	_, list := b.List(ctx, ptr(""))
	_, wait := b.ContextWithTeardown(ctx, ptr("a"))

	for verb, err := range map[stateadapter.Verb]error{
		stateadapter.Get: <-failed, stateadapter.List: list, stateadapter.ContextWithTeardown: wait,
	} {
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, me)
		require.ErrorContains(t, err, string(verb)+" "+intType)
		require.ErrorContains(t, err, "no first contents")
	}
}

// The warning is for reads that might have been cached, once for each kind, and not for those that asked not to be.
func TestUncachedReadsAreWarnedAbout(t *testing.T) {
	t.Parallel()

	core, logs := observer.New(zap.InfoLevel)

	b, c := newCached(t, func(cfg *stateadapter.Config) {
		cfg.Logger = zap.New(core).With(zap.String("controller", me))
		cfg.WarnOnUncachedReads = true
	})
	c.Start()
	c.Complete()

	str := conformance.NewStrResource(ns, "s", "").Metadata()

	for range 3 {
		_, err := b.ListUncached(t.Context(), str)
		require.NoError(t, err)
		_, err = b.GetUncached(t.Context(), str)
		require.True(t, state.IsNotFoundError(err))
		_, err = b.List(t.Context(), ptr(""))
		require.NoError(t, err)
		_, err = b.List(t.Context(), ptr(""), state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal()))
		require.NoError(t, err)
	}

	require.Empty(t, logs.TakeAll(), "these asked for it, or are cached")

	for range 3 {
		_, err := b.List(t.Context(), str)
		require.NoError(t, err)
		_, err = b.Get(t.Context(), str)
		require.True(t, state.IsNotFoundError(err))
	}

	warnings := logs.TakeAll()
	require.Len(t, warnings, 1)
	require.Equal(t, zap.WarnLevel, warnings[0].Level)
	require.Len(t, warnings[0].Context, 2, "each field once")
	require.Equal(t, map[string]any{"controller": me, "kind": ns + "/" + strType}, warnings[0].ContextMap())
}

func TestUncachedReadsAreNotWarnedAboutUnlessAskedFor(t *testing.T) {
	t.Parallel()

	core, logs := observer.New(zap.DebugLevel)
	b := newBench(t, reads(controller.InputWeak), func(cfg *stateadapter.Config) { cfg.Logger = zap.New(core) })

	_, err := b.List(t.Context(), ptr(""))
	require.NoError(t, err)
	require.Empty(t, logs.All())
}

// Reads are counted where they reach the state, writes always; refusals are neither.
func TestReadsAndWritesAreCounted(t *testing.T) {
	t.Parallel()

	engine := metrics.NewEngine(true)
	name := t.Name() + " in " + engine.Name() // the counts are the process's, and of all runs of the test
	counted := engine.Classic(name)

	d := reads(controller.InputStrong)
	d.outputs = []controller.Output{{Type: strType}}

	kind := reduced.Kind{Namespace: "cached", Type: strType}

	b := newBench(t, d, func(cfg *stateadapter.Config) {
		cfg.Metrics, cfg.Cache = &counted.Calls, cache.New(cache.Config{Kinds: []reduced.Kind{kind}})
	})

	b.cache.Collection(kind).Start()
	b.cache.Collection(kind).Complete()

	count := func(m *expvar.Map) string {
		if v := m.Get(name); v != nil {
			return v.String()
		}

		return "0" // it has no entry before the first count
	}

	expect := func(reads, writes string) {
		t.Helper()
		require.Equal(t, reads, count(contract.ControllerReads), "reads")
		require.Equal(t, writes, count(contract.ControllerWrites), "writes")
	}

	ctx := t.Context()
	str := conformance.NewStrResource(ns, "s", "")

	_, err := b.List(ctx, ptr(""))
	require.NoError(t, err)
	_, err = b.ListUncached(ctx, ptr(""))
	require.NoError(t, err)
	_, err = b.Get(ctx, ptr("missing"))
	require.Error(t, err)
	_, err = b.GetUncached(ctx, ptr("missing"))
	require.Error(t, err)
	expect("4", "0")

	_, err = b.List(ctx, kind.Pointer())
	require.NoError(t, err)
	expect("4", "0")

	require.NoError(t, b.Create(ctx, str))
	require.NoError(t, b.Update(ctx, str))
	require.Error(t, b.Destroy(ctx, conformance.NewStrResource(ns, "missing", "").Metadata()))
	require.Error(t, b.AddFinalizer(ctx, ptr("missing"), me))
	expect("4", "4")

	require.ErrorIs(t, b.Create(ctx, number("a", 1)), stateadapter.ErrNotWritable)
	expect("4", "4")
}
