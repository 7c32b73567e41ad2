package controllers

import (
	"context"
	"runtime"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

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
			if err := safe.WriterModify(ctx, r, resources.NewFacts(), func(facts *resources.Facts) error {
				*facts.TypedSpec() = resources.FactsSpec{
					Hostname:  name.TypedSpec().Hostname,
					FQDN:      name.TypedSpec().FQDN,
					OS:        runtime.GOOS,
					Arch:      runtime.GOARCH,
					CPUs:      runtime.NumCPU(),
					Kernel:    kernelRelease(),
					MemoryMiB: memoryMiB(),
				}

				return nil
			}); err != nil {
				return err
			}
		}

		r.ResetRestartBackoff()
	}
}
