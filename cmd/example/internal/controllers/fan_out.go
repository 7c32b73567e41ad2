package controllers

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
)

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
