package main

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/stateadapter"
)

// queued is a queue controller that makes one output of each primary input, of the same id, and holds the input with a
// finalizer until the output has gone.
type queued struct {
	group    *group
	name     string
	settings controller.QSettings
	output   string
	make     func(ctx context.Context, r controller.QRuntime, input resource.Resource) error
	mapped   func(md controller.ReducedResourceMetadata) resource.Pointer
}

// Name implements the contract's interface.
func (q *queued) Name() string { return q.name }

// Settings implements the contract's interface.
func (q *queued) Settings() controller.QSettings { return q.settings }

// MapInput implements the contract's interface.
func (q *queued) MapInput(
	_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	if err := q.group.faults.trip(); err != nil {
		return nil, err
	}

	return []resource.Pointer{q.mapped(md)}, nil
}

// Reconcile implements the contract's interface.
func (q *queued) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	return q.group.faults.pass(func() error { return q.reconcile(ctx, r, ptr) })
}

func (q *queued) reconcile(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
	input, err := r.Get(ctx, ptr)

	switch {
	case state.IsNotFoundError(err):
		return nil // it could not go before its output had gone
	case err != nil:
		return err
	}

	held := input.Metadata().Finalizers().Has(q.name)

	if !running(input) {
		if !held {
			return nil
		}

		return q.release(ctx, r, ptr)
	}

	if !held {
		err = stateadapter.AddFinalizerIfRunning(ctx, r, ptr, q.name)

		switch {
		case state.IsNotFoundError(err) || state.IsPhaseConflictError(err):
			return nil // which is a change that is still to come
		case err != nil:
			return err
		}
	}

	return q.make(ctx, r, input)
}

// release destroys the output and then lets go of the input. While others hold the output, it waits to be called again.
func (q *queued) release(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
	output := q.group.pointer(q.output, ptr.ID())

	ready, err := r.Teardown(ctx, output)
	if err == nil && ready {
		err = r.Destroy(ctx, output)
	}

	switch {
	case state.IsNotFoundError(err):
	case err != nil:
		return err
	case !ready:
		return nil
	}

	return r.RemoveFinalizer(ctx, ptr, q.name)
}

// newCopier returns the controller that copies sources. A copy is held by who joins it, so the controller wants to know
// when it is let go.
func newCopier(g *group, name string) member {
	return member{queue: &queued{
		group: g, name: name, output: copies,
		settings: controller.QSettings{
			Inputs: []controller.Input{
				g.input(sources, controller.InputQPrimary),
				g.input(copies, controller.InputQMappedDestroyReady),
			},
			Outputs:     g.output(copies),
			Concurrency: optional.Some[uint](2),
		},
		make: func(ctx context.Context, r controller.QRuntime, source resource.Resource) error {
			return r.Modify(ctx, newRecord(g.pointer(copies, source.Metadata().ID())),
				setting(copied(specOf(source).Value), label(source, bucketLabel)))
		},
		mapped: func(md controller.ReducedResourceMetadata) resource.Pointer { return g.pointer(sources, md.ID()) },
	}}
}

// newJoiner returns the controller that joins each copy with the notes that are about its source.
func newJoiner(g *group, name string) member {
	return member{queue: &queued{
		group: g, name: name, output: joins,
		settings: controller.QSettings{
			Inputs: []controller.Input{
				g.input(copies, controller.InputQPrimary),
				g.input(notes, controller.InputQMapped),
			},
			Outputs:     g.output(joins),
			Concurrency: optional.Some[uint](2),
		},
		make: func(ctx context.Context, r controller.QRuntime, made resource.Resource) error {
			about, err := r.List(ctx, g.kind(notes), state.WithLabelQuery(resource.LabelEqual(aboutLabel, made.Metadata().ID())))
			if err != nil {
				return err
			}

			sum := specOf(made).Value

			for _, note := range about.Items {
				sum += specOf(note).Value
			}

			return r.Modify(ctx, newRecord(g.pointer(joins, made.Metadata().ID())), setting(sum, ""))
		},
		mapped: func(md controller.ReducedResourceMetadata) resource.Pointer {
			about, _ := md.Labels().Get(aboutLabel)

			return g.pointer(copies, about)
		},
	}}
}

// copied is the value of a copy.
func copied(value int64) int64 { return 2*value + 1 }
