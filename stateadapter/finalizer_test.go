package stateadapter_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/stateadapter"
)

// A user of a resource that comes back while the resource goes does not pin it.
func TestAddFinalizerIfRunningLeavesWhatIsGoingAlone(t *testing.T) {
	t.Parallel()

	b := newBench(t, reads(controller.InputStrong), nil)
	b.create(t, "Other", number("a", 1))

	require.NoError(t, stateadapter.AddFinalizerIfRunning(t.Context(), b.Adapter, ptr("a"), "one", "two"))
	require.NoError(t, stateadapter.AddFinalizerIfRunning(t.Context(), b.Adapter, ptr("a"), "one"))
	require.Equal(t, resource.Finalizers{"one", "two"}, *mustGet(t, b, "a").Metadata().Finalizers())

	_, err := b.state.Teardown(t.Context(), ptr("a"), state.WithTeardownOwner("Other"))
	require.NoError(t, err)

	err = stateadapter.AddFinalizerIfRunning(t.Context(), b.Adapter, ptr("a"), "three")
	require.True(t, state.IsPhaseConflictError(err))
	require.True(t, state.IsConflictError(err, state.WithResourceType(intType)))
	require.Equal(t, resource.Finalizers{"one", "two"}, *mustGet(t, b, "a").Metadata().Finalizers())

	// Also when there is nothing to add.
	require.True(t, state.IsPhaseConflictError(stateadapter.AddFinalizerIfRunning(t.Context(), b.Adapter, ptr("a"), "one")))

	// The plain call does as the contract's state does, and letting go is possible always.
	require.NoError(t, b.AddFinalizer(t.Context(), ptr("a"), "three"))
	require.NoError(t, b.RemoveFinalizer(t.Context(), ptr("a"), "one", "two", "three"))
	require.True(t, mustGet(t, b, "a").Metadata().Finalizers().Empty())
}

// On the runtime of another engine the safe call says that it is not there, and does nothing in its stead.
func TestAddFinalizerIfRunningOnAnotherEngine(t *testing.T) {
	t.Parallel()

	err := stateadapter.AddFinalizerIfRunning(t.Context(), otherEngine{}, ptr("a"), me)
	require.ErrorIs(t, err, stateadapter.ErrUnsupported)
}

// otherEngine panics when it is called.
type otherEngine struct{ controller.Writer }
