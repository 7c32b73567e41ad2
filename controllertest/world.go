package controllertest

import (
	"context"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"go.uber.org/zap/zapcore"

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

	core     state.CoreState
	between  func(state.CoreState) (state.CoreState, func())
	config   runtime.Config
	register func(controller.Engine) error
	life     *life
	lives    int

	normalize func(resource.Resource) resource.Resource

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
	active    time.Time // of the last write or failure
	asleep    *sleep
	later     sync.WaitGroup // what the script has left to be done
}

func newWorld(schedule Schedule, faults Faults, plan crashAt) *World {
	d := newDraws(schedule)

	if faults.Turns == 0 {
		faults.Turns = faultyTurns
	}

	return &World{
		draws: d, sched: newScheduler(d), trace: newTrace(), news: newNews(), faults: faults, plan: plan,
		core: namespaced.NewState(func(ns resource.Namespace) state.CoreState {
			return inmem.NewStateWithOptions(inmem.WithHistoryMaxCapacity(1<<16), inmem.WithHistoryGap(16))(ns)
		}),
		over: make(chan struct{}), kinds: map[[2]string]struct{}{}, overruns: map[[2]string]bool{},
		bookmarks: map[[2]string][]state.Bookmark{}, active: time.Now(),
	}
}

// Configure changes the settings of engines that are started later. The clock must stay what it is.
func (w *World) Configure(change func(*runtime.Config)) { change(&w.config) }

// Through puts something between the state and the engines that are started later, such as a connection. It is called once for
// each engine, and what it returns beside the state when that engine has ended.
func (w *World) Through(between func(state.CoreState) (state.CoreState, func())) { w.between = between }

// Compare sets what counts when two ends of a run are compared: the function gets a copy of each resource, and takes out what
// may differ, such as times. It returns nil for one that does not count at all.
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
	l, err := w.begin(w.register)
	if err != nil {
		w.Fatalf("%s", err)
	}

	w.life = l
}

// Restart ends the engine as a stop of the process does, and starts another one on the same state.
func (w *World) Restart() {
	w.act("restarts the engine")
	w.running().end()
	w.startLife()
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

// Context ends with the run.
func (w *World) Context() context.Context { return withActor(outside{w.over}, newActor("script", "")) }

// Trace returns what has happened so far.
func (w *World) Trace() *Trace { return w.trace }

// Settle waits until nothing is pending any more: all watches are open, no controller fails, and nothing was written for a
// minute of the world's time, in which items that ask to be run again later are run. A world that does not settle within an
// hour ends the run, and tells what is pending.
func (w *World) Settle() { w.await(nil) }

// await waits until the condition is met, and returns true, or until nothing is pending any more. The condition is asked
// while nothing moves.
func (w *World) await(condition func() bool) (met bool) {
	now := time.Now()
	sleep := &sleep{condition: condition, since: now, over: make(chan struct{})}

	w.mu.Lock()
	w.asleep, w.active = sleep, now
	w.mu.Unlock()

	w.sched.nudge()

	select {
	case <-sleep.over:
		return sleep.met
	case <-w.over:
		goruntime.Goexit()
	}

	return false
}

// sleep is a script that waits for the world.
type sleep struct {
	condition func() bool
	since     time.Time
	met       bool
	over      chan struct{}
}

// Advance lets the time pass, and all that happens in it.
func (w *World) Advance(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-timer.C:
	case <-w.over:
		goruntime.Goexit()
	}
}

// act waits for the script's turn.
func (w *World) act(what string) {
	if err := w.sched.wait(w.Context(), acting, "script "+what); err != nil {
		goruntime.Goexit()
	}
}

// outside is a context that ends with the run.
type outside struct{ over <-chan struct{} }

// Deadline implements [context.Context].
func (outside) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements [context.Context].
func (o outside) Done() <-chan struct{} { return o.over }

// Err implements [context.Context].
func (o outside) Err() error {
	select {
	case <-o.over:
		return context.Canceled
	default:
		return nil
	}
}

// Value implements [context.Context].
func (outside) Value(any) any { return nil }

// Errorf notes a failure; the run goes on.
func (w *World) Errorf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.failures = append(w.failures, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// FailNow ends the goroutine that calls it, and the run.
func (w *World) FailNow() {
	w.mu.Lock()
	if len(w.failures) == 0 {
		w.failures = append(w.failures, "FailNow was called")
	}
	w.mu.Unlock()

	w.sched.nudge()
	goruntime.Goexit()
}

// Fatalf notes a failure and ends the run.
func (w *World) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	w.FailNow()
}

// Helper does nothing; it is there for assertions that call it.
func (w *World) Helper() {}

// Logf notes a line in the trace.
func (w *World) Logf(format string, args ...any) { w.trace.note("script", format, args...) }

func (w *World) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return len(w.failures) > 0
}

func (w *World) faulty() bool { return w.sched.turns() <= w.faults.Turns }

func kindOf(kind resource.Kind) [2]string { return [2]string{kind.Namespace(), kind.Type()} }

func (w *World) saw(kind resource.Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.kinds[kindOf(kind)] = struct{}{}
}

func (w *World) setOverrun(kind resource.Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.overruns[kindOf(kind)] = true
}

// overrun tells whether the bookmark of a kind is refused; the next one is not.
func (w *World) overrun(kind resource.Kind) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	refused := w.overruns[kindOf(kind)]
	delete(w.overruns, kindOf(kind))

	return refused
}

