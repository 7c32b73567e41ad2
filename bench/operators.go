package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/destroy"
	"github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"

	"github.com/switchyard-run/switchyard/operator"
)

func operatorWorkloads() []*workload {
	const what = "primaries with a child, a status and a finalizer are created, changed and torn down"

	row := func(name, what, steady string, run func(*trial)) *workload {
		return &workload{
			name: name, what: what, unit: "primary", size: 10_000, quick: 200, by: byCPU, peerless: true, steady: steady, run: run,
		}
	}

	return []*workload{
		row("byhand-10000", what+", by a controller written out", "", operated(handwritten)),
		row("operator-10000", "the same by one of the package operator", "byhand-10000", operated(authored)),
		row("byhand-cached-10000", what+", by a controller written out, all cached", "", operated(handwritten, cachedOperated()...)),
		row("operator-cached-10000", "the same by one of the package operator", "byhand-cached-10000", operated(authored, cachedOperated()...)),
	}
}

const (
	primaryType = "Primaries.bench"
	partType    = "Parts.bench"
	verdictType = "Verdicts.bench"

	operatedBy        = "operated"
	operatedFinalizer = resource.Finalizer("bench/operated")
)

type (
	primaryDefinition struct{}
	partDefinition    struct{}
	verdictDefinition struct{}

	primary = typed.Resource[itemSpec, primaryDefinition]
	part    = typed.Resource[itemSpec, partDefinition]
	verdict = operator.StatusResource[stageSpec, verdictDefinition]
)

// ResourceDefinition implements the contract's interface for definitions.
func (primaryDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: primaryType, DefaultNamespace: namespace}
}

// ResourceDefinition implements the contract's interface for definitions.
func (partDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: partType, DefaultNamespace: namespace}
}

// ResourceDefinition implements the contract's interface for definitions.
func (verdictDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: verdictType, DefaultNamespace: namespace}
}

func operatedMetadata(typ resource.Type, id resource.ID) resource.Metadata {
	return resource.NewMetadata(namespace, typ, id, resource.VersionUndefined)
}

func newPrimary(number int) *primary {
	res := newItem(primaryType, number)

	return typed.NewResource[itemSpec, primaryDefinition](*res.Metadata(), *res.TypedSpec())
}

func newPart(id resource.ID) *part {
	return typed.NewResource[itemSpec, partDefinition](operatedMetadata(partType, id), itemSpec{})
}

func newVerdict(id resource.ID) *verdict {
	return typed.NewResource[operator.StatusSpec[stageSpec], verdictDefinition](operatedMetadata(verdictType, id), operator.StatusSpec[stageSpec]{})
}

func cachedOperated() (all []options.Option) {
	for _, typ := range []resource.Type{primaryType, partType, verdictType} {
		all = append(all, options.WithCachedResource(namespace, typ))
	}

	return all
}

// operated is the life of primaries below a controller, at rest after each part of it.
func operated(ctrl func() (controller.QController, error), opts ...options.Option) func(*trial) {
	return func(t *trial) {
		r := t.rig(3, opts...)

		built, err := ctrl()
		t.check(err)
		t.check(r.RegisterQController(built))
		t.check(r.RegisterQController(destroy.NewController[*primary](optional.Some[uint](1))))
		t.runQueue(r)

		all := make([]*primary, t.size)
		for i := range all {
			all[i] = newPrimary(i)
		}

		t.measure(t.size, func() {
			for _, res := range all {
				t.check(r.state.Create(t.ctx, res))
			}

			t.rest()

			for _, res := range all {
				_, err := r.state.UpdateWithConflicts(t.ctx, res.Metadata(), func(res resource.Resource) error {
					res.(*primary).TypedSpec().Port++

					return nil
				})
				t.check(err)
			}

			t.rest()
			t.checkOperated(r.state, all)

			for _, res := range all {
				_, err := r.state.Teardown(t.ctx, res.Metadata())
				t.check(err)
			}

			t.rest()
		})

		for _, typ := range []resource.Type{primaryType, partType, verdictType} {
			left, err := r.state.List(t.ctx, kind(typ))
			t.check(err)

			if len(left.Items) > 0 {
				t.check(fmt.Errorf("%d of type %s are left", len(left.Items), typ))
			}
		}
	}
}

