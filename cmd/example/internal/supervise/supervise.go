// Package supervise owns the processes of the appliance: it starts them, starts them again with growing pauses when
// they fail, and stops them so that nothing of them is left.
//
// A process runs in a process group of its own, and it is always the whole group that is stopped: first SIGTERM, then,
// after a grace time, SIGKILL. Descendants that have left the group are found by a mark in their environment and go
// with it (on Linux). Three things together keep processes from outliving the control plane, even when it is killed
// itself: the kernel kills the leader of each group with it (on Linux), each start leaves a record under the root, and
// the next [Open] kills what the records still find.
//
// A [Supervisor] has one goroutine for each of its units, one more for each running process, and one that starts
// processes. All of them have ended when Close returns.
package supervise

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/backoff"
)

// Definition is what shall run.
type Definition struct {
	// Revision is handed through to [Status.Revision]; the supervisor does not look at it.
	Revision string
	// Command is the program and its arguments. A program without a slash is looked up in PATH.
	Command []string
	// Env is the environment as NAME=value, beside what every process gets (PATH, HOME, LANG, TMPDIR).
	Env []string
	// Attempt is any text; a new one restarts the process.
	Attempt string
	// Hold keeps the process from being started. It has no effect on a process that runs.
	Hold bool
	// OneShot tells that the process is done when it exits with code 0.
	OneShot bool
	// Restart says how long to wait after a failure.
	Restart backoff.Policy
	// Stop is how long the process may take to end after SIGTERM.
	Stop time.Duration
}

// sameProcess tells whether a process of one definition will do for the other.
func (d Definition) sameProcess(other Definition) bool {
	return slices.Equal(d.Command, other.Command) && slices.Equal(d.Env, other.Env) &&
		d.Attempt == other.Attempt && d.OneShot == other.OneShot
}

// State is what a unit is doing.
type State string

const (
	// Held is a unit that has not been told to start its process yet.
	Held State = "held"
	// Running is a unit whose process runs.
	Running State = "running"
	// Stopping is a unit whose process has been asked to end.
	Stopping State = "stopping"
	// Waiting is a unit whose process failed and is going to be started again.
	Waiting State = "waiting"
	// Done is a unit whose one-shot process has exited with code 0.
	Done State = "done"
)

// SettleTime is how long a process has to run to count as settled.
const SettleTime = 200 * time.Millisecond

// Status is what is known of a unit.
type Status struct {
	// Revision is that of the definition the state is about.
	Revision string
	State    State
	// Instance tells one start from the next. It is unique within a supervisor and 0 before the first start.
	Instance uint64
	// PID is the process ID while a process runs, else 0.
	PID int
	// Restarts counts the starts after the first.
	Restarts uint64
	// Started is when the process was started.
	Started time.Time
	// Settled tells that the process has run for [SettleTime], so that it is more than a start that fails.
	Settled bool
	// Message says how the last process ended, or why it was restarted or could not be started; empty before.
	Message string
}

// Config is what a supervisor needs. Root, Dir and Logger are required.
type Config struct {
	// Root is where logs and records are kept, in LogDir and RunDir below it. The supervisor does not close it.
	Root *os.Root
	// Dir is the absolute path of Root, where processes start.
	Dir string
	// LogDir and RunDir are paths below Root.
	LogDir, RunDir string
	// Logger gets a line for every start, exit and stop.
	Logger *zap.Logger
	// Clock is the wall clock by default.
	Clock clockwork.Clock
	// Notify is called after each change of a status, from any goroutine and with no lock held. It must not block.
	Notify func()
}

// Supervisor runs units by name. Its methods may be called by several goroutines.
type Supervisor struct {
	cfg     Config
	lock    *lock
	spawner *spawner
	// kill is closed when grace times are over.
	kill chan struct{}

	// mu guards what follows.
	mu     sync.Mutex
	units  map[string]*unit
	closed bool
	// started counts the processes started, to number them.
	started uint64
	// killed tells that kill is closed.
	killed bool
	// tasks are the goroutines of units. Units are admitted only while closed is false.
	tasks sync.WaitGroup
}

