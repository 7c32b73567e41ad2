package controllers

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/transform"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
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
			*out.TypedSpec() = hostnameOf(in.TypedSpec().Machine)

			return nil
		},
	})
}

func hostnameOf(m document.Machine) resources.HostnameSpec {
	name := resources.HostnameSpec{Hostname: m.Hostname, FQDN: m.Hostname}

	if m.Domain != "" {
		name.FQDN += "." + m.Domain
	}

	return name
}
