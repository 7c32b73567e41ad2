package operator_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

func siteOf(id resource.ID, spec siteSpec) *site {
	return typed.NewResource[siteSpec, siteExtension](resource.NewMetadata(ns, siteType, id, resource.VersionUndefined), spec)
}

// The state is there before the app runs, and the primaries of what was included have stamps in it; a state that is given has none.
func TestStateOfAnApp(t *testing.T) {
	t.Parallel()

	app := operator.NewApp(operator.AppConfig{})
	require.NoError(t, app.Include(reconciled()))

	created := siteOf("a", siteSpec{})
	require.NoError(t, app.State().Create(t.Context(), created))
	require.EqualValues(t, 1, generation.Of(created))

	_, err := app.State().Get(t.Context(), created.Metadata())
	require.NoError(t, err, "it is the same state each time")

	require.ErrorIs(t, app.Include(bareSites()), operator.ErrStarted, "its primaries have no stamps")
	require.NoError(t, app.Check())
	require.NoError(t, app.Register(func(controller.Engine) error { return nil }))

	given := operator.NewApp(operator.AppConfig{State: namespaced.NewState(inmem.Build)})
	require.NoError(t, given.Include(reconciled()))

	created = siteOf("a", siteSpec{})
	require.NoError(t, given.State().Create(t.Context(), created))
	require.Zero(t, generation.Of(created))
}
