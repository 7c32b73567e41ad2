package stateadapter_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/jonboulle/clockwork"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/stateadapter"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const (
	me      = "MyController"
	ns      = "n"
	intType = conformance.IntResourceType
	strType = conformance.StrResourceType
)

// countingState counts the calls that reach a state, reads and writes apart.
type countingState struct {
	state.CoreState

	reads, writes atomic.Int64
}

func (s *countingState) calls() int64 { return s.reads.Load() + s.writes.Load() }

func (s *countingState) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	s.reads.Add(1)

	return s.CoreState.Get(ctx, ptr, opts...)
}

func (s *countingState) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	s.reads.Add(1)

	return s.CoreState.List(ctx, kind, opts...)
}

func (s *countingState) Watch(ctx context.Context, ptr resource.Pointer, ch chan<- state.Event, opts ...state.WatchOption) error {
	s.reads.Add(1)

	return s.CoreState.Watch(ctx, ptr, ch, opts...)
}

func (s *countingState) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	s.writes.Add(1)

	return s.CoreState.Create(ctx, res, opts...)
}

func (s *countingState) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	s.writes.Add(1)

	return s.CoreState.Update(ctx, res, opts...)
}

func (s *countingState) Destroy(ctx context.Context, ptr resource.Pointer, opts ...state.DestroyOption) error {
	s.writes.Add(1)

	return s.CoreState.Destroy(ctx, ptr, opts...)
}

// bench is an adapter with what is around it.
type bench struct {
	*stateadapter.Adapter

	state   state.State // not counted
	counted *countingState
	cache   *cache.Cache
}

// declarations are what a controller of a test declares.
type declarations struct {
	form    dependency.Form
	inputs  []controller.Input
	outputs []controller.Output
}

func reads(kind controller.InputKind) declarations {
	return declarations{inputs: []controller.Input{{Namespace: ns, Type: intType, Kind: kind}}}
}

func readsID(kind controller.InputKind) declarations {
	return declarations{inputs: []controller.Input{{Namespace: ns, Type: intType, Kind: kind, ID: optional.Some("a")}}}
}

func writes(kind controller.OutputKind) declarations {
	return declarations{outputs: []controller.Output{{Type: intType, Kind: kind}}}
}

// newBench returns an adapter for a controller over an empty state; edit may change its config.
func newBench(t require.TestingT, d declarations, edit func(*stateadapter.Config)) *bench {
	core := namespaced.NewState(inmem.Build)
	counted := &countingState{CoreState: core}

	cfg := stateadapter.Config{
		Shared: &stateadapter.Shared{State: state.WrapCore(counted), Cache: cache.New(cache.Config{}), Clock: clockwork.NewRealClock()},
		Name:   me, Logger: zap.NewNop(), Metrics: &metrics.Calls{},
	}

	if edit != nil {
		edit(&cfg)
	}

	node, err := dependency.NewDatabase[int]().Register(me, d.form, 0, d.inputs, d.outputs, nil)
	require.NoError(t, err)

	cfg.Declared = node

	return &bench{Adapter: stateadapter.New(cfg), state: state.WrapCore(core), counted: counted, cache: cfg.Cache}
}

func number(id resource.ID, value int) *conformance.IntResource {
	return conformance.NewIntResource(ns, id, value)
}

func ptr(id resource.ID) resource.Pointer {
	return reduced.Key{Kind: reduced.Kind{Namespace: ns, Type: intType}, ID: id}.Pointer()
}

// create puts a resource into the state, with an owner.
func (b *bench) create(t require.TestingT, owner string, resources ...resource.Resource) {
	for _, res := range resources {
		require.NoError(t, b.state.Create(context.Background(), res, state.WithCreateOwner(owner)))
	}
}

// value returns what the state holds.
func (b *bench) value(t require.TestingT, id resource.ID) int {
	res, err := b.state.Get(context.Background(), ptr(id))
	require.NoError(t, err)

	return res.(*conformance.IntResource).Value()
}

// set returns an update function.
func set(value int) func(resource.Resource) error {
	return func(res resource.Resource) error {
		res.(*conformance.IntResource).SetValue(value)

		return nil
	}
}
