package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"
)

// EventTTL is how long an [EventResource] is kept after it was recorded last.
const EventTTL = time.Hour

func newEvent(md resource.Metadata) *EventResource {
	return typed.NewResource[EventSpec, EventExtension](md, EventSpec{})
}

// EventSweeper returns a controller that removes the events of a namespace that were recorded last more than a time ago; 0 is
// [EventTTL]. [Register] and [App] have one for each namespace that events are written in.
func EventSweeper(ns resource.Namespace, ttl time.Duration) controller.QController {
	if ttl <= 0 {
		ttl = EventTTL
	}

	return &sweeper{ns, ttl}
}

type sweeper struct {
	namespace resource.Namespace
	ttl       time.Duration
}

// Name implements the contract.
func (s *sweeper) Name() string { return fmt.Sprintf("EventSweeper[%s]", s.namespace) }

// Settings implements the contract.
func (s *sweeper) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs:  []controller.Input{{Namespace: s.namespace, Type: EventType, Kind: controller.InputQPrimary}},
		Outputs: []controller.Output{{Type: EventType, Kind: controller.OutputShared}},
	}
}

// MapInput implements the contract; there is nothing to map.
func (*sweeper) MapInput(_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, fmt.Errorf("unexpected input %s", md.Type())
}

// Reconcile implements the contract.
func (s *sweeper) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	event, err := safe.ReaderGet[*EventResource](ctx, r, ptr)
	if state.IsNotFoundError(err) {
		return nil
	}

	if err != nil {
		return err
	}

	if left := s.ttl - clockOf(ctx).Since(event.TypedSpec().Last); left > 0 {
		return controller.NewRequeueInterval(left)
	}

	err = r.Destroy(ctx, ptr, controller.WithOwner(event.Metadata().Owner()))
	if state.IsNotFoundError(err) {
		return nil
	}

	return err
}
