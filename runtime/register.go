package runtime

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cause"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/siderolabs/gen/xerrors"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/time/rate"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/adapter/qruntime"
	"github.com/switchyard-run/switchyard/adapter/rruntime"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/origin"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// RegisterController registers a classic controller, before the engine runs or while it does, also from inside another
// controller. Name, Inputs and Outputs are read once. It is all or nothing: after an error, a
// dependency.DeclarationError or [ErrStopped], everything is as it was.
//
// While the engine runs, it returns once the watches that the controller needs have been opened, or failed to open
// once, and the controller was started.
func (r *Runtime) RegisterController(ctrl controller.Controller) error {
	c := &classicEntry{entry: entry{runtime: r}}
	e := &c.entry
	name, inputs, outputs := ctrl.Name(), ctrl.Inputs(), ctrl.Outputs()

	return r.register(name, e, dependency.Classic, inputs, outputs, func() {
		e.classic = &c.adapter
		e.classic.Init(rruntime.Config{
			Shared:     r.classics,
			Controller: ctrl,
			Inputs:     e,
			Guard:      r.guard(e, outputs, nil, 1),
			Metrics:    r.metrics,
			Deadline:   r.deadline(e),
		})
	})
}

// RegisterQController registers a queue controller, in the same way. Name and Settings are read once.
func (r *Runtime) RegisterQController(ctrl controller.QController) error {
	e := &entry{runtime: r}
	name, settings := ctrl.Name(), ctrl.Settings()

	if n, set := settings.Concurrency.Get(); set && (n == 0 || int(n) < 0) {
		return &dependency.DeclarationError{
			Reason: dependency.ErrInvalidInput, Controller: name, Resource: fmt.Sprintf("Settings().Concurrency is %d", n),
			Hint: "give at least 1, or leave it out for 1",
		}
	}

	return r.register(name, e, dependency.Queue, settings.Inputs, settings.Outputs, func() {
		counted := r.metrics.Queue(name)
		guard := r.guard(e, settings.Outputs, &counted.Calls, passesAtOnce(&settings))

		if !r.cfg.NoDamping {
			guard.Own = origin.NewOwn(settings.Inputs, func(change reduced.Metadata, kind controller.InputKind, own bool) {
				e.queue.Decided(change, kind, own)
			})
		}

		e.queue = qruntime.New(qruntime.Config{
			Controller: ctrl,
			Settings:   &settings,
			Runtime:    stateadapter.New(guard),
			Skipped:    xerrors.TagIs[qtransform.SkipReconcileTag],
			Everything: func() { r.fill(e, nil) },
			Deadline:   r.deadline(e),
			Own:        guard.Own,
			Trace:      guard.Trace,
			Crew:       &r.crew,
			Clock:      r.cfg.Clock,
			Backoff:    r.cfg.Backoff,
			Random:     backoff.NewRandom(r.cfg.Seed, name).Float64,
			Metrics:    counted,
			Logger:     guard.Logger,
		})
	})
}

// passesAtOnce is how many passes of a queue controller may run at once, its run hook being one of them.
func passesAtOnce(settings *controller.QSettings) int {
	passes := int(min(settings.Concurrency.ValueOr(1), math.MaxInt32))

	if settings.RunHook != nil {
		passes++
	}

	return passes
}

// named returns the logger of a controller, which names it. With most loggers a field costs a kilobyte, which controllers
// that never log need not pay.
func named(logger *zap.Logger, name string) *zap.Logger {
	if logger.Core() == zapcore.NewNopCore() {
		return logger
	}

	return logger.WithLazy(zap.String("controller", name))
}

// deadline returns the deadline of the passes of a controller, or nil.
func (r *Runtime) deadline(e *entry) *adapter.Deadline {
	after := r.cfg.deadline(e.name())
	if after == 0 {
		return nil
	}

	return &adapter.Deadline{Controller: e.name(), After: after, Exceeded: r.exceeded}
}

// guard describes the view of the state that a controller gets, and makes it known to who looks for rivals, if it may have any.
func (r *Runtime) guard(e *entry, outputs []controller.Output, counted *metrics.Calls, passes int) stateadapter.Config {
	cfg := stateadapter.Config{
		Shared: r.guards, Name: e.name(), Declared: e.node, Metrics: counted, Logger: named(r.logger, e.name()),
	}

	if r.cfg.Passes > 0 {
		e.trace = cause.New(cause.Config{Controller: e.name(), Passes: r.cfg.Passes, Workers: passes})
		cfg.Trace = e.trace
	}

	if r.opts.ChangeRateLimit != rate.Inf {
		cfg.Limiter = rate.NewLimiter(r.opts.ChangeRateLimit, r.opts.ChangeBurst)
	}

	if slices.ContainsFunc(outputs, func(out controller.Output) bool { return out.Kind == controller.OutputShared }) {
		cfg.Writer = r.rivals.Enter(e.name())
	}

	return cfg
}

