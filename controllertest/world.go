package controllertest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"

	"github.com/switchyard-run/switchyard/runtime"
)

// Script is what happens in a world. It runs in a goroutine of its own, beside the controllers, and is run anew for each
// schedule: all that a run needs, fakes of the outside world too, belongs inside.
type Script func(w *World)

const (
	// quiet is how long nothing may be written before a world counts as settled.
	quiet = time.Minute
	// patience is how long a world may take to settle, in its own time.
	patience = time.Hour
	// tick is how long a turn takes. Two things that happen one after the other never have the same time, as outside.
	tick = time.Millisecond
	// mostTurns is how many turns a run may have.
	mostTurns = 100_000
)

// World is a state, an engine with controllers, and a time of its own. Its methods are for the script, in its goroutine; those
// that can fail end the run then, and say why. It can be passed to assertions that want a TestingT.
type World struct {
	draws  *draws
	sched  *scheduler
	trace  *Trace
	news   *news
	faults Faults
	plan   crashAt
	cast   *cast

	core     state.CoreState
	between  func(state.CoreState) (state.CoreState, func())
	config   runtime.Config
	register func(controller.Engine) error
	life     *life
	lives    int

	normalize func(resource.Resource) resource.Resource

	// delayed counts the calls that take their time.
	delayed atomic.Int64

	// over is closed when the run has ended, well or not.
	over chan struct{}

	// mu guards the fields below.
	mu       sync.Mutex
	failures []string
	kinds    map[[2]string]struct{} // all that were ever written or watched
	overruns map[[2]string]bool     // kinds whose next resume is refused
	// bookmarks are those that watches have passed on, by kind.
	bookmarks map[[2]string][]state.Bookmark
	writes    int       // of controllers
	marked    bool      // whether writes are noted
	noted     []noted   // writes of controllers since mark
	active    time.Time // of the last write or failure
	asleep    *sleep
	later     sync.WaitGroup // what the script has left to be done
}

func newWorld(schedule Schedule, faults Faults, plan crashAt, cast *cast) *World {
	d := newDraws(schedule)

	if faults.Turns == 0 {
		faults.Turns = faultyTurns
	}

	return &World{
		draws: d, sched: newScheduler(d), trace: newTrace(), news: newNews(), faults: faults, plan: plan, cast: cast,
		core: namespaced.NewState(func(ns resource.Namespace) state.CoreState {
			return inmem.NewStateWithOptions(inmem.WithHistoryMaxCapacity(1<<16), inmem.WithHistoryGap(16))(ns)
		}),
		over: make(chan struct{}), kinds: map[[2]string]struct{}{}, overruns: map[[2]string]bool{},
		bookmarks: map[[2]string][]state.Bookmark{}, active: time.Now(),
	}
}

// Configure changes the settings of engines that are started later. They remember passes, as many as cause.DefaultPasses. The
// clock must stay what it is. Passes of classic controllers have no deadline in a world, since which wakeup is in hand is the
// world's to say there.
func (w *World) Configure(change func(*runtime.Config)) { change(&w.config) }

// Through puts something between the state and the engines that are started later, such as a connection. It is called once for
// each engine, and what it returns beside the state when that engine has ended.
func (w *World) Through(between func(state.CoreState) (state.CoreState, func())) { w.between = between }

// Wrap puts something around the state, for the engines and for the script. It is called before Start.
func (w *World) Wrap(around func(state.CoreState) state.CoreState) { w.core = around(w.core) }

// Compare sets what counts when two ends of a run are compared: the function gets a copy of each resource, and takes out what
// may differ, such as times. It returns nil for one that does not count at all, which [AssertIdempotent] lets be written, too.
func (w *World) Compare(normalize func(resource.Resource) resource.Resource) { w.normalize = normalize }

// Start starts an engine, registers the controllers with it, and lets it run. After a crash of the process, or
// [World.Restart], register is called again, for a new engine: it has to make new controllers, as a new process has.
func (w *World) Start(register func(controller.Engine) error) {
	w.act("starts the engine")

	if w.life != nil {
		w.Fatalf("Start was called twice: use Restart, or register with Engine")
	}

	w.register = register
	w.startLife()
}

func (w *World) startLife() {
	if err := w.live(); err != nil {
		w.Fatalf("%s", err)
	}
}

// Restart ends the engine as a stop of the process does, and starts another one on the same state.
func (w *World) Restart() {
	w.act("restarts the engine")
	w.running().end()
	w.startLife()
}

// Stop ends the engine, as a stop of the process does. What the script does then nobody sees before [World.Restart].
func (w *World) Stop() {
	w.act("stops the engine")
	w.running().end()
}

// Engine returns where controllers are registered while the engine runs. A crash of the process forgets them.
func (w *World) Engine() controller.Engine { return registrar{w.running()} }

// Runtime returns the engine, for what only it can do. After a restart it is another one.
func (w *World) Runtime() *runtime.Runtime { return w.running().engine }

// Crashed tells whether the process has crashed and no new one has been started yet: what the script asks of the engine may
// fail then.
func (w *World) Crashed() bool { return w.running().dead.Load() }

func (w *World) running() *life {
	if w.life == nil {
		w.Fatalf("no engine was started: call Start first")
	}

	return w.life
}

// Trace returns what has happened so far.
func (w *World) Trace() *Trace { return w.trace }

// WakeAll wakes every controller as if all its inputs had changed.
func (w *World) WakeAll() {
	w.act("wakes all controllers")

	engine := w.running().engine

	for _, q := range w.life.queues {
		q.debts.everything()
	}

	for _, ctrl := range engine.Health().Controllers {
		if err := engine.Trigger(ctrl.Name); err != nil {
			w.Fatalf("controller %q can not be woken: %s", ctrl.Name, err)
		}
	}
}
