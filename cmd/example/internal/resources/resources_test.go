package resources_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

func TestRegister(t *testing.T) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))
	require.NoError(t, resources.Register(t.Context(), st))
}