// register declares a controller, has it built once the declaration was accepted, and starts it if the engine runs.
func (r *Runtime) register(
	name string, e *entry, form dependency.Form, inputs []controller.Input, outputs []controller.Output, build func(),
) error {
	node, err := r.db.Register(name, form, e, inputs, outputs, func(node *dependency.Node[*entry]) {
		e.node = node
		build()
	})
	if err != nil {
		return err
	}

	ctx, counted, err := r.enter(e)
	if err != nil {
		r.db.Remove(node)

		return r.describe(name, err)
	}

	if counted {
		e.classic.Admit()
	}

	if ctx == nil {
		return nil
	}

	failed := r.watch(ctx, node)
	if failed == nil || r.cfg.OnWatchFailure != EndRun {
		if e.queue != nil {
			r.fill(e, nil)
		}

		failed = r.start(e)
	}

	if failed != nil {
		r.withdraw(e)

		return r.describe(name, failed)
	}

	return nil
}

// watch has the watches opened that a declared controller needs, and returns when the first attempt to open each has come to an
// end, with the failure of the first that could not be opened. Mostly all are open for others already.
func (r *Runtime) watch(ctx context.Context, node *dependency.Node[*entry]) error {
	var room [8]reduced.Kind

	if kinds, ok := node.Woken(room[:0]); ok && r.cfg.OnWatchFailure != EndRun && r.watches.opened(kinds) {
		return nil
	}

	kinds := node.Kinds()
	r.watches.adjust(kinds)

	return r.watches.attempted(ctx, kinds)
}

// enter takes a declared controller into the engine, and returns the context of the run where it runs already. Otherwise
// Run comes to start the controller. It tells whether the wakeup that the controller begins with is to be counted now.
func (r *Runtime) enter(e *entry) (ctx context.Context, counted bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	switch r.phase {
	case stopped:
		return nil, false, ErrStopped
	case running:
		e.entered = true
		e.showQueue(r.metrics)

		return r.ctx, e.classic != nil, nil
	default:
		e.entered = true
		e.waits = e.classic != nil && r.admitted == admittedAtOnce

		if e.classic == nil || e.waits {
			return nil, false, nil
		}

		r.admitted++

		return nil, true, nil
	}
}

// find returns the registered controller of the name.
func (r *Runtime) find(name string) (*entry, error) {
	if node, ok := r.db.Get(name); ok {
		r.mu.Lock()
		defer r.mu.Unlock()

		if e := node.Target(); e.entered {
			return e, nil
		}
	}

	return nil, r.describe(name, ErrNotRegistered)
}

// withdraw takes a controller out that was never started, or has ended.
func (r *Runtime) withdraw(e *entry) {
	r.watches.adjust(r.db.Remove(e.node))
	r.rivals.Left(e.name())

	r.mu.Lock()
	defer r.mu.Unlock()

	e.entered = false
	e.length.Remove()
}

// start starts a controller unless the run has ended or the controller is being unregistered.
func (r *Runtime) start(e *entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	switch {
	case r.phase != running || r.ctx.Err() != nil:
		return ErrStopped
	case e.gone != nil:
		return ErrUnregistering
	case e.started:
		return nil
	}

	e.started = true
	e.ctx, e.cancel = context.WithCancel(adapter.Labelled(r.ctx, e.name()))
	e.unit().Start((*inside)(e))

	return nil
}

// UpdateInputs puts new inputs of a classic controller in force and has their watches opened.
func (e *entry) UpdateInputs(inputs []controller.Input) error {
	r := e.runtime

	e.updating.Lock()
	defer e.updating.Unlock()

	touched, err := r.db.SetInputs(e.node, dependency.Classic, inputs)
	if err != nil {
		return err
	}

	if len(touched) == 0 {
		return nil
	}

	r.watches.adjust(touched)

	r.mu.Lock()
	ctx := e.ctx
	r.mu.Unlock()

	if ctx != nil {
		// A kind that can not be opened now is opened later, and wakes the controller then; under EndRun the run ends.
		r.watches.attempted(ctx, touched)
	}

	return nil
}

// Unregister stops a controller, waits for it to end, and frees its name, its claims, and the watches that nobody else
// needs. It may be called before, during and after Run, and from inside other controllers. When the context ends first,
// its error is returned and the controller goes on being unregistered; call again to go on waiting.
//
// A controller can not unregister itself: called with a context that the controller was handed, Unregister returns
// [ErrUnregistersItself]. With any other context it would wait for itself until that ends.
func (r *Runtime) Unregister(ctx context.Context, name string) error {
	if ctx.Value(insideKey{r}) == name {
		return r.describe(name, ErrUnregistersItself)
	}

	e, err := r.find(name)
	if err != nil {
		return err
	}

	r.mu.Lock()

	if e.gone == nil {
		e.gone = make(chan struct{})

		if r.phase != stopped {
			r.ending.Go(func() { r.remove(e) })
		} else {
			// Run waits for the controller itself, or has returned; nobody may begin what it waits for any more.
			go r.remove(e)
		}
	}
	gone := e.gone
	r.mu.Unlock()

	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("controller %q has not ended yet and goes on being unregistered: %w", name, context.Cause(ctx))
	}
}

// remove ends a controller and forgets it. Until it has ended, its declarations stand: it may put things in order.
func (r *Runtime) remove(e *entry) {
	defer close(e.gone)

	r.mu.Lock()

	if e.cancel != nil {
		e.cancel()
	}

	e.stop()
	r.mu.Unlock()

	<-e.done

	r.departed.note(e)
	r.withdraw(e)
}
