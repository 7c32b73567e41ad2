package stateadapter_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// right is what a declaration allows with the resource "a".
type right uint8

const (
	getIt right = 1 << iota
	listIt
	writeIt
	holdIt
)

// rights are all rights, with the reason for which a call is refused without them.
var rights = map[right]error{
	getIt: stateadapter.ErrNotReadable, listIt: stateadapter.ErrNotReadable,
	writeIt: stateadapter.ErrNotWritable, holdIt: stateadapter.ErrNotHoldable,
}

// Every call is allowed by the declarations that allow it, and by no others; what is refused does not reach the state.
func TestDeclarationsAreTheBoundary(t *testing.T) {
	t.Parallel()

	queue := func(d declarations) declarations {
		d.form = dependency.Queue

		return d
	}

	elsewhere := reads(controller.InputStrong)
	elsewhere.inputs[0].Namespace = "other"

	for declared, test := range map[string]struct {
		declarations declarations
		allowed      right
	}{
		"nothing":                  {declarations{}, 0},
		"another namespace":        {elsewhere, 0},
		"weak":                     {reads(controller.InputWeak), getIt | listIt},
		"weak by id":               {readsID(controller.InputWeak), getIt},
		"strong":                   {reads(controller.InputStrong), getIt | listIt | holdIt},
		"strong by id":             {readsID(controller.InputStrong), getIt | holdIt},
		"destroy-ready":            {reads(controller.InputDestroyReady), getIt | listIt},
		"primary":                  {queue(reads(controller.InputQPrimary)), getIt | listIt | holdIt},
		"primary by id":            {queue(readsID(controller.InputQPrimary)), getIt | holdIt},
		"mapped":                   {queue(reads(controller.InputQMapped)), getIt | listIt | holdIt},
		"mapped destroy-ready":     {queue(reads(controller.InputQMappedDestroyReady)), getIt | listIt | holdIt},
		"exclusive output":         {writes(controller.OutputExclusive), getIt | listIt | writeIt},
		"shared output":            {writes(controller.OutputShared), getIt | listIt | writeIt},
		"shared output of a queue": {queue(writes(controller.OutputShared)), getIt | listIt | writeIt},
	} {
		for verb, call := range calls {
			t.Run(declared+"/"+verb, func(t *testing.T) {
				t.Parallel()

				b := newBench(t, test.declarations, func(cfg *stateadapter.Config) {
					cfg.Limiter = rate.NewLimiter(1, 1) // would make a second write wait, and a refused one does not count
				})

				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()

				b.StartTrackingOutputs()

				err := call.do(ctx, b)

				var refused *stateadapter.RefusedError

				if test.allowed&call.needs != 0 {
					require.False(t, errors.As(err, &refused), "%v", err)
					require.NotZero(t, b.counted.calls())

					return
				}

				require.ErrorIs(t, err, rights[call.needs])
				require.ErrorAs(t, err, &refused)
				require.Equal(t, me, refused.Controller)
				require.Equal(t, call.verb, refused.Verb)
				require.Equal(t, ns, refused.Resource.Namespace())
				require.Equal(t, intType, refused.Resource.Type())
				require.ErrorContains(t, err, `"`+me+`"`)
				require.ErrorContains(t, err, string(call.verb)+" "+ns+"/"+intType)
				require.Zero(t, b.counted.calls())

				if refused.Resource.ID() != "" {
					require.Equal(t, "a", refused.Resource.ID())
					require.ErrorContains(t, err, `"a"`)
				}
			})
		}
	}
}

