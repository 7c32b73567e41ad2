package controllers

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/transform"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// TimeServerController derives from the document where the machine gets the time from.
type TimeServerController = transform.Controller[*resources.Document, *resources.TimeServer]

// NewTimeServerController returns the controller.
func NewTimeServerController() *TimeServerController {
	return transform.NewController(transform.Settings[*resources.Document, *resources.TimeServer]{
		Name: "TimeServerController",
		MapMetadataFunc: func(*resources.Document) *resources.TimeServer {
			return resources.NewTimeServer()
		},
		TransformFunc: func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *resources.Document, out *resources.TimeServer) error {
			*out.TypedSpec() = timeServerOf(in.TypedSpec().Machine.DeepCopy())

			return nil
		},
	})
}

func timeServerOf(m document.Machine) resources.TimeServerSpec {
	return resources.TimeServerSpec{Servers: m.TimeServers}
}
