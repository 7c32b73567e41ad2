package dependency_test

import (
	"context"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	peer "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency"
)

// classic and queued declare, and never run.
type (
	classic struct {
		controller.Controller

		name    string
		inputs  []controller.Input
		outputs []controller.Output
	}
	queued struct{ classic }
)

func (c *classic) Name() string                                               { return c.name }
func (c *classic) Inputs() []controller.Input                                 { return c.inputs }
func (c *classic) Outputs() []controller.Output                               { return c.outputs }
func (c *classic) Run(context.Context, controller.Runtime, *zap.Logger) error { return nil }
func (c *queued) Settings() controller.QSettings {
	return controller.QSettings{Inputs: c.inputs, Outputs: c.outputs}
}
func (c *queued) Reconcile(context.Context, *zap.Logger, controller.QRuntime, resource.Pointer) error {
	return nil
}

func (c *queued) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}

// Tools that draw the graph of the engine that ships with the contract draw the same picture of ours: the same edges
// in the same order.
func TestGraphIsTheOneOfTheContractsEngine(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		engine, err := peer.NewRuntime(state.WrapCore(namespaced.NewState(inmem.Build)), zap.NewNop())
		require.NoError(t, err)

		db := dependency.NewDatabase[int]()

		var m model

		for _, name := range rapid.Permutation([]string{"d", "b", "a", "c", "e"}).Draw(t, "names") {
			form := rapid.SampledFrom([]dependency.Form{dependency.Classic, dependency.Queue}).Draw(t, "form")
			inputs, outputs := drawInputs(t, form), drawOutputs(t)

			// The other engine keeps parts of what it refuses, so only what both take is declared.
			if len(m.refusals(name, form, inputs, outputs)) > 0 {
				continue
			}

			m.controllers = append(m.controllers, &declared{name: name, outputs: outputs})

			_, err = db.Register(name, form, 0, inputs, outputs, nil)
			require.NoError(t, err)

			ctrl := classic{name: name, inputs: inputs, outputs: outputs}

			if form == dependency.Queue {
				require.NoError(t, engine.RegisterQController(&queued{ctrl}))
			} else {
				require.NoError(t, engine.RegisterController(&ctrl))
			}
		}

		want, err := engine.GetDependencyGraph()
		require.NoError(t, err)
		require.Equal(t, want, db.Graph())
	})
}
