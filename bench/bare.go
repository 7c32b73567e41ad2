package main

import (
	"context"
	"errors"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/owned"
	"go.uber.org/zap"
)

// bareRuntime is the least that one of the contract's own controllers can be run with: the state under the name of the
// controller, and a channel that holds a wakeup. Nothing is checked, cached or counted.
type bareRuntime struct {
	*owned.State

	state  state.State
	name   string
	events chan controller.ReconcileEvent
}

var _ controller.Runtime = (*bareRuntime)(nil)

var errBare = errors.New("there is no engine")

func (b *bareRuntime) EventCh() <-chan controller.ReconcileEvent { return b.events }

func (b *bareRuntime) QueueReconcile() {
	select {
	case b.events <- controller.ReconcileEvent{}:
	default:
	}
}

// Modify is what takes the least where the output is there already.
func (b *bareRuntime) Modify(
	ctx context.Context, empty resource.Resource, update func(resource.Resource) error, opts ...controller.ModifyOption,
) error {
	_, err := b.state.UpdateWithConflicts(ctx, empty.Metadata(), update, state.WithUpdateOwner(b.name))
	if state.IsNotFoundError(err) {
		return b.State.Modify(ctx, empty, update, opts...)
	}

	return err
}

func (b *bareRuntime) ResetRestartBackoff() {}

func (b *bareRuntime) UpdateInputs([]controller.Input) error { return errBare }

func (b *bareRuntime) GetUncached(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	return b.Get(ctx, ptr, opts...)
}

func (b *bareRuntime) ListUncached(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	return b.List(ctx, kind, opts...)
}

func (b *bareRuntime) StartTrackingOutputs() {}

func (b *bareRuntime) CleanupOutputs(context.Context, ...resource.Kind) error { return errBare }

// runBare runs classic controllers without an engine: a goroutine for each, and one for each watched type, which wakes those
// that read it.
func (t *trial) runBare(st state.State, controllers []controller.Controller) {
	woken, ready := map[resource.Type][]*bareRuntime{}, map[resource.Type][]*bareRuntime{}
	types := map[resource.Type]struct{}{}

	for _, ctrl := range controllers {
		b := &bareRuntime{owned.New(st, ctrl.Name()), st, ctrl.Name(), make(chan controller.ReconcileEvent, 1)}
		b.QueueReconcile()

		for _, in := range ctrl.Inputs() {
			types[in.Type] = struct{}{}

			if in.Kind == controller.InputDestroyReady {
				ready[in.Type] = append(ready[in.Type], b)
			} else {
				woken[in.Type] = append(woken[in.Type], b)
			}
		}

		go func() {
			if err := ctrl.Run(t.ctx, b, zap.NewNop()); err != nil {
				t.fail(err)
			}
		}()
	}

	for typ := range types {
		wake, ends := woken[typ], ready[typ]

		t.follow(st, typ, false, func(event state.Event) {
			if event.Resource == nil {
				return
			}

			for _, b := range wake {
				b.QueueReconcile()
			}

			if md := event.Resource.Metadata(); md.Phase() == resource.PhaseTearingDown && md.Finalizers().Empty() {
				for _, b := range ends {
					b.QueueReconcile()
				}
			}
		})
	}
}
