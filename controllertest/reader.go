package controllertest

import (
	"context"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// reader is what a controller reads through: a read that had to wait, for the first contents of a cache, waits for its turn
// as well before it returns. Otherwise all who wait for the same contents would go on at once.
type reader struct {
	adapter *stateadapter.Adapter
	world   *World
}

// queueRuntime is what a queue controller gets as its runtime: all that the engine's offers, with the reads of reader, which
// stand nearer.
type queueRuntime struct {
	rest
	reader
}

type rest struct{ *stateadapter.Adapter }

// Get implements the contract's Reader.
func (r reader) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (res resource.Resource, err error) {
	err = r.inTurn(ctx, "get "+short(ptr), func() (err error) {
		res, err = r.adapter.Get(ctx, ptr, opts...)

		return err
	})

	return res, err
}

// List implements the contract's Reader.
func (r reader) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (list resource.List, err error) {
	err = r.inTurn(ctx, "list "+shortType(kind.Type()), func() (err error) {
		list, err = r.adapter.List(ctx, kind, opts...)

		return err
	})

	return list, err
}

// View implements [stateadapter.Viewer].
func (r reader) View(ctx context.Context, kind resource.Kind) (view cache.View, err error) {
	err = r.inTurn(ctx, "view "+shortType(kind.Type()), func() (err error) {
		view, err = r.adapter.View(ctx, kind)

		return err
	})

	return view, err
}

// Barrier implements [stateadapter.Barrierer].
func (r reader) Barrier(ctx context.Context, kinds ...resource.Kind) error {
	return r.inTurn(ctx, "barrier", func() error { return r.adapter.Barrier(ctx, kinds...) })
}

// inTurn reads, and reads once more in a turn of its own if it had to wait.
func (r reader) inTurn(ctx context.Context, call string, read func() error) error {
	by := actorOf(ctx)

	err := read()
	if err != nil || by == engine || by.turn.Load() == int64(r.world.sched.turns()) {
		return err
	}

	if err = r.world.mayAct(ctx, by, call); err != nil {
		return err
	}

	return read()
}
