package qruntime

import (
	"context"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cause"

	"github.com/cosi-project/runtime/pkg/controller"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/contain"
)

// hooks are those of a controller that has any.
type hooks struct {
	run      func(context.Context, *zap.Logger, controller.QRuntime) error
	shutdown func()
}

// hook runs the controller's run hook, and runs it again when it fails. It belongs to the hook's goroutine.
type hook struct {
	adapter *Adapter
	retry   *backoff.Retry
	started time.Time
	exited  error
	traced  *cause.Open // the call that runs, or nil
}

// runHook starts the run hook.
func (a *Adapter) runHook() {
	h := &hook{adapter: a, retry: backoff.NewRetry(a.cfg.Backoff, backoff.Healthy, a.cfg.Random)}

	contain.Loop(&a.running, h.step, func() { h.exited = contain.ErrGoexit })
}

// call calls the hook.
func (h *hook) call() error {
	a := h.adapter
	ctx := a.ctx

	if a.traces() {
		seat := a.cfg.Trace.Within(ctx)
		h.traced = seat.Begin(&cause.Begin{Doing: cause.Hooking, At: a.now(), Waited: -1, Reasons: cause.Started})
		ctx = seat
	}

	return a.hooks.run(ctx, a.cfg.Logger, a.cfg.Runtime)
}

func hookOutcome(ctx context.Context, err error) cause.Outcome {
	switch {
	case ctx.Err() != nil:
		return cause.Stopped
	case err != nil:
		return cause.Failed
	default:
		return cause.Succeeded
	}
}

// step is one call of the hook with what follows it; it tells whether there is to be another.
func (h *hook) step() bool {
	a := h.adapter

	pprof.SetGoroutineLabels(a.ctx)

	err := h.exited
	h.exited = nil

	if err == nil {
		h.started = a.cfg.Clock.Now()
		a.inHook.Store(&hooked{"run hook", h.started})

		err = contain.Call(h.call)
	}

	a.inHook.Store(nil)
	h.traced.End(a.now(), hookOutcome(a.ctx, err), err, 0)
	h.traced = nil

	if a.ctx.Err() != nil {
		return false
	}

	now := a.cfg.Clock.Now()

	if err == nil {
		a.cfg.Logger.Debug("run hook finished")

		if a.failing.Load() == 0 {
			a.recorder.Recover()
		}

		return false
	}

	attempt, delay := h.retry.Failed(now.Sub(h.started))

	a.cfg.Metrics.Crashed()
	a.recorder.Fail(adapter.BackingOff, now, err, attempt, now.Add(delay))
	a.cfg.Logger.Error("run hook failed and will be run again", append(contain.Fields(err),
		zap.Int("attempt", attempt), zap.Duration("next_try_in", delay))...)

	if !backoff.Sleep(a.ctx, a.cfg.Clock, delay) {
		return false
	}

	a.recorder.Enter(adapter.Running, a.cfg.Clock.Now())

	return true
}

// shutdown calls the hook in a goroutine of its own, which survives that the hook ends it.
func (a *Adapter) shutdown() {
	var (
		hook   sync.WaitGroup
		called bool
		err    error
	)

	a.inHook.Store(&hooked{"shutdown hook", a.cfg.Clock.Now()})

	contain.Loop(&hook, func() bool {
		if called {
			return false
		}

		called = true

		pprof.SetGoroutineLabels(a.ctx)
		err = contain.Call(func() error {
			a.hooks.shutdown()

			return nil
		})

		return false
	}, func() { err = contain.ErrGoexit })

	hook.Wait()
	a.inHook.Store(nil)

	if err != nil {
		a.cfg.Metrics.Crashed()
		a.cfg.Logger.Error("shutdown hook failed", contain.Fields(err)...)
	}
}
