package operator

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/cosi-project/runtime/pkg/state/registry"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/runtime"
)

// ErrStarted is what [App] returns to who adds something to it too late.
var ErrStarted = errors.New("operator: the app has been started, or its state is in use: add everything before")

// DefaultLeave bounds what leaving the lifespans of an [App] may take.
const DefaultLeave = 10 * time.Second

// AppConfig holds the settings of an [App]. The zero value means the defaults.
type AppConfig struct {
	// State is where resources are. The default is one in memory, which stamps the primaries of all controllers with
	// generations and uids. A state that is given is used as it is.
	State state.CoreState
	// Logger is where the app and its controllers log. The default is silence.
	Logger *zap.Logger
	// Runtime is the config of the engine. The default of its Backoff is backoff.Authoring here: what fails is tried again
	// after a second, and after longer and longer, up to a minute.
	Runtime runtime.Config
	// Leave bounds what leaving all lifespans may take. The default is [DefaultLeave].
	Leave time.Duration
}

// Lifespan is something that is there while an [App] runs, such as a connection. It is entered before any controller starts,
// and returns what leaves it again, which is called after all controllers have ended, and may be nil.
type Lifespan func(ctx context.Context) (leave func(context.Context) error, err error)

// App is a program of controllers: it has a state and an engine, and knows when to end. Its methods may be called by several
// goroutines at once. Hosts that have an engine of their own use [Register].
type App struct {
	cfg AppConfig

	// mu guards what follows.
	mu          sync.Mutex
	started     bool
	state       state.State // nil before it was asked for
	definitions []Definition
	extras      []func(controller.Engine) error
	lifespans   []Lifespan
}

// NewApp returns an app without controllers.
func NewApp(cfg AppConfig) *App {
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}

	if cfg.Runtime.Backoff == (backoff.Policy{}) {
		cfg.Runtime.Backoff = backoff.Authoring()
	}

	if cfg.Leave <= 0 {
		cfg.Leave = DefaultLeave
	}

	return &App{cfg: cfg}
}

// Include adds controllers. Adding one twice is an error, and so is adding after [App.State] or [App.Run]; then none of them is
// added.
func (a *App) Include(definitions ...Definition) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.started || a.state != nil {
		return ErrStarted
	}

	for i, def := range definitions {
		if def == nil {
			return fmt.Errorf("operator: definition %d is nil: leave it out", i+1)
		}

		if slices.Contains(a.definitions, def) || slices.Contains(definitions[:i], def) {
			return fmt.Errorf("operator: controller %q is included already: include it once", def.Name())
		}
	}

	a.definitions = append(a.definitions, definitions...)

	return nil
}

// State returns the state that the app works on, for the parts of the program that ask for things and look at what has come of
// it. The default one stamps the primaries of what was included, so nothing can be included any more.
func (a *App) State() state.State {
	a.mu.Lock()
	defer a.mu.Unlock()

	return a.keep()
}

// keep returns the state, and makes it when it is asked for first.
func (a *App) keep() state.State {
	if a.state == nil {
		a.state = state.WrapCore(a.core())
	}

	return a.state
}

// Register adds other controllers of the contract, which the function registers with the engine that it is given.
func (a *App) Register(register func(controller.Engine) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	switch {
	case a.started:
		return ErrStarted
	case register == nil:
		return errors.New("operator: Register is given no function: give it one that registers controllers")
	}

	a.extras = append(a.extras, register)

	return nil
}

// Lifespan adds something that is there while the app runs. Lifespans are entered in the order in which they were added, and
// left in the reverse one; if one can not be entered, those before it are left and [App.Run] returns its error.
func (a *App) Lifespan(enter Lifespan) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	switch {
	case a.started:
		return ErrStarted
	case enter == nil:
		return errors.New("operator: Lifespan is given no function: give it one that enters the lifespan")
	}

	a.lifespans = append(a.lifespans, enter)

	return nil
}

// Check tells all mistakes in all definitions. It needs no state, starts nothing, and may be called at any time before [App.Run].
func (a *App) Check() error {
	a.mu.Lock()
	defer a.mu.Unlock()

	return a.check()
}

func (a *App) check() error {
	if a.started {
		return ErrStarted
	}

	return checkAll(a.definitions)
}

// Graph returns what the controllers that were included read and write, without running anything. It is there for documents
// and for reviews.
func (a *App) Graph() (*controller.DependencyGraph, error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if err := a.check(); err != nil {
		return nil, err
	}

	graph := &controller.DependencyGraph{}

	for _, def := range a.definitions {
		graph.Edges = append(graph.Edges, def.defined().edges()...)
	}

	return graph, nil
}

// Run enters the lifespans, runs all controllers until the context ends or the process is told to by SIGINT or SIGTERM, waits
// for them, and leaves the lifespans. A second signal ends the process at once. An app runs once.
func (a *App) Run(ctx context.Context) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	context.AfterFunc(ctx, stop)

	st, engine, err := a.start()
	if err != nil {
		return err
	}

	for _, register := range a.extras {
		if err := register(engine); err != nil {
			return err
		}
	}

	var leaves []func(context.Context) error

	defer func() { err = errors.Join(err, a.leave(ctx, leaves)) }()

	for i, enter := range a.lifespans {
		var leave func(context.Context) error

		if err := contain.Call(func() (err error) {
			leave, err = enter(ctx)

			return err
		}); err != nil {
			return fmt.Errorf("operator: entering lifespan %d: %w", i+1, err)
		}

		if leave != nil {
			leaves = append(leaves, leave)
		}
	}

	// The state may be one that is within reach only now.
	if err := describe(ctx, st, a.definitions); err != nil && ctx.Err() == nil {
		return err
	}

	return engine.Run(ctx)
}

// start builds what was included. Nothing that mu guards changes after it.
func (a *App) start() (state.State, *runtime.Runtime, error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if err := a.check(); err != nil {
		return nil, nil, err
	}

	st := a.keep()

	engine, err := runtime.New(st, a.cfg.Logger, a.cfg.Runtime)
	if err != nil {
		return nil, nil, err
	}

	a.started = true

	if err := Register(engine, a.definitions...); err != nil {
		return nil, nil, err
	}

	return st, engine, nil
}

// describe writes the definitions of all types into the state, for clients that look them up. Some may be there already.
func describe(ctx context.Context, st state.State, definitions []Definition) error {
	types := registry.NewResourceRegistry(st)
	all := []meta.ResourceWithRD{&meta.Namespace{}, &meta.ResourceDefinition{}, &EventResource{}}

	for _, def := range definitions {
		all = append(all, def.defined().described...)
	}

	for _, described := range all {
		if err := types.Register(ctx, described); err != nil && !state.IsConflictError(err) {
			return fmt.Errorf("operator: describing %T: %w", described, err)
		}
	}

	return nil
}

func (a *App) core() state.CoreState {
	if a.cfg.State != nil {
		return a.cfg.State
	}

	var stamped generation.Config

	for _, def := range a.definitions {
		stamped.Types = append(stamped.Types, def.defined().primary.Type)
	}

	return generation.Wrap(namespaced.NewState(inmem.Build), stamped)
}

// leave leaves the lifespans, the last one first, each whatever the others say.
func (a *App) leave(ctx context.Context, leaves []func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Leave)
	defer cancel()

	var errs []error

	for _, leave := range slices.Backward(leaves) {
		errs = append(errs, contain.Call(func() error { return leave(ctx) }))
	}

	return errors.Join(errs...)
}
