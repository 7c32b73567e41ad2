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
