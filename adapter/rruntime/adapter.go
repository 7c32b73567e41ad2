// Package rruntime owns the adapter of classic controllers: what a controller of the contract's first form sees as its
// runtime, its one goroutine, its wakeups and its restarts.
//
// An [Adapter] starts one goroutine, in which the controller's Run is called, and called again after a failure, until
// it returns nil or the engine stops. At most one wakeup is pending at a time: whoever wakes a controller that has a
// wakeup pending adds nothing to it.
package rruntime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/backoff"
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

	Name       string
	Controller controller.Controller
	// UpdateInputs puts new inputs of the controller in force.
	UpdateInputs func([]controller.Input) error

	Metrics *metrics.Classic
	// Logger is the controller's, which names it in every line.
	Logger *zap.Logger
}

// Adapter runs one classic controller and is the [controller.Runtime] that it sees.
type Adapter struct {
	*stateadapter.Adapter

	cfg      Config
	retry    atomic.Pointer[adapter.Retry] // nil before the first failure
	recorder adapter.Recorder
	events   chan controller.ReconcileEvent
	loop     sync.WaitGroup

	// pending is when the pending wakeup was put, counted from the epoch.
	pending atomic.Int64

	// The fields below belong to the controller's goroutine.
	ctx     context.Context
	started time.Time
	exited  bool // the last Run has ended its goroutine
}

// New returns an adapter, over the controller's guarded view of the state.
func New(guarded *stateadapter.Adapter, cfg Config) *Adapter {
	a := &Adapter{
		Adapter: guarded,
		cfg:     cfg,
		events:  make(chan controller.ReconcileEvent, 1),
	}

	a.recorder.Enter(adapter.Registered, cfg.Clock.Now())

	return a
}

// EventCh implements [controller.Runtime]: it delivers wakeups.
func (a *Adapter) EventCh() <-chan controller.ReconcileEvent { return a.events }

// QueueReconcile implements [controller.Runtime]: it wakes the controller unless a wakeup is pending. It never blocks
// and may be called from any goroutine, also from outside the controller.
func (a *Adapter) QueueReconcile() {
	if len(a.events) > 0 {
		return // whoever takes it looks after this
	}

	a.pending.Store(int64(a.cfg.Clock.Since(a.cfg.Epoch)))

	select {
	case a.events <- controller.ReconcileEvent{}:
		a.cfg.Metrics.Wakeups.Inc()
	default:
	}
}

// ResetRestartBackoff implements [controller.Runtime]: the next failure counts as the first. It may be called from any
// goroutine.
func (a *Adapter) ResetRestartBackoff() {
	if retry := a.retry.Load(); retry != nil {
		retry.Reset()
	}

	a.recorder.Recover()
}

// UpdateInputs implements [controller.Runtime]: it replaces the inputs, all of them or, with an error, none. The slice
// is neither kept nor changed.
func (a *Adapter) UpdateInputs(inputs []controller.Input) error { return a.cfg.UpdateInputs(inputs) }

// CleanupOutputs implements [controller.OutputTracker]; having succeeded, it resets the restart backoff as well.
func (a *Adapter) CleanupOutputs(ctx context.Context, outputs ...resource.Kind) error {
	if err := a.Adapter.CleanupOutputs(ctx, outputs...); err != nil {
		return err
	}

	a.ResetRestartBackoff()

	return nil
}

// Start runs the controller until the context ends or its Run returns nil. It is called once.
func (a *Adapter) Start(ctx context.Context) {
	a.ctx = ctx
	a.recorder.Enter(adapter.Running, a.cfg.Clock.Now())

	adapter.Loop(&a.loop, a.step, func() { a.exited = true })
}

// Wait returns when the controller's goroutine has ended. It is called once, after the end of the context that was
// passed to Start, or instead of it.
func (a *Adapter) Wait() {
	a.loop.Wait()

	if a.ctx == nil {
		a.recorder.Enter(adapter.Stopped, a.cfg.Clock.Now())
	}
}

// Status returns what the controller is doing.
func (a *Adapter) Status() adapter.Status {
	status := a.recorder.Status()

	if status.Phase == adapter.Running && len(a.events) > 0 {
		status.BusySince = a.cfg.Epoch.Add(time.Duration(a.pending.Load()))
	}

	return status
}

// step is one call of Run with what follows it; it tells whether there is to be another.
func (a *Adapter) step() bool {
	err := adapter.ErrGoexit

	if !a.exited {
		a.started = a.cfg.Clock.Now()
		err = adapter.Contain(func() error { return a.cfg.Controller.Run(a.ctx, a, a.cfg.Logger) })
	}

	a.exited = false
	a.StopTrackingOutputs()

	now := a.cfg.Clock.Now()

	switch {
	case a.ctx.Err() != nil:
		// It was told to stop; whatever it returned is the answer to that.
		a.recorder.Enter(adapter.Stopped, now)
		a.cfg.Logger.Debug("controller stopped", zap.NamedError("returned", err))

		return false
	case err == nil:
		a.recorder.Enter(adapter.Finished, now)
		a.recorder.Recover()
		a.cfg.Finished.Inc()
		a.cfg.Logger.Info("controller finished: its Run returned and is not called again")

		return false
	}

	retry := a.retry.Load()
	if retry == nil {
		retry = adapter.NewRetry(a.cfg.Backoff, adapter.Healthy, adapter.NewRandom(a.cfg.Seed, a.cfg.Name).Float64)
		a.retry.Store(retry)
	}

	attempt, delay := retry.Failed(now.Sub(a.started))

	a.cfg.Metrics.Crashes.Inc()
	a.recorder.Fail(adapter.BackingOff, now, err, attempt, now.Add(delay))
	a.cfg.Logger.Error("controller failed and will be restarted", append(adapter.ErrorFields(err),
		zap.Int("attempt", attempt), zap.Duration("next_try_in", delay))...)

	if !adapter.Sleep(a.ctx, a.cfg.Clock, delay) {
		a.recorder.Enter(adapter.Stopped, a.cfg.Clock.Now())

		return false
	}

	// The failed run may have taken a wakeup with it.
	a.QueueReconcile()
	a.recorder.Enter(adapter.Running, a.cfg.Clock.Now())

	return true
}
