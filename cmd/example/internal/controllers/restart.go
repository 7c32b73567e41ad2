package controllers

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// NewRestartController returns the controller that takes requests for a restart away: those that have reached the process,
// and those for services that are not there. Requests belong to nobody else who would.
func NewRestartController() *operator.Controller[*resources.RestartRequest] {
	c := operator.For[*resources.RestartRequest]("RestartController").Mutates().WithoutEvents()

	operator.Watch(c, operator.SameID[*resources.Service])
	operator.Watch(c, operator.SameID[*resources.Process])

	return c.Reconcile(func(ctx context.Context, request *resources.RestartRequest, c *operator.Context[*resources.RestartRequest]) error {
		id := request.Metadata().ID()

		svc, err := found(operator.Get[*resources.Service](ctx, c, id))
		if err != nil {
			return err
		}

		if svc != nil {
			process, err := found(operator.Get[*resources.Process](ctx, c, id))
			if err != nil || process == nil || process.TypedSpec().Attempt != attempt(request) {
				return err // the process wakes the request
			}

			c.Logger().Info("service restarted as requested", zap.String("service", id), zap.String("reason", request.TypedSpec().Reason))
		}

		_, err = c.Runtime().Teardown(ctx, request.Metadata(), controller.WithOwner(""))

		return err
	})
}
