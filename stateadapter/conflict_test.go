package stateadapter_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
)

// Every conflict can be asked about, by kind and by type, whatever the state's own error knows of its resource.
func TestConflictsAreSafeToAskAbout(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		provoke func(t *testing.T, b *bench) error
		phase   bool
	}{
		"update of an old version": {provoke: func(t *testing.T, b *bench) error {
			old := mustGet(t, b, "a")
			require.NoError(t, b.Modify(t.Context(), number("a", 0), set(2)))

			return b.Update(t.Context(), old)
		}},
		"creation of what is there": {provoke: func(t *testing.T, b *bench) error {
			return b.Create(t.Context(), number("a", 1))
		}},
		"destroy of what is held": {provoke: func(t *testing.T, b *bench) error {
			require.NoError(t, b.state.AddFinalizer(t.Context(), ptr("a"), "holder"))

			return b.Destroy(t.Context(), ptr("a"))
		}},
		"modification of what is tearing down": {phase: true, provoke: func(t *testing.T, b *bench) error {
			_, err := b.Teardown(t.Context(), ptr("a"))
			require.NoError(t, err)

			return b.Modify(t.Context(), number("a", 0), set(2))
		}},
		"update of what is tearing down": {phase: true, provoke: func(t *testing.T, b *bench) error {
			_, err := b.Teardown(t.Context(), ptr("a"))
			require.NoError(t, err)

			return b.Update(t.Context(), mustGet(t, b, "a"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t, writes(controller.OutputShared), nil)
			b.create(t, me, number("a", 1))

			err := test.provoke(t, b)

			require.True(t, state.IsConflictError(err), "%v", err)
			require.True(t, state.IsConflictError(err, state.WithResourceType(intType), state.WithResourceNamespace(ns)))
			require.False(t, state.IsConflictError(err, state.WithResourceType(strType)))
			require.False(t, state.IsConflictError(err, state.WithResourceNamespace("other")))
			require.Equal(t, test.phase, state.IsPhaseConflictError(err))
			require.False(t, state.IsOwnerConflictError(err))
			require.False(t, state.IsNotFoundError(err))
			require.NotEmpty(t, err.Error())
		})
	}
}

// Errors that are no conflicts are passed on as they are.
func TestOtherErrorsAreNoConflicts(t *testing.T) {
	t.Parallel()

	d := writes(controller.OutputShared)
	d.inputs = []controller.Input{{Namespace: "in", Type: intType, Kind: controller.InputStrong}}

	b := newBench(t, d, nil)
	_, teardown := b.Teardown(t.Context(), ptr("a"))
	input := resource.NewMetadata("in", intType, "a", resource.VersionUndefined)

	for name, err := range map[string]error{
		"update":                b.Update(t.Context(), number("a", 1)),
		"destroy":               b.Destroy(t.Context(), ptr("a")),
		"tear down":             teardown,
		"add finalizer":         b.AddFinalizer(t.Context(), input, me),
		"add running finalizer": b.AddFinalizerIfRunning(t.Context(), input, me),
		"remove finalizer":      b.RemoveFinalizer(t.Context(), input, me),
	} {
		require.True(t, state.IsNotFoundError(err), "%s: %v", name, err)
		require.False(t, state.IsConflictError(err), name)
	}
}
