package controllertest

import (
	"context"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/resource"
)

// actor is who calls the state: a controller in one of its passes, or the engine for itself.
type actor struct {
	controller string
	doing      atomic.Pointer[string]
	// turn is the one that the actor had last. What it does in another one it has no turn for: it was waiting, for first
	// contents or for a lock, and was let go on with others.
	turn atomic.Int64
}

// engine calls the state when no controller does.
var engine = &actor{controller: "engine"}

func newActor(controller, doing string) *actor {
	a := &actor{controller: controller}
	a.does(doing)

	return a
}

func (a *actor) does(what string) { a.doing.Store(&what) }

// String names the controller and its pass.
func (a *actor) String() string {
	if doing := a.doing.Load(); doing != nil {
		return a.controller + ": " + *doing
	}

	return a.controller
}

// mayAct returns once the actor has a turn, for a call of the state. The engine needs none.
func (w *World) mayAct(ctx context.Context, by *actor, call string) error {
	if by == engine || by.turn.Load() == int64(w.sched.turns()) {
		return nil
	}

	return w.takeTurn(ctx, resuming, by, by.String()+" goes on with "+call)
}

// takeTurn waits for a turn of the actor.
func (w *World) takeTurn(ctx context.Context, class class, by *actor, name string) error {
	if err := w.sched.wait(ctx, class, name, by); err != nil {
		return err
	}

	by.turn.Store(int64(w.sched.turns()))

	return nil
}

type actorKey struct{}

func withActor(ctx context.Context, a *actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

func actorOf(ctx context.Context) *actor {
	if a, ok := ctx.Value(actorKey{}).(*actor); ok {
		return a
	}

	return engine
}

// short names a resource in traces: what is before the first dot of its type, and its id.
func short(ptr resource.Pointer) string { return shortType(ptr.Type()) + "/" + ptr.ID() }

func shortType(typ resource.Type) string {
	for i := range len(typ) {
		if typ[i] == '.' {
			return typ[:i]
		}
	}

	return typ
}
