package controllertest_test

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/controllertest"
)

const ticketType = resource.Type("Tickets.test.switchyard.run")

// hidden is a specification that shows nothing of itself in YAML.
type hidden struct{ n int }

func (h hidden) DeepCopy() hidden { return h }

type ticketExtension struct{}

func (ticketExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: ticketType, DefaultNamespace: ns}
}

type ticket = typed.Resource[hidden, ticketExtension]

// counter gives each order a number: who comes first is served first.
type counter struct{ last int }

func (*counter) Name() string { return "counter" }

func (*counter) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs:      []controller.Input{{Namespace: ns, Type: "Orders.test.switchyard.run", Kind: controller.InputQPrimary}},
		Outputs:     []controller.Output{{Type: ticketType, Kind: controller.OutputExclusive}},
		Concurrency: optional.Some[uint](2),
	}
}

func (c *counter) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	c.last++
	n := c.last
	md := resource.NewMetadata(ns, ticketType, ptr.ID(), resource.VersionUndefined)

	return safe.WriterModify(ctx, r, typed.NewResource[hidden, ticketExtension](md, hidden{}), func(t *ticket) error {
		t.TypedSpec().n = n

		return nil
	})
}

func (*counter) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}

func queueing(w *controllertest.World) {
	w.Start(func(e controller.Engine) error { return e.RegisterQController(&counter{}) })
	w.Create(newOrder("a", 1), newOrder("b", 1), newOrder("c", 1))
}
