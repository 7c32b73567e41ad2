package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/queue"
)

// DefaultResync is how often a manager lists the resources of its kinds.
const DefaultResync = 30 * time.Second

// ErrStarted is the reason when something comes too late.
var ErrStarted = errors.New("the manager has started already; register all kinds, and then call Start once")

// ManagerOption changes a [Manager].
type ManagerOption func(*managerConfig)

type managerConfig struct {
	clock  clockwork.Clock
	logger *zap.Logger
	resync time.Duration
	adopt  bool // list once at the start
}

// WithClock sets the clock for intervals and delays. The default is the real one.
func WithClock(clock clockwork.Clock) ManagerOption {
	return func(c *managerConfig) { c.clock = clock }
}

// WithManagerLogger sets where a manager, and its controllers unless they have one of their own, tell of failures. The default is
// nowhere.
func WithManagerLogger(logger *zap.Logger) ManagerOption {
	return func(c *managerConfig) { c.logger = logger }
}

// WithResync sets how often all resources are listed and their reconcilers run. With 0 or less it is done once, at the start,
// and then only what [Manager.Enqueue] is told of is reconciled. The default is [DefaultResync].
func WithResync(d time.Duration) ManagerOption {
	return func(c *managerConfig) { c.resync, c.adopt = max(d, 0), true }
}

// WithoutResync has nothing listed, not even at the start: only what [Manager.Enqueue] is told of is reconciled.
func WithoutResync() ManagerOption {
	return func(c *managerConfig) { c.resync, c.adopt = 0, false }
}

// Manager has one [Controller] for each kind of resource, hands hints to it, and has all resources of the kind reconciled now and
// then, so that a hint that was lost is made up for within an interval. It holds no watch.
//
// Its methods are safe for concurrent use.
type Manager struct {
	state state.CoreState
	cfg   managerConfig

	// mu guards what follows. The kinds do not change once it has started.
	mu      sync.RWMutex
	kinds   map[resource.Type]*Controller[Ref]
	started bool
}

// NewManager returns a manager of the resources of a state.
func NewManager(st state.CoreState, opts ...ManagerOption) *Manager {
	cfg := managerConfig{clock: clockwork.NewRealClock(), logger: zap.NewNop(), resync: DefaultResync, adopt: true}
	for _, opt := range opts {
		opt(&cfg)
	}

	return &Manager{state: st, cfg: cfg, kinds: map[resource.Type]*Controller[Ref]{}}
}

// Register has the resources of a kind reconciled. Registering a kind again replaces its reconciler and its options; hints that
// have come are for the new one. Once the manager has started it returns [ErrStarted].
func (m *Manager) Register(kind resource.Type, reconciler Reconciler[Ref], opts ...ControllerOption) error {
	switch {
	case kind == "":
		return errors.New("reconcile: Register is given no kind: give it the type of a resource")
	case reconciler == nil:
		return fmt.Errorf("reconcile: registering %s: there is no reconciler: give it one", kind)
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	if m.started {
		return fmt.Errorf("reconcile: registering %s: %w", kind, ErrStarted)
	}

	var hints *queue.Queue[Ref]

	if former := m.kinds[kind]; former != nil {
		hints = former.Queue()
	} else {
		hints = queue.NewQueue[Ref](m.cfg.clock)
	}

	opts = append([]ControllerOption{WithLogger(m.cfg.logger)}, opts...)
	m.kinds[kind] = NewController(kind, hints, reconciler, opts...)

	return nil
}

// Enqueue says that a resource may have changed, and has it reconciled. It may be called at any time, also before Start and
// by reconcilers. Of a kind that is not registered it is ignored.
func (m *Manager) Enqueue(ref Ref) {
	m.mu.RLock()
	controller := m.kinds[ref.Kind]
	m.mu.RUnlock()

	if controller != nil {
		controller.Queue().Add(ref)
	}
}

// Start works until the context ends, and returns when everything has ended. It is called once; another call returns
// [ErrStarted].
func (m *Manager) Start(ctx context.Context) error {
	m.mu.Lock()
	again := m.started
	m.started = true
	m.mu.Unlock()

	if again {
		return fmt.Errorf("reconcile: starting: %w", ErrStarted)
	}

	var running sync.WaitGroup

	for kind, controller := range m.kinds {
		running.Go(func() { controller.Run(ctx) })

		if m.cfg.adopt {
			running.Go(func() { m.resync(ctx, kind, controller) })
		}
	}

	<-ctx.Done() // there may be no kinds
	running.Wait()

	return nil
}