// calls are all guarded calls, about the resource "a" or its kind.
var calls = map[string]struct {
	verb  stateadapter.Verb
	needs right
	do    func(ctx context.Context, b *bench) error
}{
	"Get": {stateadapter.Get, getIt, func(ctx context.Context, b *bench) error {
		_, err := b.Get(ctx, ptr("a"))

		return err
	}},
	"GetUncached": {stateadapter.Get, getIt, func(ctx context.Context, b *bench) error {
		_, err := b.GetUncached(ctx, ptr("a"))

		return err
	}},
	"List": {stateadapter.List, listIt, func(ctx context.Context, b *bench) error {
		_, err := b.List(ctx, ptr(""))

		return err
	}},
	"ListUncached": {stateadapter.List, listIt, func(ctx context.Context, b *bench) error {
		_, err := b.ListUncached(ctx, ptr(""))

		return err
	}},
	"ContextWithTeardown": {stateadapter.ContextWithTeardown, getIt, func(ctx context.Context, b *bench) error {
		_, err := b.ContextWithTeardown(ctx, ptr("a"))

		return err
	}},
	"Create": {stateadapter.Create, writeIt, func(ctx context.Context, b *bench) error {
		return b.Create(ctx, number("a", 1))
	}},
	"Update": {stateadapter.Update, writeIt, func(ctx context.Context, b *bench) error {
		return b.Update(ctx, number("a", 1))
	}},
	"Modify": {stateadapter.Modify, writeIt, func(ctx context.Context, b *bench) error {
		return b.Modify(ctx, number("a", 1), set(2))
	}},
	"ModifyWithResult": {stateadapter.Modify, writeIt, func(ctx context.Context, b *bench) error {
		_, err := b.ModifyWithResult(ctx, number("a", 1), set(2))

		return err
	}},
	"Teardown": {stateadapter.Teardown, writeIt, func(ctx context.Context, b *bench) error {
		_, err := b.Teardown(ctx, ptr("a"))

		return err
	}},
	"Destroy": {stateadapter.Destroy, writeIt, func(ctx context.Context, b *bench) error {
		return b.Destroy(ctx, ptr("a"))
	}},
	"CleanupOutputs": {stateadapter.CleanupOutputs, writeIt, func(ctx context.Context, b *bench) error {
		return b.CleanupOutputs(ctx, ptr(""))
	}},
	"AddFinalizer": {stateadapter.AddFinalizer, holdIt, func(ctx context.Context, b *bench) error {
		return b.AddFinalizer(ctx, ptr("a"), me)
	}},
	"RemoveFinalizer": {stateadapter.RemoveFinalizer, holdIt, func(ctx context.Context, b *bench) error {
		return b.RemoveFinalizer(ctx, ptr("a"), me)
	}},
	"AddFinalizerIfRunning": {stateadapter.AddFinalizer, holdIt, func(ctx context.Context, b *bench) error {
		return stateadapter.AddFinalizerIfRunning(ctx, b.Adapter, ptr("a"), me)
	}},
}

// An input by id is a right to that id alone.
func TestInputByIDIsNoRightToOthers(t *testing.T) {
	t.Parallel()

	b := newBench(t, readsID(controller.InputStrong), nil)
	b.create(t, "", number("a", 1), number("b", 2))

	_, err := b.Get(t.Context(), ptr("a"))
	require.NoError(t, err)

	_, err = b.Get(t.Context(), ptr("b"))
	require.ErrorIs(t, err, stateadapter.ErrNotReadable)
	require.ErrorIs(t, b.AddFinalizer(t.Context(), ptr("b"), me), stateadapter.ErrNotHoldable)
}

// A finalizer is for inputs; an output is held by whoever reads it.
func TestOutputsCanNotBeHeld(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputExclusive), nil)
	b.create(t, me, number("a", 1))

	require.ErrorIs(t, b.AddFinalizer(t.Context(), ptr("a"), me), stateadapter.ErrNotHoldable)
	require.ErrorIs(t, b.RemoveFinalizer(t.Context(), ptr("a"), me), stateadapter.ErrNotHoldable)
}

// A tombstone says what is gone. The state would keep it as a resource, and its kind could not be watched any more.
func TestTombstonesAreNotWritten(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)
	b.create(t, me, number("there", 1))

	for verb, write := range map[stateadapter.Verb]func(resource.Resource) error{
		stateadapter.Create: func(res resource.Resource) error { return b.Create(t.Context(), res) },
		stateadapter.Update: func(res resource.Resource) error { return b.Update(t.Context(), res) },
		stateadapter.Modify: func(res resource.Resource) error { return b.Modify(t.Context(), res, set(2)) },
	} {
		for _, id := range []resource.ID{"there", "gone"} {
			err := write(resource.NewTombstone(number(id, 1).Metadata()))
			require.ErrorIs(t, err, stateadapter.ErrTombstone)

			var refused *stateadapter.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, verb, refused.Verb)
			require.Equal(t, id, refused.Resource.ID())
			require.ErrorContains(t, err, "write a resource with a spec")
		}
	}

	require.Equal(t, 1, b.value(t, "there"))
	require.Zero(t, b.counted.writes.Load())
}

// What the state answers to an allowed call is passed on as it is.
func TestAllowedReadsPassTheAnswerOn(t *testing.T) {
	t.Parallel()

	b := newBench(t, reads(controller.InputWeak), nil)
	b.create(t, "", number("b", 2), number("a", 1))

	got, err := b.Get(t.Context(), ptr("b"))
	require.NoError(t, err)
	require.True(t, resource.Equal(got, mustGet(t, b, "b")))

	list, err := b.List(t.Context(), ptr(""))
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
	require.Equal(t, "a", list.Items[0].Metadata().ID())
}

func mustGet(t *testing.T, b *bench, id resource.ID) resource.Resource {
	t.Helper()

	res, err := b.state.Get(t.Context(), ptr(id))
	require.NoError(t, err)

	return res
}
