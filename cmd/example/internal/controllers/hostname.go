package controllers

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/transform"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// HostnameController derives the name of the machine from the document.
type HostnameController = transform.Controller[*resources.Document, *resources.Hostname]

// NewHostnameController returns the controller.
func NewHostnameController() *HostnameController {
	return transform.NewController(transform.Settings[*resources.Document, *resources.Hostname]{
		Name: "HostnameController",
		MapMetadataFunc: func(*resources.Document) *resources.Hostname {
			return resources.NewHostname()
		},
		TransformFunc: func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *resources.Document, out *resources.Hostname) error {
			machine := in.TypedSpec().Machine

			out.TypedSpec().Hostname, out.TypedSpec().FQDN = machine.Hostname, machine.Hostname

			if machine.Domain != "" {
				out.TypedSpec().FQDN += "." + machine.Domain
			}

			return nil
		},
	})
}
