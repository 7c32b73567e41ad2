package controllers

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/transform"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// ResolverController derives from the document how the machine resolves names.
type ResolverController = transform.Controller[*resources.Document, *resources.Resolver]

// NewResolverController returns the controller.
func NewResolverController() *ResolverController {
	return transform.NewController(transform.Settings[*resources.Document, *resources.Resolver]{
		Name: "ResolverController",
		MapMetadataFunc: func(*resources.Document) *resources.Resolver {
			return resources.NewResolver()
		},
		TransformFunc: func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *resources.Document, out *resources.Resolver) error {
			*out.TypedSpec() = resolverOf(in.TypedSpec().Machine.DeepCopy())

			return nil
		},
	})
}

func resolverOf(m document.Machine) resources.ResolverSpec {
	return resources.ResolverSpec{Servers: m.Resolver.Servers, Search: m.Resolver.Search, Hosts: m.Hosts}
}
