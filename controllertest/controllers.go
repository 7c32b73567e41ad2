package controllertest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter/rruntime"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// registrar registers controllers with the engine so that each of their passes waits for its turn.
type registrar struct{ life *life }

var _ controller.Engine = registrar{}

// RegisterController implements [controller.Engine].
func (r registrar) RegisterController(ctrl controller.Controller) error {
	if err := r.life.world.cast.enter(ctrl, ctrl.Name()); err != nil {
		return err
	}

	return r.life.engine.RegisterController(&classic{Controller: ctrl, life: r.life})
}

// RegisterQController implements [controller.Engine].
func (r registrar) RegisterQController(ctrl controller.QController) error {
	if err := r.life.world.cast.enter(ctrl, ctrl.Name()); err != nil {
		return err
	}

	q := &queued{QController: ctrl, life: r.life}

	before, replaced := r.life.queues[ctrl.Name()]
	r.life.queues[ctrl.Name()] = q

	err := r.life.engine.RegisterQController(q)
	if err != nil && replaced {
		r.life.queues[ctrl.Name()] = before
	} else if err != nil {
		delete(r.life.queues, ctrl.Name())
	}

	return err
}

// Run implements [controller.Engine]: it refuses, since the world runs the engine.
func (registrar) Run(context.Context) error {
	return errors.New("the world runs the engine: leave Run out, Start does it")
}

// classic is a classic controller whose wakeups wait for their turn.
type classic struct {
	controller.Controller

	life *life
}

// Run implements [controller.Controller].
func (c *classic) Run(ctx context.Context, r controller.Runtime, logger *zap.Logger) (err error) {
	w, name := c.life.world, c.Name()

	by := newActor(name, "starts")

	if err = w.takeTurn(ctx, passing, by, by.String()); err != nil {
		return nil // it was stopped before it began
	}

	adapter, ok := r.(*rruntime.Adapter)
	if !ok {
		return fmt.Errorf("controllertest: controller %q was handed a %T, which is not of this engine", name, r)
	}

	g := &gated{Adapter: adapter, reader: reader{&adapter.Adapter, w}, events: make(chan controller.ReconcileEvent), by: by, inputs: c.Inputs()}
	g.why(w)

	var forwarding sync.WaitGroup

	done := make(chan struct{})

	forwarding.Go(func() { g.forward(w, done) })

	defer func() {
		close(done)
		forwarding.Wait()
		w.ended(ctx, by, recover(), err)
	}()

	return c.Controller.Run(withActor(ctx, by), g, logger)
}

// gated is what a classic controller gets as its runtime.
type gated struct {
	*rruntime.Adapter
	reader

	events chan controller.ReconcileEvent
	by     *actor

	// mu guards the fields below: the inputs that are in force, and how much of the news the controller was woken for.
	mu     sync.Mutex
	inputs []controller.Input
	known  int
}

// EventCh implements [controller.Runtime].
func (g *gated) EventCh() <-chan controller.ReconcileEvent { return g.events }

// UpdateInputs implements [controller.Runtime].
func (g *gated) UpdateInputs(inputs []controller.Input) error {
	if err := g.Adapter.UpdateInputs(inputs); err != nil {
		return err
	}

	g.mu.Lock()
	defer g.mu.Unlock()

	g.inputs = append([]controller.Input(nil), inputs...)

	return nil
}

// forward lets the controller have its wakeups, each when it is its turn and the controller is ready for it. What comes
// until then is one with it, as it is without a gate.
func (g *gated) forward(w *World, done <-chan struct{}) {
	for {
		var event controller.ReconcileEvent

		select {
		case <-done:
			return
		case event = <-g.Adapter.EventCh():
		}

		handed := make(chan struct{})
		turn := &gate{class: passing, name: g.by.controller + ": wakes", by: g.by, try: func() bool {
			select {
			case <-g.Adapter.EventCh():
			default:
			}

			before, turn := g.by.doing.Load(), g.by.turn.Load()
			g.by.does("wakes")
			g.by.turn.Store(int64(w.sched.turns()))

			select {
			case g.events <- event:
			default:
				g.by.doing.Store(before)
				g.by.turn.Store(turn)

				return false
			}

			close(handed)
			g.why(w)

			return true
		}}

		w.sched.add(turn)

		select {
		case <-handed:
		case <-done:
			w.sched.remove(turn)

			return
		}
	}
}

