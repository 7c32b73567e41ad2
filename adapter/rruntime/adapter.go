// Package rruntime owns the adapter of classic controllers: what a controller of the contract's first form sees as its
// runtime, its one goroutine, its wakeups and its restarts.
//
// An [Adapter] starts one goroutine, in which the controller's Run is called, and called again after a failure, until
// it returns nil or the engine stops. At most one wakeup is pending at a time: whoever wakes a controller that has a
// wakeup pending adds nothing to it.
package rruntime

import (
	"context"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/stateadapter"
)

var _ controller.Runtime = (*Adapter)(nil)

// Shared is what the adapters of one engine have in common. None of it is changed.
type Shared struct {
	Clock clockwork.Clock
	// Epoch is what times are counted from: a time of the clock that is not long ago.
	Epoch time.Time
	// Backoff is for restarts. Seed feeds its jitter, together with the controller's name.
	Backoff backoff.Policy
	Seed    uint64
	// Finished counts the controllers whose Run has returned for good.
	Finished *metrics.Counter
}

// Config is what an adapter is made of. All fields are needed.
type Config struct {
	*Shared

	Controller controller.Controller
	// Inputs puts new inputs of the controller in force.
	Inputs InputUpdater
	// Guard is for the controller's view of the state: its name, declarations and logger are the adapter's, too. What it
	// counts is counted in Metrics.
	Guard   stateadapter.Config
	Metrics *metrics.Engine
	// Deadline is how long a pass may run; nil is as long as it takes.
	Deadline *adapter.Deadline
}

// InputUpdater is who puts new inputs of a controller in force.
type InputUpdater interface {
	// UpdateInputs replaces the inputs, all of them or, with an error, none.
	UpdateInputs(inputs []controller.Input) error
}

// Adapter runs one classic controller and is the [controller.Runtime] that it sees.
type Adapter struct {
	// The guard is a part of the adapter, as the metrics are, since each thing that is allocated takes its time when
	// thousands of controllers are registered.
	stateadapter.Adapter

	shared     *Shared
	controller controller.Controller
	inputs     InputUpdater
	counted    metrics.Classic
	retry      atomic.Pointer[backoff.Retry] // nil before the first failure
	recorder   adapter.Recorder
	limit      *limit        // nil without a deadline
	tracer     *cause.Tracer // nil where nothing is remembered

	// wakeups are started by Start; running tells that they were.
	wakeups wakeups
	running atomic.Bool
	// exited tells that the last Run has ended its goroutine; it belongs to the controller's goroutine.
	exited bool
	loop   sync.WaitGroup
}

// Init makes an adapter of a zero value, which may be a part of something larger.
func (a *Adapter) Init(cfg Config) {
	a.shared, a.controller, a.inputs = cfg.Shared, cfg.Controller, cfg.Inputs
	a.counted = cfg.Metrics.Classic(cfg.Guard.Name)

	if cfg.Deadline != nil {
		a.limit = &limit{Deadline: cfg.Deadline}
		cfg.Guard.Called = a.begin
	}

	if cfg.Guard.Trace != nil {
		a.tracer = cfg.Guard.Trace
		a.tracer.From(cfg.Epoch)
		a.tracer.Under(&a.wakeups.mu)
		a.wakeups.told = told{pending: noNews, taken: noNews}
		cfg.Guard.Called = a.calls
	}

	cfg.Guard.Metrics = &a.counted.Calls
	a.Adapter.Init(cfg.Guard)
	a.recorder.Enter(adapter.Registered, cfg.Clock.Now())
}

// calls follows each call of the controller.
func (a *Adapter) calls() {
	if a.limit != nil {
		a.begin()
	}

	a.called()
}

// Admit counts the wakeup that a controller begins with. It is called once, when nothing can keep the adapter from being
// started any more but the end of the engine.
func (a *Adapter) Admit() { a.counted.Woken() }

// now is the time since the epoch.
func (a *Adapter) now() time.Duration { return a.shared.Clock.Since(a.shared.Epoch) }

// EventCh implements [controller.Runtime]: it delivers wakeups. To ask for it is to be done with the pass.
func (a *Adapter) EventCh() <-chan controller.ReconcileEvent {
	a.wakeups.ask(a.now)

	if a.limit != nil {
		a.disarm()
	}

	return a.wakeups.events
}

// QueueReconcile implements [controller.Runtime]: it wakes the controller unless a wakeup is pending. It never blocks
// and may be called from any goroutine, also from outside the controller.
func (a *Adapter) QueueReconcile() { a.Wake(cause.Triggered) }

// Wake is QueueReconcile for somebody who says why.
func (a *Adapter) Wake(why cause.Reasons) {
	if a.running.Load() {
		a.tell(a.now(), nil, why)
	}
}

// Deliver wakes the controller because of changes, of which others were told at the time, as [cause.Set.At] of these says. They
// may be nil where nothing is remembered.
func (a *Adapter) Deliver(at time.Duration, because *cause.Set) {
	if a.running.Load() { // or else it begins with a wakeup
		a.tell(at, because, 0)
	}
}

func (a *Adapter) tell(at time.Duration, because *cause.Set, why cause.Reasons) {
	var first bool

	switch {
	case a.tracer != nil:
		first = a.wakeups.tell(at, because, why)
	case len(a.wakeups.events) > 0: // whoever takes the pending one looks after this
	default:
		first = a.wakeups.wake(at)
	}

	if first {
		a.counted.Woken()
	}
}

