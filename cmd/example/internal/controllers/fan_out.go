package controllers

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// FanOutController splits the document into resources of one type. One document becomes many resources, so it is no
// transform. One that has left the document stays, torn down, as long as somebody holds a finalizer on it.
type FanOutController[S typed.DeepCopyable[S], E typed.Extension] struct {
	name  string
	split func(document.Machine) []*typed.Resource[S, E]
}

// Name implements [controller.Controller].
func (ctrl *FanOutController[S, E]) Name() string { return ctrl.name }

// Inputs implements [controller.Controller].
func (ctrl *FanOutController[S, E]) Inputs() []controller.Input {
	return []controller.Input{
		safe.Input[*resources.Document](controller.InputWeak),
		// The last finalizer that goes is a reason to look.
		safe.Input[*typed.Resource[S, E]](controller.InputDestroyReady),
	}
}

// Outputs implements [controller.Controller].
func (ctrl *FanOutController[S, E]) Outputs() []controller.Output {
	var kind generic.ResourceWithRD = &typed.Resource[S, E]{}

	return []controller.Output{{Type: kind.ResourceDefinition().Type, Kind: controller.OutputExclusive}}
}

// Run implements [controller.Controller].
func (ctrl *FanOutController[S, E]) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		doc, err := found(safe.ReaderGetByID[*resources.Document](ctx, r, resources.TheMachine))
		if err != nil {
			return err
		}

		var wanted []*typed.Resource[S, E]

		if doc != nil {
			wanted = ctrl.split(doc.TypedSpec().Machine)
		}

		if err := fanOut(ctx, r, ctrl.name, wanted); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

// fanOut makes the resources that a controller owns of one type be exactly those that are wanted, spec and labels.
// One that is not wanted any more is torn down, and destroyed when its finalizers have gone; the controller learns
// of that through an input of kind [controller.InputDestroyReady] on the type. One that is wanted again before it has
// gone is made anew after that.
func fanOut[S typed.DeepCopyable[S], E typed.Extension](
	ctx context.Context, rw controller.ReaderWriter, owner string, wanted []*typed.Resource[S, E],
) error {
	keep := make(map[resource.ID]bool, len(wanted))

	for _, r := range wanted {
		keep[r.Metadata().ID()] = true
	}

	existing, err := safe.ReaderListAll[*typed.Resource[S, E]](ctx, rw)
	if err != nil {
		return fmt.Errorf("cannot list what was made before: %w", err)
	}

	leaving := make(map[resource.ID]bool)

	for r := range existing.All() {
		md := r.Metadata()

		if md.Owner() != owner || keep[md.ID()] && md.Phase() == resource.PhaseRunning {
			continue
		}

		ready, err := rw.Teardown(ctx, md)
		if err != nil {
			return fmt.Errorf("cannot tear down %s: %w", md, err)
		}

		if !ready {
			leaving[md.ID()] = true

			continue
		}

		if err := rw.Destroy(ctx, md); err != nil {
			return fmt.Errorf("cannot destroy %s: %w", md, err)
		}
	}

	for _, want := range wanted {
		if leaving[want.Metadata().ID()] {
			continue
		}

		empty := typed.NewResource[S, E](
			resource.NewMetadata(want.Metadata().Namespace(), want.Metadata().Type(), want.Metadata().ID(), resource.VersionUndefined),
			*new(S),
		)

		if err := safe.WriterModify(ctx, rw, empty, func(r *typed.Resource[S, E]) error {
			*r.TypedSpec() = (*want.TypedSpec()).DeepCopy()
			*r.Metadata().Labels() = *want.Metadata().Labels()

			return nil
		}); err != nil {
			return fmt.Errorf("cannot write %s: %w", want.Metadata(), err)
		}
	}

	return nil
}