// ErrClosed is returned for a unit that comes after Close.
var ErrClosed = errors.New("supervise: the supervisor is closed")

// Open takes hold of the directory, so that no second supervisor works in it, kills the processes that an earlier one
// left there, and returns a supervisor without units.
func Open(cfg Config) (*Supervisor, error) {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	if cfg.Notify == nil {
		cfg.Notify = func() {}
	}

	if err := makeDirs(cfg); err != nil {
		return nil, err
	}

	held, err := takeLock(cfg.Root, cfg.RunDir)
	if err != nil {
		return nil, err
	}

	if err := killStale(cfg); err != nil {
		return nil, errors.Join(err, held.release())
	}

	return &Supervisor{
		cfg:     cfg,
		lock:    held,
		spawner: startSpawner(),
		kill:    make(chan struct{}),
		units:   make(map[string]*unit),
	}, nil
}

// makeDirs makes the directories that are missing.
func makeDirs(cfg Config) error {
	return cmp.Or(cfg.Root.MkdirAll(cfg.LogDir, 0o755), cfg.Root.MkdirAll(cfg.RunDir, 0o755))
}

// Set makes a unit run as defined. It starts the process of a new unit, restarts the process where the definition
// asks for another one, and does nothing when nothing has changed. It does not wait for any of that.
func (s *Supervisor) Set(name string, def Definition) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.closed {
		return ErrClosed
	}

	if u, ok := s.units[name]; ok {
		u.update(func(w *wish) { w.definition, w.remove = def, false })

		return nil
	}

	u := newUnit(s, name, def)
	s.units[name] = u

	s.tasks.Go(u.run)

	return nil
}

// Remove asks a unit to stop its process and to go. The unit is gone when Status no longer knows it.
func (s *Supervisor) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if u, ok := s.units[name]; ok {
		u.update(func(w *wish) { w.remove = true })
	}
}

// Restart asks for the process of a unit to be stopped and started again, if it still is the given instance, and tells
// why. It counts as a failure: the next start comes after a pause, and the reason is the message until then.
func (s *Supervisor) Restart(name string, instance uint64, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if u, ok := s.units[name]; ok {
		u.update(func(w *wish) { w.replace, w.why = instance, why })
	}
}

// Status returns what is known of a unit; false if there is none, or none any more.
func (s *Supervisor) Status(name string) (Status, bool) {
	s.mu.Lock()
	u, ok := s.units[name]
	s.mu.Unlock()

	if !ok {
		return Status{}, false
	}

	return u.current(), true
}

// Names lists the units, sorted.
func (s *Supervisor) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	names := make([]string, 0, len(s.units))

	for name := range s.units {
		names = append(names, name)
	}

	slices.Sort(names)

	return names
}

// Close stops all units at the same time and waits until they have gone. When the context ends first, their processes
// are killed, and Close returns the reason for it. Whoever wants an order calls Remove in that order before.
func (s *Supervisor) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true

	for _, u := range s.units {
		u.update(func(w *wish) { w.remove = true })
	}

	s.mu.Unlock()

	stop := context.AfterFunc(ctx, s.Kill)
	defer stop()

	s.tasks.Wait()
	s.spawner.stop()

	return errors.Join(context.Cause(ctx), s.lock.release())
}

// Kill ends all grace times: processes that are being stopped, now or later, get SIGKILL at once.
func (s *Supervisor) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()

	if !s.killed {
		s.killed = true

		close(s.kill)
	}
}

// gone forgets a unit whose goroutine is about to end, unless it was asked for again in the meantime.
func (s *Supervisor) gone(u *unit) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	if !u.wanted().remove {
		return false
	}

	delete(s.units, u.name)

	return true
}

// number returns a number for the next instance.
func (s *Supervisor) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.started++

	return s.started
}
