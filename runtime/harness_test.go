package runtime_test

import (
	"context"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Two kinds of resource for the tests: a Source is written by tests, a Target by controllers. Each holds one number.
const (
	ns         = resource.Namespace("test")
	sourceType = resource.Type("Sources.test.switchyard.run")
	targetType = resource.Type("Targets.test.switchyard.run")
)

type number struct{ N int }

func (n number) DeepCopy() number { return n }

type sourceExtension struct{}

func (sourceExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: sourceType, DefaultNamespace: ns}
}

type targetExtension struct{}

func (targetExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: targetType, DefaultNamespace: ns}
}

type (
	source = typed.Resource[number, sourceExtension]
	target = typed.Resource[number, targetExtension]
)

func newSource(id resource.ID, n int) *source {
	return typed.NewResource[number, sourceExtension](resource.NewMetadata(ns, sourceType, id, resource.VersionUndefined), number{n})
}

func newTarget(id resource.ID, n int) *target {
	return typed.NewResource[number, targetExtension](resource.NewMetadata(ns, targetType, id, resource.VersionUndefined), number{n})
}

func sourcePtr(id resource.ID) resource.Metadata { return *newSource(id, 0).Metadata() }
func targetPtr(id resource.ID) resource.Metadata { return *newTarget(id, 0).Metadata() }

// Inputs of the two kinds.
func sources(kind controller.InputKind) controller.Input {
	return controller.Input{Namespace: ns, Type: sourceType, Kind: kind}
}

func targets(kind controller.InputKind) controller.Input {
	return controller.Input{Namespace: ns, Type: targetType, Kind: kind}
}

func byID(in controller.Input, id resource.ID) controller.Input {
	in.ID = optional.Some(id)

	return in
}

func exclusive(typ resource.Type) controller.Output {
	return controller.Output{Type: typ, Kind: controller.OutputExclusive}
}

func shared(typ resource.Type) controller.Output {
	return controller.Output{Type: typ, Kind: controller.OutputShared}
}

// classic is a classic controller made of functions. Each wakeup calls pass; run replaces the loop around it.
type classic struct {
	name    string
	inputs  []controller.Input
	outputs []controller.Output
	pass    func(ctx context.Context, r controller.Runtime) error
	run     func(ctx context.Context, r controller.Runtime) error
}

func (c *classic) Name() string                 { return c.name }
func (c *classic) Inputs() []controller.Input   { return c.inputs }
func (c *classic) Outputs() []controller.Output { return c.outputs }

func (c *classic) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	if c.run != nil {
		return c.run(ctx, r)
	}

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		if err := c.pass(ctx, r); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

// queued is a queue controller made of functions.
type queued struct {
	name      string
	settings  controller.QSettings
	reconcile func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error
	mapInput  func(ctx context.Context, r controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error)
}

func (q *queued) Name() string                   { return q.name }
func (q *queued) Settings() controller.QSettings { return q.settings }

func (q *queued) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	if q.reconcile == nil {
		return nil
	}

	return q.reconcile(ctx, r, ptr)
}

func (q *queued) MapInput(
	ctx context.Context, _ *zap.Logger, r controller.QRuntime, md controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	if q.mapInput == nil {
		return nil, nil
	}

	return q.mapInput(ctx, r, md)
}

// world is a state with an engine over it.
type world struct {
	*runtime.Runtime

	t     *testing.T
	state state.State
	stop  context.CancelFunc
	ended chan error
}

// newState returns an in-memory state with a history long enough to lose nothing.
func newState() state.State { return newStateWithHistory(1 << 16) }

func newStateWithHistory(length int) state.State {
	return state.WrapCore(namespaced.NewState(func(ns resource.Namespace) state.CoreState {
		return inmem.NewStateWithOptions(
			inmem.WithHistoryInitialCapacity(min(length, 128)), inmem.WithHistoryMaxCapacity(length), inmem.WithHistoryGap(1),
		)(ns)
	}))
}