// told notes what is passed on by a watch, and what the engine owes for it.
func (w *World) told(r *relay, events []state.Event) {
	w.trace.note(r.name, "%s", summary(events))

	for _, event := range events {
		switch event.Type {
		case state.Bootstrapped:
			r.live = true
			r.door.life.listed(r.kind)
		case state.Destroyed:
			w.forget(r.kind)
		}

		if len(event.Bookmark) > 0 {
			w.passed(r.kind, event.Bookmark)
		}

		if event.Resource == nil || event.Type > state.Destroyed {
			continue
		}

		text, by := w.news.told(event)

		for name, q := range r.door.life.queues {
			q.debts.owe(event.Resource.Metadata(), text, r.live && !strings.HasPrefix(by, name+": "))
		}
	}
}

// passed notes a bookmark that was passed on.
func (w *World) passed(kind resource.Kind, bookmark state.Bookmark) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.bookmarks[kindOf(kind)] = append(w.bookmarks[kindOf(kind)], bookmark)
}

// forget makes a watch that repeats begin after this: a state that would tell again of what has gone would bring it back.
func (w *World) forget(kind resource.Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.bookmarks[kindOf(kind)] = nil
}

// earlier returns a bookmark that a watch is resumed from instead of the one that was asked for, or nil.
func (w *World) earlier(r *relay) state.Bookmark {
	w.mu.Lock()
	passed := w.bookmarks[kindOf(r.kind)]
	w.mu.Unlock()

	if len(passed) == 0 || !w.faulty() || !w.draws.odds("repeat in "+r.name, w.faults.Repeats) {
		return nil
	}

	return passed[len(passed)-1-w.draws.pick("how far in "+r.name, len(passed))]
}

// wrote counts a write of a controller, and returns which one it was.
func (w *World) wrote() int {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.writes++
	w.active = time.Now()

	return w.writes
}

func (w *World) failedPass() {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.active = time.Now()
}

func (w *World) written() int {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.writes
}

// logged takes a line of the log.
func (w *World) logged(entry zapcore.Entry, fields map[string]any) {
	by := logged
	if name, ok := fields["controller"].(string); ok {
		by = name
	}

	list := make([]string, 0, len(fields))
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key != "controller" {
			list = append(list, fmt.Sprintf("%s=%v", key, fields[key]))
		}
	}

	w.trace.note(by, "%s: %s %s", entry.Level, entry.Message, strings.Join(list, " "))
}

// play runs the script to its end, in the bubble of the caller, and returns what has come of it.
func (w *World) play(script Script) snapshot {
	done := make(chan struct{})

	go func() {
		defer close(done)
		defer w.sched.nudge()
		defer func() {
			if value := recover(); value != nil {
				w.Errorf("the script panics: %v", value)
			}
		}()

		script(w)
	}()

	w.run(done)

	end := w.snapshot()

	w.trace.end()
	close(w.over)

	if w.life != nil {
		w.life.end()
	}

	<-done
	w.later.Wait()

	return end
}

// run gives turns until the script has ended or something has failed.
func (w *World) run(done <-chan struct{}) {
	for {
		synctest.Wait()

		select {
		case <-done:
			return
		default:
		}

		switch {
		case w.failed():
			return
		case w.reborn():
		case w.overdue():
		case w.met():
		case w.sched.turns() > mostTurns:
			w.Errorf("the world does not settle: %d turns have passed\n%s", mostTurns, w.pending())

			return
		case w.turn():
			time.Sleep(tick)
		case w.settled():
		default:
			w.sched.idle(quiet)
		}
	}
}

// turn gives one turn, if there is anything that can take it.
func (w *World) turn() bool {
	for {
		g := w.sched.choose()
		if g == nil {
			return false
		}

		w.trace.turn(w.sched.taken(), g.name)

		if g.let() {
			return true
		}

		w.trace.undo()
		w.sched.bar(g)
	}
}

// reborn replaces an engine whose process has crashed.
func (w *World) reborn() bool {
	if w.life == nil || !w.life.dead.Load() {
		return false
	}

	w.life.end()

	w.trace.turn(w.sched.taken(), "a new process starts")

	l, err := w.begin(w.register)
	if err != nil {
		w.Errorf("after a crash %s", err)

		return true
	}

	w.life = l

	return true
}

// overdue ends a run in which the engine has not done what it should have.
func (w *World) overdue() bool {
	if w.life == nil {
		return false
	}

	what := w.life.overdue()
	if what != "" {
		w.Errorf("%s", what)
	}

	return what != ""
}

// sleeping returns the script's sleep, and when there was something to be done last.
func (w *World) sleeping() (*sleep, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.asleep, w.active
}

func (w *World) wake(s *sleep, met bool) {
	w.mu.Lock()
	w.asleep = nil
	w.mu.Unlock()

	s.met = met
	close(s.over)
}

// met lets a script go on whose condition is met.
func (w *World) met() bool {
	s, _ := w.sleeping()
	if s == nil || s.condition == nil || !s.condition() {
		return false
	}

	w.wake(s, true)

	return true
}

// settled lets a script go on that waits for nothing to be pending.
func (w *World) settled() bool {
	s, active := w.sleeping()
	if s == nil {
		return false
	}

	if time.Since(s.since) > patience {
		w.Errorf("the world does not settle within %s\n%s", patience, w.pending())

		return true
	}

	if time.Since(active) < quiet || len(w.problems()) > 0 {
		return false
	}

	w.wake(s, false)

	return true
}

func (w *World) problems() []string {
	if w.life == nil {
		return nil
	}

	return w.life.engine.Health().Problems()
}

// pending tells what is left to be done, for people.
func (w *World) pending() string {
	var out strings.Builder

	out.WriteString("pending:\n")

	for _, line := range append(w.sched.waiting(), w.problems()...) {
		fmt.Fprintf(&out, "  %s\n", line)
	}

	return out.String()
}

// stirred notes that something was written from outside.
func (w *World) stirred() {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.active = time.Now()
}

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