// why notes what the controller has been woken for.
func (g *gated) why(w *World) {
	g.mu.Lock()
	defer g.mu.Unlock()

	var why string

	why, g.known = w.news.since(g.known, func(ptr resource.Pointer) bool {
		for _, in := range g.inputs {
			if in.Namespace == ptr.Namespace() && in.Type == ptr.Type() && in.ID.ValueOr(ptr.ID()) == ptr.ID() {
				return true
			}
		}

		return false
	})

	w.trace.because(why)
}

// queued is a queue controller whose passes wait for their turn.
type queued struct {
	controller.QController

	life  *life
	debts *debts
}

// Settings implements [controller.QController].
func (q *queued) Settings() controller.QSettings {
	settings := q.QController.Settings()
	q.debts = newDebts(settings)

	if hook := settings.RunHook; hook != nil {
		settings.RunHook = func(ctx context.Context, logger *zap.Logger, r controller.QRuntime) error {
			return hook(withActor(ctx, newActor(q.Name(), "run hook")), logger, q.gated(r))
		}
	}

	return settings
}

// gated returns the runtime with its reads.
func (q *queued) gated(r controller.QRuntime) controller.QRuntime {
	adapter, ok := r.(*stateadapter.Adapter)
	if !ok {
		return r
	}

	return queueRuntime{rest{adapter}, reader{adapter, q.life.world}}
}

// Reconcile implements [controller.QController].
func (q *queued) Reconcile(ctx context.Context, logger *zap.Logger, r controller.QRuntime, ptr resource.Pointer) (err error) {
	by := newActor(q.Name(), "reconciles "+short(ptr))
	w := q.life.world

	if needed := q.debts.begins(ptr); !needed && w.faults.none() {
		w.Errorf("%s, although nothing has happened since its last pass on it", by)
	}

	returned := false

	defer func() { q.debts.ends(ptr, err != nil || !returned) }()

	if err = w.takeTurn(ctx, passing, by, by.String()); err != nil {
		return err
	}

	w.trace.because(w.news.about(q.Name(), ptr))

	defer func() { w.ended(ctx, by, recover(), err) }()

	err = q.QController.Reconcile(withActor(ctx, by), logger, q.gated(r), ptr)
	returned = true

	return err
}

// MapInput implements [controller.QController].
func (q *queued) MapInput(
	ctx context.Context, logger *zap.Logger, r controller.QRuntime, md controller.ReducedResourceMetadata,
) (mapped []resource.Pointer, err error) {
	by := newActor(q.Name(), "maps "+short(md))
	w := q.life.world

	defer q.debts.maps(md)()

	if err = w.takeTurn(ctx, passing, by, by.String()); err != nil {
		return nil, err
	}

	why := w.news.about(q.Name()+" map", md)
	w.trace.because(why)

	defer func() {
		for _, ptr := range mapped {
			if ptr != nil {
				q.debts.mapsTo(ptr)
				w.news.mapped(q.Name(), ptr, short(md), why)
			}
		}

		w.ended(ctx, by, recover(), err)
	}()

	return q.QController.MapInput(withActor(ctx, by), logger, q.gated(r), md)
}

// ended notes how a pass has ended, and panics again if it did so.
func (w *World) ended(ctx context.Context, by *actor, panicked any, err error) {
	var requeue *controller.RequeueError

	switch {
	case panicked != nil:
		w.trace.note(by.String(), "panics: %v", panicked)
		w.stirred()
		panic(panicked)
	case err == nil || ctx.Err() != nil:
	case errors.As(err, &requeue) && requeue.Err() == nil:
		w.trace.note(by.String(), "asks to run again after %s", requeue.Interval())
	default:
		w.trace.note(by.String(), "fails: %s", err)
		w.stirred()
	}
}
