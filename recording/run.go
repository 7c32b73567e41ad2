package recording

import (
	"context"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"
)

// recordedController is a classic controller whose Runs are recorded.
type recordedController struct {
	controller.Controller

	rec *Recorder
}

// Run implements [controller.Controller].
func (c *recordedController) Run(ctx context.Context, r controller.Runtime, logger *zap.Logger) error {
	l := &live{rec: c.rec, gate: newGate()}
	l.enter(begin{Controller: c.Name(), By: Started})

	shown := l.show(ctx)
	forwarded := make(chan struct{})

	go func() { // ends with the gate, and is waited for below
		defer close(forwarded)

		l.forward(c.Name(), r)
	}()

	o := broken // unless it returns

	defer func() {
		l.settle()
		shown.end()
		l.endWatches()
		close(l.gate.done)

		<-forwarded

		l.leave(o)
	}()

	err := c.Controller.Run(shown, &runAccess{access: access{trace: l, inner: r}, runtime: r, wakeups: l.wakeups}, logger)
	o = outcomeOf(nil, err)

	return err
}

// wakeups are those of the controller.
func (l *live) wakeups() <-chan controller.ReconcileEvent {
	l.settle()

	return l.gate.out
}

// forward hands the wakeups of the engine on. One that was not taken is given back.
func (l *live) forward(name string, r controller.Runtime) {
	taken := func() { l.enter(begin{Controller: name, By: Woken}) }

	for {
		select {
		case <-r.EventCh():
			if !l.gate.offer(taken, r.EventCh(), nil) {
				r.QueueReconcile()

				return
			}
		case <-l.gate.settled:
		case <-l.gate.done:
			return
		}
	}
}

var _ controller.Runtime = (*runAccess)(nil)

// runAccess is what a classic controller gets as its runtime while it is recorded or replayed.
type runAccess struct {
	access

	// runtime is what the engine has handed to the controller; nil in a replay.
	runtime controller.Runtime
	wakeups func() <-chan controller.ReconcileEvent
	// tracking tells whether a cleanup has something to go by: where it has not, an engine refuses it, and a replay has to
	// notice.
	tracking atomic.Bool
}

// EventCh implements [controller.Runtime].
func (a *runAccess) EventCh() <-chan controller.ReconcileEvent { return a.wakeups() }

// QueueReconcile implements [controller.Runtime]. What comes of it is a wakeup.
func (a *runAccess) QueueReconcile() {
	if a.runtime != nil {
		a.runtime.QueueReconcile()
	}
}

// ResetRestartBackoff implements [controller.Runtime].
func (a *runAccess) ResetRestartBackoff() {
	if a.runtime != nil {
		a.runtime.ResetRestartBackoff()
	}
}

// StartTrackingOutputs implements [controller.OutputTracker].
func (a *runAccess) StartTrackingOutputs() {
	a.tracking.Store(true)

	if a.runtime != nil {
		a.runtime.StartTrackingOutputs()
	}
}

// CleanupOutputs implements [controller.OutputTracker].
func (a *runAccess) CleanupOutputs(ctx context.Context, outputs ...resource.Kind) error {
	with := kindsText(outputs)
	if !a.tracking.Load() {
		with += " without tracking them"
	}

	err := a.ask(ctx, question{verb: "clean up outputs", with: with}, func(ctx context.Context) reply {
		return replyWithError(a.runtime.CleanupOutputs(ctx, outputs...))
	}).err
	if err == nil {
		a.tracking.Store(false)
	}

	return err
}

// UpdateInputs implements [controller.Runtime].
func (a *runAccess) UpdateInputs(inputs []controller.Input) error {
	return a.ask(context.Background(), question{verb: "update inputs", with: inputsText(inputs)}, func(context.Context) reply {
		return replyWithError(a.runtime.UpdateInputs(inputs))
	}).err
}
