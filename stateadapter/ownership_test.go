package stateadapter_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
)

func TestCreatedOutputsAreOwned(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)

	require.NoError(t, b.Create(t.Context(), number("created", 1)))
	require.NoError(t, b.Create(t.Context(), number("free", 1), controller.WithCreateNoOwner()))
	require.NoError(t, b.Modify(t.Context(), number("modified", 0), set(1)))
	require.NoError(t, b.Modify(t.Context(), number("free too", 0), set(1), controller.WithModifyNoOwner()))

	for id, owner := range map[string]string{"created": me, "free": "", "modified": me, "free too": ""} {
		require.Equal(t, owner, mustGet(t, b, id).Metadata().Owner(), id)
	}
}

// What somebody else owns is not changed, whatever way is tried; the refusal is an owner conflict, and a conflict.
func TestForeignOutputsAreLeftAlone(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)
	b.create(t, "Other", number("a", 1))

	foreign := mustGet(t, b, "a")
	foreign.Metadata().Labels().Set("mine", "")

	for name, err := range map[string]error{
		"update":  b.Update(t.Context(), foreign),
		"modify":  b.Modify(t.Context(), number("a", 0), set(2)),
		"destroy": b.Destroy(t.Context(), ptr("a")),
		"tear down": func() error {
			_, err := b.Teardown(t.Context(), ptr("a"))

			return err
		}(),
	} {
		require.True(t, state.IsOwnerConflictError(err), "%s: %v", name, err)
		require.True(t, state.IsConflictError(err, state.WithResourceType(intType), state.WithResourceNamespace(ns)), "%s: %v", name, err)
		require.False(t, state.IsPhaseConflictError(err), "%s: %v", name, err)
	}

	require.Equal(t, 1, b.value(t, "a"))
	require.Equal(t, resource.PhaseRunning, mustGet(t, b, "a").Metadata().Phase())
}

// Who has been given the right of another owner may take its outputs away.
func TestDeletingInTheNameOfTheOwner(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)
	b.create(t, "Other", number("a", 1))

	ready, err := b.Teardown(t.Context(), ptr("a"), controller.WithOwner("Other"))
	require.NoError(t, err)
	require.True(t, ready)
	require.NoError(t, b.Destroy(t.Context(), ptr("a"), controller.WithOwner("Other")))
}
