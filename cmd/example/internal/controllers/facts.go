package controllers

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// FactsController gathers what templates may speak of: the name of the machine, and what the system says of itself.
type FactsController struct{}

// Name implements [controller.Controller].
func (ctrl *FactsController) Name() string { return "FactsController" }

// Inputs implements [controller.Controller].
func (ctrl *FactsController) Inputs() []controller.Input {
	return []controller.Input{safe.Input[*resources.Hostname](controller.InputWeak)}
}

// Outputs implements [controller.Controller].
func (ctrl *FactsController) Outputs() []controller.Output {
	return []controller.Output{{Type: resources.FactsType, Kind: controller.OutputExclusive}}
}

// Run implements [controller.Controller].
func (ctrl *FactsController) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		name, err := found(safe.ReaderGetByID[*resources.Hostname](ctx, r, resources.TheMachine))
		if err != nil {
			return err
		}

		if name != nil {
			spec, err := recording.Ask(ctx, "the facts of the system", systemFacts)
			if err != nil {
				return err
			}

			spec.Hostname, spec.FQDN = name.TypedSpec().Hostname, name.TypedSpec().FQDN

			if err := safe.WriterModify(ctx, r, resources.NewFacts(), func(facts *resources.Facts) error {
				*facts.TypedSpec() = spec

				return nil
			}); err != nil {
				return err
			}
		}

		r.ResetRestartBackoff()
	}
}
