package controllers

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// ServiceSpecController splits the document into one resource for each service. A service that has left the document
// stays, torn down, until its process has stopped.
type ServiceSpecController struct{}

// Name implements [controller.Controller].
func (ctrl *ServiceSpecController) Name() string { return "ServiceSpecController" }

// Inputs implements [controller.Controller].
func (ctrl *ServiceSpecController) Inputs() []controller.Input {
	return []controller.Input{
		safe.Input[*resources.Document](controller.InputWeak),
		safe.Input[*resources.Service](controller.InputDestroyReady),
	}
}

// Outputs implements [controller.Controller].
func (ctrl *ServiceSpecController) Outputs() []controller.Output {
	return []controller.Output{{Type: resources.ServiceType, Kind: controller.OutputExclusive}}
}

// Run implements [controller.Controller].
func (ctrl *ServiceSpecController) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		doc, err := found(safe.ReaderGetByID[*resources.Document](ctx, r, resources.TheMachine))
		if err != nil {
			return err
		}

		var wanted []*resources.Service

		if doc != nil {
			// In this order, whoever looks at a service finds what it needs up to date.
			for _, service := range doc.TypedSpec().Machine.InOrder() {
				svc := resources.NewService(service.Name)
				*svc.TypedSpec() = resources.ServiceSpec(service)

				for _, need := range service.Needs {
					svc.Metadata().Labels().Set(resources.NeedLabel(need), "")
				}

				wanted = append(wanted, svc)
			}
		}

		if err := fanOut(ctx, r, ctrl.Name(), wanted); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}
