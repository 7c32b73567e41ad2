// Package examples_test holds the code that the pages of docs/ show, as examples that run.
package examples_test

import (
	"context"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The types of the examples: a Host is written by the user, a Record by a controller.
const (
	namespace  = "default"
	hostType   = "Hosts.example.dev"
	recordType = "Records.example.dev"
)

type text struct {
	Value string `protobuf:"1"`
}

func (t text) DeepCopy() text { return t }

type hostDefinition struct{}

func (hostDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: hostType, DefaultNamespace: namespace}
}

type recordDefinition struct{}

func (recordDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: recordType, DefaultNamespace: namespace}
}

type (
	Host   = typed.Resource[text, hostDefinition]
	Record = typed.Resource[text, recordDefinition]
)

func newHost(id resource.ID, address string) *Host {
	return typed.NewResource[text, hostDefinition](resource.NewMetadata(namespace, hostType, id, resource.VersionUndefined), text{address})
}

func newRecord(id resource.ID) *Record {
	return typed.NewResource[text, recordDefinition](resource.NewMetadata(namespace, recordType, id, resource.VersionUndefined), text{})
}

func newState() state.State { return state.WrapCore(namespaced.NewState(inmem.Build)) }

// run runs the engine while do runs, and waits for its end.
func run(engine *runtime.Runtime, do func(ctx context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)

	go func() { ended <- engine.Run(ctx) }()

	do(ctx)
	stop()
	must(<-ended)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
