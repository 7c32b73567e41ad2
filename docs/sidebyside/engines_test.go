package sidebyside_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	peer "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// The two types of the plays.
const (
	ns        = "play"
	inputType = "Inputs.play"
	otherType = "Others.play"
)

type empty struct{}

func (empty) DeepCopy() empty { return empty{} }

type inputDefinition struct{}

func (inputDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: inputType, DefaultNamespace: ns}
}

type otherDefinition struct{}

func (otherDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: otherType, DefaultNamespace: ns}
}

func input(id resource.ID) resource.Resource {
	return typed.NewResource[empty, inputDefinition](resource.NewMetadata(ns, inputType, id, resource.VersionUndefined), empty{})
}

func other(id resource.ID) resource.Resource {
	return typed.NewResource[empty, otherDefinition](resource.NewMetadata(ns, otherType, id, resource.VersionUndefined), empty{})
}

// reads and writes are declarations.
func reads(typ resource.Type, kind controller.InputKind) controller.Input {
	return controller.Input{Namespace: ns, Type: typ, Kind: kind}
}

func readsOne(typ resource.Type, id resource.ID, kind controller.InputKind) controller.Input {
	return controller.Input{Namespace: ns, Type: typ, ID: optional.Some(id), Kind: kind}
}

func writes(typ resource.Type) []controller.Output {
	return []controller.Output{{Type: typ, Kind: controller.OutputShared}}
}

// classic is a classic controller; without a function it waits for its end.
type classic struct {
	name    string
	inputs  []controller.Input
	outputs []controller.Output
	run     func(ctx context.Context, r controller.Runtime) error
}

func (c *classic) Name() string                 { return c.name }
func (c *classic) Inputs() []controller.Input   { return c.inputs }
func (c *classic) Outputs() []controller.Output { return c.outputs }

func (c *classic) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	if c.run != nil {
		if err := c.run(ctx, r); err != nil {
			return err
		}
	}

	<-ctx.Done()

	return nil
}

// queued is a queue controller that counts its passes.
type queued struct {
	inputs    []controller.Input
	reconcile func() error
	mapInput  func() []resource.Pointer

	asked, passes, mapped atomic.Int32
}

func (q *queued) Name() string { return "queued" }

func (q *queued) Settings() controller.QSettings {
	q.asked.Add(1)

	return controller.QSettings{Inputs: q.inputs}
}

func (q *queued) Reconcile(context.Context, *zap.Logger, controller.QRuntime, resource.Pointer) error {
	q.passes.Add(1)

	if q.reconcile == nil {
		return nil
	}

	return q.reconcile()
}

func (q *queued) MapInput(
	context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	q.mapped.Add(1)

	if q.mapInput == nil {
		return nil, nil
	}

	return q.mapInput(), nil
}

// engine is what hosts use of an engine.
type engine interface {
	controller.Engine

	CachedState() state.CoreState
}

func buildPeer(st state.State, logger *zap.Logger, opts ...options.Option) (engine, error) {
	return peer.NewRuntime(st, logger, opts...)
}

func buildOurs(st state.State, logger *zap.Logger, opts ...options.Option) (engine, error) {
	return runtime.NewRuntime(st, logger, opts...)
}

// core is a state whose calls can be counted, refused and interfered with.
type core struct {
	state.CoreState

	lists    atomic.Int32
	noWatch  atomic.Bool
	onCreate atomic.Pointer[func(resource.Resource)] // called once
	watching atomic.Pointer[chan<- []state.Event]
}

var errNoWatch = errors.New("no watch today")

func (c *core) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	c.lists.Add(1)

	return c.CoreState.List(ctx, kind, opts...)
}

func (c *core) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	if interfere := c.onCreate.Swap(nil); interfere != nil {
		(*interfere)(res)
	}

	return c.CoreState.Create(ctx, res, opts...)
}

func (c *core) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	if c.noWatch.Load() {
		return errNoWatch
	}

	c.watching.Store(&ch)

	return c.CoreState.WatchKindAggregated(ctx, kind, ch, opts...)
}

// stage is an engine over a state, in a bubble of virtual time.
type stage struct {
	engine

	t     *testing.T
	core  *core
	logs  *observer.ObservedLogs
	ctx   context.Context
	stop  context.CancelFunc
	ended chan error
	runs  bool
}

func newStage(t *testing.T, build func(state.State, *zap.Logger, ...options.Option) (engine, error), opts ...options.Option) (*stage, error) {
	observed, logs := observer.New(zap.DebugLevel)
	s := &stage{t: t, core: &core{CoreState: namespaced.NewState(inmem.Build)}, logs: logs, ended: make(chan error, 1)}
	s.ctx, s.stop = context.WithCancel(t.Context())

	var err error
	s.engine, err = build(state.WrapCore(s.core), zap.New(observed), opts...)

	return s, err
}

func (s *stage) create(res resource.Resource, opts ...state.CreateOption) {
	require.NoError(s.t, s.core.CoreState.Create(s.ctx, res, opts...))
}

// start runs the engine and lets it come to rest.
func (s *stage) start() {
	s.runs = true

	go func() { s.ended <- s.Run(s.ctx) }()

	synctest.Wait()
}

// play registers a controller, runs the engine, and lets it come to rest.
func (s *stage) play(c *classic) {
	require.NoError(s.t, s.RegisterController(c))
	s.start()
}

// elapse lets virtual time go by.
func elapse(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// end ends the engine and returns what Run returned.
func (s *stage) end() error {
	s.stop()

	if !s.runs {
		return nil
	}

	s.runs = false

	return <-s.ended
}