// checkOperated fails the round if some of the primaries do not have what they should.
func (t *trial) checkOperated(st state.State, all []*primary) {
	parts, err := safe.ReaderList[*part](t.ctx, st, kind(partType))
	t.check(err)

	verdicts, err := safe.ReaderList[*verdict](t.ctx, st, kind(verdictType))
	t.check(err)

	if parts.Len() != len(all) || verdicts.Len() != len(all) {
		t.check(fmt.Errorf("%d primaries have %d children and %d statuses", len(all), parts.Len(), verdicts.Len()))
	}

	for i, res := range all {
		want := res.TypedSpec().Port + 1
		if parts.Get(i).TypedSpec().Port != want || verdicts.Get(i).TypedSpec().Data.Value != want {
			t.check(fmt.Errorf("%s is not at rest", res.Metadata()))
		}
	}
}

// authored is the controller as the package operator has it.
func authored() (controller.QController, error) {
	c := operator.For[*primary](operatedBy).WithoutEvents()
	status := operator.Status[stageSpec, verdictDefinition](c)
	operator.Owns[*part](c)

	c.Reconcile(func(ctx context.Context, res *primary, c *operator.Context[*primary]) error {
		status.Set(c, func(data *stageSpec) { data.Value = res.TypedSpec().Port })

		return operator.Ensure(ctx, c, &part{}, func(child *part) { *child.TypedSpec() = *res.TypedSpec() })
	})
	c.Finalize(operatedFinalizer, func(context.Context, *primary, *operator.StageContext) error { return nil })

	return c.Build()
}

// handwritten is the same without it.
func handwritten() (controller.QController, error) {
	return &queued{
		name: operatedBy,
		inputs: []controller.Input{
			input(primaryType, controller.InputQPrimary),
			input(partType, controller.InputQMapped),
			input(verdictType, controller.InputQMappedDestroyReady),
		},
		outputs: []controller.Output{
			{Type: partType, Kind: controller.OutputExclusive},
			{Type: verdictType, Kind: controller.OutputExclusive},
		},
		mapInput: func(md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			return []resource.Pointer{pointer(primaryType, md.ID())}, nil
		},
		reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
			res, err := safe.ReaderGet[*primary](ctx, r, ptr)

			switch {
			case state.IsNotFoundError(err):
				return nil
			case err != nil:
				return err
			case res.Metadata().Phase() == resource.PhaseTearingDown:
				return cleanUp(ctx, r, res)
			default:
				return bringAbout(ctx, r, res)
			}
		},
	}, nil
}

func bringAbout(ctx context.Context, r controller.QRuntime, res *primary) error {
	id := res.Metadata().ID()

	if !res.Metadata().Finalizers().Has(operatedFinalizer) {
		if err := r.AddFinalizer(ctx, res.Metadata(), operatedFinalizer); err != nil {
			return err
		}
	}

	if err := safe.WriterModify(ctx, r, newPart(id), func(child *part) error {
		*child.TypedSpec() = res.TypedSpec().DeepCopy()

		return nil
	}); err != nil {
		return err
	}

	return safe.WriterModify(ctx, r, newVerdict(id), func(status *verdict) error {
		spec := status.TypedSpec()
		spec.Data.Value = res.TypedSpec().Port
		spec.Conditions = spec.Conditions.With(operator.Condition{Type: operator.Ready, Status: operator.True, Reason: "Done"}, time.Now())

		return nil
	})
}

func cleanUp(ctx context.Context, r controller.QRuntime, res *primary) error {
	if !res.Metadata().Finalizers().Has(operatedFinalizer) {
		return nil
	}

	for _, typ := range []resource.Type{partType, verdictType} {
		ptr := pointer(typ, res.Metadata().ID())

		ready, err := r.Teardown(ctx, ptr)
		if err == nil && ready {
			err = r.Destroy(ctx, ptr)
		}

		switch {
		case state.IsNotFoundError(err):
		case err != nil:
			return err
		case !ready:
			return nil // it wakes this one again when it is
		}
	}

	return r.RemoveFinalizer(ctx, res.Metadata(), operatedFinalizer)
}
