package simulation

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"
)

// tripler is a node of the form triple.
type tripler struct {
	*node

	*witness
}

func (t *tripler) Name() string { return t.name() }

func (t *tripler) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs: []controller.Input{
			{Namespace: namespace, Type: t.inputs[0], Kind: controller.InputQPrimary},
			{Namespace: namespace, Type: t.output(), Kind: controller.InputQMappedDestroyReady},
		},
		Outputs:     []controller.Output{{Type: t.output(), Kind: controller.OutputExclusive}},
		Concurrency: optional.Some(t.workers),
	}
}

func (t *tripler) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	defer t.pass(t.name(), ptr)()

	out := newValue(t.output(), ptr.ID()).Metadata()

	v, err := safe.ReaderGet[*value](ctx, r, ptr)
	if state.IsNotFoundError(err) {
		return nil
	}

	if err != nil {
		return err
	}

	t.read(t.name(), v)

	if v.Metadata().Phase() == resource.PhaseTearingDown {
		if v.Metadata().Finalizers().Has(t.name()) {
			if gone, err := remove(ctx, r, out); err != nil || !gone {
				return err
			}
		}

		return r.RemoveFinalizer(ctx, ptr, t.name())
	}

	if err := r.AddFinalizer(ctx, ptr, t.name()); err != nil {
		return err
	}

	have, err := safe.ReaderGet[*value](ctx, r, out)
	if err != nil && !state.IsNotFoundError(err) {
		return err
	}

	if err == nil && have.Metadata().Phase() == resource.PhaseTearingDown {
		// The resource was destroyed and created again before the one that was made from the former one has gone.
		if gone, err := remove(ctx, r, out); err != nil || !gone {
			return err
		}
	}

	from := entryOf(v)

	return put(ctx, r, t.witness, t.name(), t.output(), ptr.ID(), entry{3*from.n + 1, from.parent})
}

func (t *tripler) MapInput(_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return []resource.Pointer{newValue(t.inputs[0], md.ID()).Metadata()}, nil
}

// remove tears a resource down and destroys it, once nobody holds it any more.
func remove(ctx context.Context, r controller.ReaderWriter, ptr resource.Pointer) (gone bool, err error) {
	ready, err := r.Teardown(ctx, ptr)

	switch {
	case state.IsNotFoundError(err):
		return true, nil
	case err != nil || !ready:
		return false, err
	}

	if err = r.Destroy(ctx, ptr); err != nil && !state.IsNotFoundError(err) {
		return false, err
	}

	return true, nil
}

// families is a node of the form family.
type families struct {
	*node

	*witness
}

func (f *families) Name() string { return f.name() }

func (f *families) Settings() controller.QSettings {
	inputs := []controller.Input{{Namespace: namespace, Type: f.inputs[0], Kind: controller.InputQPrimary}}

	if f.inputs[1] != f.inputs[0] {
		inputs = append(inputs, controller.Input{Namespace: namespace, Type: f.inputs[1], Kind: controller.InputQMapped})
	}

	return controller.QSettings{
		Inputs:      inputs,
		Outputs:     []controller.Output{{Type: f.output(), Kind: controller.OutputExclusive}},
		Concurrency: optional.Some(f.workers),
	}
}

func (f *families) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	defer f.pass(f.name(), ptr)()

	v, err := safe.ReaderGet[*value](ctx, r, ptr)
	if err != nil && !state.IsNotFoundError(err) {
		return err
	}

	if err != nil {
		return nil
	}

	f.read(f.name(), v)

	if v.Metadata().Phase() == resource.PhaseTearingDown {
		if v.Metadata().Finalizers().Has(f.name()) {
			if gone, err := remove(ctx, r, newValue(f.output(), ptr.ID()).Metadata()); err != nil || !gone {
				return err
			}
		}

		return r.RemoveFinalizer(ctx, ptr, f.name())
	}

	if err := r.AddFinalizer(ctx, ptr, f.name()); err != nil {
		return err
	}

	total := v.TypedSpec().N

	children, err := list(ctx, r, f.witness, f.name(), f.inputs[1])
	if err != nil {
		return err
	}

	for _, child := range children {
		if entryOf(child).parent == ptr.ID() {
			total += child.TypedSpec().N
		}
	}

	return put(ctx, r, f.witness, f.name(), f.output(), ptr.ID(), entry{n: total})
}

func (f *families) MapInput(_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	at, ok := md.Labels().Get(parent)
	if !ok {
		return nil, nil
	}

	return []resource.Pointer{newValue(f.inputs[0], at).Metadata()}, nil
}
