package simulation

import (
	"context"
	"maps"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"
)

// each calls the pass for each wakeup.
func each(ctx context.Context, r controller.Runtime, pass func() error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		if err := pass(); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

func weak(typ resource.Type) controller.Input {
	return controller.Input{Namespace: namespace, Type: typ, Kind: controller.InputWeak}
}

// weakInputs are inputs on the types, each once.
func weakInputs(types ...resource.Type) []controller.Input {
	var inputs []controller.Input

	for _, typ := range slices.Compact(slices.Sorted(slices.Values(types))) {
		inputs = append(inputs, weak(typ))
	}

	return inputs
}

// list reads all of a type that are not being torn down.
func list(ctx context.Context, r controller.Reader, x *witness, name string, typ resource.Type) (map[resource.ID]*value, error) {
	items, err := safe.ReaderList[*value](ctx, r, kind(typ))
	if err != nil {
		return nil, err
	}

	all := map[resource.ID]*value{}

	for v := range items.All() {
		x.read(name, v)

		if v.Metadata().Phase() == resource.PhaseRunning {
			all[v.Metadata().ID()] = v
		}
	}

	return all, nil
}

// put makes a resource what it should be, and reads it back.
func put(ctx context.Context, r controller.ReaderWriter, x *witness, name string, typ resource.Type, id resource.ID, want entry) error {
	res, err := safe.WriterModifyWithResult(ctx, r, newValue(typ, id), func(v *value) error {
		v.TypedSpec().N = want.n

		if want.parent == "" {
			v.Metadata().Labels().Delete(parent)
		} else {
			v.Metadata().Labels().Set(parent, want.parent)
		}

		return nil
	})
	if err != nil {
		return err
	}

	x.read(name, res)

	back, err := safe.ReaderGet[*value](ctx, r, newValue(typ, id).Metadata())

	switch {
	case state.IsNotFoundError(err):
		x.missing(name, typ, id)
	case err != nil:
		return err
	default:
		x.read(name, back)
	}

	return nil
}

// doubler is a node of the form double.
type doubler struct {
	*node

	*witness
}

func (d *doubler) Name() string { return d.name() }

func (d *doubler) Inputs() []controller.Input { return weakInputs(d.inputs[0]) }

func (d *doubler) Outputs() []controller.Output {
	return []controller.Output{{Type: d.output(), Kind: controller.OutputExclusive}}
}

func (d *doubler) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	return each(ctx, r, func() error {
		r.StartTrackingOutputs()

		all, err := list(ctx, r, d.witness, d.name(), d.inputs[0])
		if err != nil {
			return err
		}

		for _, id := range slices.Sorted(maps.Keys(all)) {
			v := entryOf(all[id])
			if err := put(ctx, r, d.witness, d.name(), d.output(), id, entry{2*v.n + 1, v.parent}); err != nil {
				return err
			}
		}

		return r.CleanupOutputs(ctx, kind(d.output()))
	})
}

// summer is a node of the form total.
type summer struct {
	*node

	*witness
}

func (s *summer) Name() string { return s.name() }

func (s *summer) Inputs() []controller.Input { return weakInputs(s.inputs[:]...) }

func (s *summer) Outputs() []controller.Output {
	return []controller.Output{{Type: s.output(), Kind: controller.OutputExclusive}}
}

func (s *summer) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	return each(ctx, r, func() error {
		var total int64

		for _, typ := range s.inputs {
			all, err := list(ctx, r, s.witness, s.name(), typ)
			if err != nil {
				return err
			}

			for _, v := range all {
				total += v.TypedSpec().N
			}
		}

		return put(ctx, r, s.witness, s.name(), s.output(), "total", entry{n: total})
	})
}

// chooser is a node of the form chosen.
type chooser struct {
	*node

	*witness
}

func (c *chooser) Name() string { return c.name() }

func (c *chooser) Inputs() []controller.Input { return weakInputs(c.inputs[0]) }

func (c *chooser) Outputs() []controller.Output {
	return []controller.Output{{Type: c.output(), Kind: controller.OutputExclusive}}
}

func (c *chooser) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	return each(ctx, r, func() error {
		all, err := list(ctx, r, c.witness, c.name(), c.inputs[0])
		if err != nil {
			return err
		}

		inputs := weakInputs(c.inputs[0])

		var ids []resource.ID

		for _, id := range slices.Sorted(maps.Keys(all)) {
			if all[id].TypedSpec().N%2 != 0 {
				continue
			}

			ids = append(ids, id)

			if c.inputs[1] != c.inputs[0] {
				in := weak(c.inputs[1])
				in.ID = optional.Some(id)
				inputs = append(inputs, in)
			}
		}

		if err := r.UpdateInputs(inputs); err != nil {
			return err
		}

		var total int64

		for _, id := range ids {
			v, err := safe.ReaderGet[*value](ctx, r, newValue(c.inputs[1], id).Metadata())

			switch {
			case state.IsNotFoundError(err):
			case err != nil:
				return err
			default:
				c.read(c.name(), v)

				if v.Metadata().Phase() == resource.PhaseRunning {
					total += v.TypedSpec().N
				}
			}
		}

		return put(ctx, r, c.witness, c.name(), c.output(), "chosen", entry{n: total})
	})
}

// destroyer destroys sources that are torn down, as soon as nobody holds them.
type destroyer struct{ *graph }

func (*destroyer) Name() string { return "destroyer" }

func (*destroyer) Inputs() []controller.Input {
	inputs := make([]controller.Input, sources)
	for n := range inputs {
		inputs[n] = controller.Input{Namespace: namespace, Type: sourceType(n), Kind: controller.InputDestroyReady}
	}

	return inputs
}

func (*destroyer) Outputs() []controller.Output {
	outputs := make([]controller.Output, sources)
	for n := range outputs {
		outputs[n] = controller.Output{Type: sourceType(n), Kind: controller.OutputShared}
	}

	return outputs
}

func (d *destroyer) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	return each(ctx, r, func() error {
		for n := range sources {
			items, err := safe.ReaderList[*value](ctx, r, kind(sourceType(n)))
			if err != nil {
				return err
			}

			for v := range items.All() {
				d.witness.read("destroyer", v)

				if v.Metadata().Phase() != resource.PhaseTearingDown || !v.Metadata().Finalizers().Empty() {
					continue
				}

				if err := r.Destroy(ctx, v.Metadata(), controller.WithOwner("")); err != nil && !state.IsNotFoundError(err) {
					return err
				}
			}
		}

		return nil
	})
}

// claimant claims an output and does nothing.
type claimant struct {
	name   string
	inputs []controller.Input
}

func (c *claimant) Name() string { return c.name }

func (c *claimant) Inputs() []controller.Input { return c.inputs }

func (*claimant) Outputs() []controller.Output {
	return []controller.Output{{Type: "Claimed.simulation", Kind: controller.OutputExclusive}}
}

func (*claimant) Run(ctx context.Context, _ controller.Runtime, _ *zap.Logger) error {
	<-ctx.Done()

	return nil
}
