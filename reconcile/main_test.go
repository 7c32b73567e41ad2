package reconcile_test

import (
	"context"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/reconcile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ns   = resource.Namespace("default")
	kind = conformance.IntResourceType
)

func ref(name resource.ID) reconcile.Ref { return reconcile.Ref{Kind: kind, Scope: ns, Name: name} }

func number(id resource.ID, value int) *conformance.IntResource {
	return conformance.NewIntResource(ns, id, value)
}

func newState() state.CoreState { return namespaced.NewState(inmem.Build) }

// running runs something until the function it returns is called, which waits for its end.
func running(t *testing.T, run func(context.Context)) (stop func()) {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})

	go func() {
		defer close(ended)

		run(ctx)
	}()

	return func() {
		cancel()
		<-ended
	}
}

const thingType = resource.Type("Things.test.switchyard.run")

type thingSpec struct{}

func (s thingSpec) DeepCopy() thingSpec { return s }

type thingExtension struct{}

func (thingExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: thingType, DefaultNamespace: ns}
}

func newThing(in resource.Namespace, id resource.ID) resource.Resource {
	return typed.NewResource[thingSpec, thingExtension](resource.NewMetadata(in, thingType, id, resource.VersionUndefined), thingSpec{})
}