// newWorld builds an engine over st, which may be nil for a fresh in-memory state. It does not run yet. Whoever changes
// what the cache has only lent fails the test.
func newWorld(t *testing.T, st state.State, cfg runtime.Config, logger *zap.Logger) *world {
	t.Helper()

	if cfg.OnMutation == nil {
		cfg.OnMutation = func(err *cache.MutationError) { t.Error(err) }
	}

	return newTrustingWorld(t, st, cfg, logger)
}

// newTrustingWorld does the same, without looking for those who change what they were lent. What the log says is about what a test
// does, not about what it declares.
func newTrustingWorld(t *testing.T, st state.State, cfg runtime.Config, logger *zap.Logger) *world {
	t.Helper()

	if st == nil {
		st = newState()
	}

	cfg.NoFindings = true

	rt, err := runtime.New(st, logger, cfg)
	require.NoError(t, err)

	return &world{Runtime: rt, t: t, state: st}
}

// start runs the engine until stopped, or the test ends; then Run must have returned nil.
func (w *world) start() {
	w.t.Helper()

	ctx, cancel := context.WithCancel(context.Background())
	w.stop, w.ended = cancel, make(chan error, 1)

	go func() { w.ended <- w.Run(ctx) }()

	w.t.Cleanup(w.end)
}

// end stops the engine and waits for it. A second call does nothing.
func (w *world) end() {
	w.stop()

	if err, ok := <-w.ended; ok {
		require.NoError(w.t, err)
		close(w.ended)
	}
}

func (w *world) register(ctrl any) {
	w.t.Helper()
	require.NoError(w.t, w.tryRegister(ctrl))
}

func (w *world) tryRegister(ctrl any) error {
	switch ctrl := ctrl.(type) {
	case controller.Controller:
		return w.RegisterController(ctrl)
	case controller.QController:
		return w.RegisterQController(ctrl)
	default:
		panic("neither form of controller")
	}
}

// reconcilesSources registers a queue controller of the sources, "q", and returns which of them it reconciles.
func (w *world) reconcilesSources() *journal[resource.ID] {
	w.t.Helper()

	var reconciled journal[resource.ID]

	w.register(&queued{
		name:     "q",
		settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
		reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
			reconciled.add(ptr.ID())

			return nil
		},
	})

	return &reconciled
}

func (w *world) create(resources ...resource.Resource) {
	w.t.Helper()

	for _, res := range resources {
		require.NoError(w.t, w.state.Create(w.t.Context(), res))
	}
}

func (w *world) set(id resource.ID, n int) {
	w.t.Helper()

	_, err := safe.StateUpdateWithConflicts(w.t.Context(), w.state, sourcePtr(id), func(s *source) error {
		s.TypedSpec().N = n

		return nil
	}, state.WithExpectedPhaseAny())
	require.NoError(w.t, err)
}

func (w *world) edit(id resource.ID, edit func(*source)) {
	w.t.Helper()

	_, err := safe.StateUpdateWithConflicts(w.t.Context(), w.state, sourcePtr(id), func(s *source) error {
		edit(s)

		return nil
	}, state.WithExpectedPhaseAny())
	require.NoError(w.t, err)
}

func (w *world) destroy(id resource.ID) {
	w.t.Helper()
	require.NoError(w.t, w.state.Destroy(w.t.Context(), sourcePtr(id)))
}

// journal records what happened, in order.
type journal[T any] struct {
	mu      sync.Mutex
	entries []T
}

func (j *journal[T]) add(entry T) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.entries = append(j.entries, entry)
}

func (j *journal[T]) all() []T {
	j.mu.Lock()
	defer j.mu.Unlock()

	return append([]T(nil), j.entries...)
}

func (j *journal[T]) len() int { return len(j.all()) }

func (j *journal[T]) last() T {
	all := j.all()
	if len(all) == 0 {
		var none T

		return none
	}

	return all[len(all)-1]
}

// cachedSources is a config under which sources are cached.
func cachedSources() runtime.Config {
	return runtime.Config{Options: []options.Option{options.WithCachedResource(ns, sourceType)}}
}
