package stateadapter_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/stateadapter"
)

// ids returns the ids that the state holds.
func ids(t *testing.T, b *bench) []resource.ID {
	t.Helper()

	list, err := b.state.List(t.Context(), ptr(""))
	require.NoError(t, err)

	var ids []resource.ID
	for _, res := range list.Items {
		ids = append(ids, res.Metadata().ID())
	}

	return ids
}

// What was created, updated or modified since tracking began stays, what another one owns stays, the rest goes.
func TestCleanupDestroysWhatWasNotTouched(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)
	b.create(t, me, number("modified", 1), number("unchanged", 1), number("old", 1), number("old too", 1), number("updated", 1))
	b.create(t, "Other", number("foreign", 1))
	b.create(t, "", number("free", 1))

	require.NoError(t, b.Modify(t.Context(), number("old", 0), set(2)), "before tracking began")

	b.StartTrackingOutputs()
	require.NoError(t, b.Create(t.Context(), number("created", 1)))
	require.NoError(t, b.Modify(t.Context(), number("modified", 0), set(2)))
	require.NoError(t, b.Modify(t.Context(), number("unchanged", 0), set(1)))
	require.NoError(t, b.Update(t.Context(), mustGet(t, b, "updated")))
	require.NoError(t, b.CleanupOutputs(t.Context(), ptr("")))

	require.Equal(t, []resource.ID{"created", "foreign", "free", "modified", "unchanged", "updated"}, ids(t, b))

	// The tracking has ended with it.
	require.ErrorIs(t, b.CleanupOutputs(t.Context(), ptr("")), stateadapter.ErrNotTracking)
}

// A write that failed counts as a touch: the controller wanted the output, so it is not cleaned up.
func TestFailedWritesCountAsTouched(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)
	b.create(t, me, number("a", 1))

	b.StartTrackingOutputs()
	require.Error(t, b.Create(t.Context(), number("a", 2)))
	require.NoError(t, b.CleanupOutputs(t.Context(), ptr("")))
	require.Equal(t, []resource.ID{"a"}, ids(t, b))
}

// An output that somebody holds is a conflict that names it; the others go, and it can be tried again.
func TestHeldOutputsAreReported(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)
	b.create(t, me, number("a held", 1), number("b", 1), number("c held", 1), number("kept", 1))
	require.NoError(t, b.state.AddFinalizer(t.Context(), ptr("a held"), "holder"))
	require.NoError(t, b.state.AddFinalizer(t.Context(), ptr("c held"), "holder"))

	b.StartTrackingOutputs()
	require.NoError(t, b.Modify(t.Context(), number("kept", 0), set(1)))

	err := b.CleanupOutputs(t.Context(), ptr(""))
	require.True(t, state.IsConflictError(err, state.WithResourceType(intType)))
	require.ErrorContains(t, err, "a held")
	require.ErrorContains(t, err, "c held")
	require.ErrorContains(t, err, me)
	require.Equal(t, []resource.ID{"a held", "c held", "kept"}, ids(t, b))

	require.NoError(t, b.state.RemoveFinalizer(t.Context(), ptr("a held"), "holder"))
	require.NoError(t, b.state.RemoveFinalizer(t.Context(), ptr("c held"), "holder"))
	require.NoError(t, b.CleanupOutputs(t.Context(), ptr("")))
	require.Equal(t, []resource.ID{"kept"}, ids(t, b))
}

func TestCleanupWithoutTracking(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)
	b.create(t, me, number("a", 1))

	err := b.CleanupOutputs(t.Context(), ptr(""))

	var refused *stateadapter.RefusedError

	require.ErrorAs(t, err, &refused)
	require.Equal(t, stateadapter.CleanupOutputs, refused.Verb)
	require.ErrorIs(t, err, stateadapter.ErrNotTracking)
	require.ErrorContains(t, err, "StartTrackingOutputs")

	b.StartTrackingOutputs()
	b.StopTrackingOutputs()
	require.ErrorIs(t, b.CleanupOutputs(t.Context(), ptr("")), stateadapter.ErrNotTracking)
	require.Equal(t, []resource.ID{"a"}, ids(t, b))
}

// Of several kinds all are checked before any is cleaned up.
func TestCleanupOfWhatIsNotAnOutput(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)
	b.create(t, me, number("a", 1))

	b.StartTrackingOutputs()

	err := b.CleanupOutputs(t.Context(), ptr(""), conformance.NewStrResource(ns, "", "").Metadata())
	require.ErrorIs(t, err, stateadapter.ErrNotWritable)
	require.ErrorContains(t, err, strType)
	require.Equal(t, []resource.ID{"a"}, ids(t, b))
}

// Tracking begins anew with every pass.
func TestTrackingForgetsTheFormerPass(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)

	b.StartTrackingOutputs()
	require.NoError(t, b.Create(t.Context(), number("a", 1)))

	b.StartTrackingOutputs()
	require.NoError(t, b.Create(t.Context(), number("b", 1)))
	require.NoError(t, b.CleanupOutputs(t.Context(), ptr("")))
	require.Equal(t, []resource.ID{"b"}, ids(t, b))
}
