package controllertest

import (
	"context"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// stage is the state as the script sees it: its writes wait for their turn, and are noted.
type stage struct {
	state.CoreState

	world *World
}

// State returns the state for the script. Its calls do not fail but for reasons of their own; each write waits for its turn
// among all that can happen.
func (w *World) State() state.State { return state.WrapCore(&stage{CoreState: w.core, world: w}) }

// Create implements [state.CoreState].
func (s *stage) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	return s.write("create", res.Metadata(), func() error { return s.CoreState.Create(ctx, res, opts...) }, res)
}

// Update implements [state.CoreState].
func (s *stage) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	return s.write("update", res.Metadata(), func() error { return s.CoreState.Update(ctx, res, opts...) }, res)
}

// Destroy implements [state.CoreState].
func (s *stage) Destroy(ctx context.Context, ptr resource.Pointer, opts ...state.DestroyOption) error {
	return s.write("destroy", ptr, func() error { return s.CoreState.Destroy(ctx, ptr, opts...) }, nil)
}

func (s *stage) write(verb string, ptr resource.Pointer, do func() error, res resource.Resource) error {
	w := s.world
	call := verb + " " + short(ptr)

	w.saw(ptr)
	w.act(verb + "s " + short(ptr))

	err := do()
	if err != nil {
		w.trace.note("script", "%s: %s", call, err)

		return err
	}

	w.stirred()
	w.trace.note("script", "%s", describe(call, res))

	if res != nil {
		w.news.wrote(ptr, res.Metadata().Version(), "the script")
	} else {
		w.news.destroyed(ptr, "the script")
	}

	return nil
}

// Do waits for the script's turn, and calls the function. It is for what is done to the engine, or to a fake of the outside
// world: what tells the trace, and when it comes is a matter of the schedule.
func (w *World) Do(what string, fn func()) {
	w.act(what)
	fn()
}

// Pick decides for one of n, from 0 on, for scripts and fakes that are not the same for every seed. What tells the decision
// from all others of the run: the same text is the same decision, however often it is asked for, so a fake that fails now and
// then has to number its attempts. 0 is the calm one, and what a failing run is made short to: let it be the one that does
// least.
func (w *World) Pick(what string, n int) int { return w.draws.pick(picking+what, n) }

// Create creates the resources, in turn.
func (w *World) Create(all ...resource.Resource) {
	for _, res := range all {
		if err := w.State().Create(w.Context(), res); err != nil {
			w.Fatalf("the script can not create %s: %s", short(res.Metadata()), err)
		}
	}
}

// Update changes a resource that is there. The function may be called again, after a conflict.
func Update[T resource.Resource](w *World, ptr resource.Pointer, change func(T)) {
	_, err := w.State().UpdateWithConflicts(w.Context(), ptr, func(res resource.Resource) error {
		change(typed[T](w, res))

		return nil
	}, state.WithExpectedPhaseAny(), ownedAsIs(w, ptr))
	if err != nil {
		w.Fatalf("the script can not update %s: %s", short(ptr), err)
	}
}

// ownedAsIs lets the script write what belongs to a controller.
func ownedAsIs(w *World, ptr resource.Pointer) state.UpdateOption {
	res, err := w.core.Get(w.Context(), ptr)
	if err != nil {
		return func(*state.UpdateOptions) {}
	}

	return state.WithUpdateOwner(res.Metadata().Owner())
}

// Destroy tears a resource down and destroys it as soon as nobody holds it any more. It does not wait for that: what is
// held is destroyed while the world settles.
func (w *World) Destroy(ptr resource.Pointer) {
	ready, err := w.State().Teardown(w.Context(), ptr)
	if err != nil {
		w.Fatalf("the script can not tear %s down: %s", short(ptr), err)
	}

	if ready {
		// Controllers may destroy what is torn down, and have been quicker then.
		if err = w.State().Destroy(w.Context(), ptr); err != nil && !state.IsNotFoundError(err) {
			w.Fatalf("the script can not destroy %s: %s", short(ptr), err)
		}

		return
	}

	w.later.Go(func() {
		ctx := w.Context()

		if _, err := w.State().WatchFor(ctx, ptr, state.WithFinalizerEmpty()); err != nil {
			return // the run has ended, or somebody else has destroyed it
		}

		err := w.State().Destroy(ctx, ptr)
		if err != nil && !state.IsNotFoundError(err) && ctx.Err() == nil {
			w.Errorf("the script can not destroy %s: %s", short(ptr), err)
		}
	})
}