// ResetRestartBackoff implements [controller.Runtime]: the pass has ended, and the next failure counts as the first. It may
// be called from any goroutine.
func (a *Adapter) ResetRestartBackoff() {
	a.wakeups.done(a.now)

	if a.limit != nil {
		a.disarm()
	}

	if retry := a.retry.Load(); retry != nil {
		retry.Reset()
	}

	a.recorder.Recover()
}

// UpdateInputs implements [controller.Runtime]: it replaces the inputs, all of them or, with an error, none. The slice
// is neither kept nor changed.
func (a *Adapter) UpdateInputs(inputs []controller.Input) error {
	if a.limit != nil {
		a.begin()
	}

	if a.tracer != nil {
		a.called()
	}

	return a.inputs.UpdateInputs(inputs)
}

// CleanupOutputs implements [controller.OutputTracker]; having succeeded, it resets the restart backoff as well.
func (a *Adapter) CleanupOutputs(ctx context.Context, outputs ...resource.Kind) error {
	if err := a.Adapter.CleanupOutputs(ctx, outputs...); err != nil {
		return err
	}

	a.ResetRestartBackoff()

	return nil
}

// Start runs the controller until the context ends or its Run returns nil. A wakeup is pending then. A controller that is
// paused runs once it is resumed. It is called once.
func (a *Adapter) Start(ctx context.Context) {
	now := a.shared.Clock.Now()

	since := now.Sub(a.shared.Epoch)
	a.wakeups.start(since)

	if a.tracer != nil {
		a.wakeups.begins(since)
	}

	a.recorder.Enter(adapter.Running, now)
	a.running.Store(true)

	contain.Loop(&a.loop, func() bool { return a.step(ctx) }, func() { a.exited = true })
}

// Wait returns when the controller's goroutine has ended. It is called once, after the end of the context that was
// passed to Start, or instead of it.
func (a *Adapter) Wait() {
	a.loop.Wait()

	if !a.running.Load() {
		a.recorder.Enter(adapter.Stopped, a.shared.Clock.Now())
	}
}

// Status returns what the controller is doing.
func (a *Adapter) Status() adapter.Status {
	status := a.recorder.Status()

	if status.Phase == adapter.Running {
		if since, ok := a.wakeups.busy(); ok {
			status.BusySince = a.shared.Epoch.Add(since)
		}
	}

	if pause := a.wakeups.paused(); pause != nil {
		status.Paused, status.PausedSince = true, pause.Since
	}

	return status
}

// Unfinished returns what keeps the controller from ending, and since when.
func (a *Adapter) Unfinished() (since time.Time, doing string) {
	return a.recorder.Status().Since, "Run"
}

// step is one call of Run with what follows it; it tells whether there is to be another. Of its own it needs little of
// the stack, so that a controller that waits can do with the smallest one.
func (a *Adapter) step(ctx context.Context) bool {
	pprof.SetGoroutineLabels(ctx)

	if a.exited {
		a.exited = false

		return a.ended(ctx, contain.ErrGoexit)
	}

	if pause := a.wakeups.begin(); pause != nil {
		return a.waited(ctx, pause)
	}

	if a.limit != nil {
		return a.ended(ctx, a.runLimited(ctx))
	}

	return a.ended(ctx, contain.Call(func() error { return a.controller.Run(ctx, a, a.Logger()) }))
}

// ended follows a call of Run that returned the error.
func (a *Adapter) ended(ctx context.Context, err error) (again bool) {
	a.StopTrackingOutputs()

	if err != nil && a.tracer != nil && ctx.Err() == nil {
		a.called() // what fails before it has called anything is to be remembered as well
	}

	a.wakeups.end()

	if a.limit != nil {
		err = a.unlimited(ctx, err)
	}

	now := a.shared.Clock.Now()

	switch {
	case ctx.Err() != nil:
		// It was told to stop; whatever it returned is the answer to that.
		a.finish(cause.Stopped, nil, 0)
		a.recorder.Enter(adapter.Stopped, now)
		a.Logger().Debug("controller stopped", zap.NamedError("returned", err))

		return false
	case err == nil:
		a.finish(cause.Succeeded, nil, 0)
		a.recorder.Enter(adapter.Finished, now)
		a.recorder.Recover()
		a.shared.Finished.Inc()
		a.Logger().Info("controller finished: its Run returned and is not called again")

		return false
	}

	retry := a.retry.Load()
	if retry == nil {
		retry = backoff.NewRetry(a.shared.Backoff, backoff.Healthy, backoff.NewRandom(a.shared.Seed, a.Name()).Float64)
		a.retry.Store(retry)
	}

	attempt, delay := retry.Failed(now.Sub(a.recorder.Status().Since))

	a.finish(cause.Failed, err, delay)
	a.counted.Crashed()
	a.recorder.Fail(adapter.BackingOff, now, err, attempt, now.Add(delay))
	a.Logger().Error("controller failed and will be restarted", append(contain.Fields(err),
		zap.Int("attempt", attempt), zap.Duration("next_try_in", delay))...)

	if !backoff.Sleep(ctx, a.shared.Clock, delay) {
		a.recorder.Enter(adapter.Stopped, a.shared.Clock.Now())

		return false
	}

	// The failed run may have taken a wakeup with it.
	a.Wake(cause.Retried)
	a.recorder.Enter(adapter.Running, a.shared.Clock.Now())

	return true
}
