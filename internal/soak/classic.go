package main

import (
	"context"
	"maps"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/stateadapter"
)

// classic is a classic controller that looks at everything whenever it is woken.
type classic struct {
	group   *group
	name    string
	inputs  []controller.Input
	outputs []controller.Output
	look    func(ctx context.Context, r controller.Runtime) error
}

// Name implements the contract's interface.
func (c *classic) Name() string { return c.name }

// Inputs implements the contract's interface.
func (c *classic) Inputs() []controller.Input { return c.inputs }

// Outputs implements the contract's interface.
func (c *classic) Outputs() []controller.Output { return c.outputs }

// Run implements the contract's interface.
func (c *classic) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		if err := c.group.faults.pass(func() error { return c.look(ctx, r) }); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

// newSummer returns the controller that sums up all joins.
func newSummer(g *group, name string) member {
	return member{classic: &classic{
		group: g, name: name,
		inputs:  []controller.Input{g.input(joins, controller.InputWeak)},
		outputs: g.output(sums),
		look: func(ctx context.Context, r controller.Runtime) error {
			list, err := r.List(ctx, g.kind(joins))
			if err != nil {
				return err
			}

			var sum int64

			for _, join := range list.Items {
				sum += specOf(join).Value
			}

			return r.Modify(ctx, newRecord(g.pointer(sums, theSum)), setting(sum, ""))
		},
	}}
}

// newTallier returns the controller that sums up the sources of each bucket, and has what it makes tracked: the tally of
// a bucket that nothing is in any more goes.
func newTallier(g *group, name string) member {
	return member{classic: &classic{
		group: g, name: name,
		inputs:  []controller.Input{g.input(sources, controller.InputWeak)},
		outputs: g.output(tallies),
		look: func(ctx context.Context, r controller.Runtime) error {
			r.StartTrackingOutputs()

			all, err := stateadapter.View(ctx, r, g.kind(sources))
			if err != nil {
				return err
			}

			tally := map[string]int64{}

			for source := range all.All() {
				if running(source) {
					tally[label(source, bucketLabel)] += specOf(source).Value
				}
			}

			for _, bucket := range slices.Sorted(maps.Keys(tally)) {
				if err := r.Modify(ctx, newRecord(g.pointer(tallies, bucket)), setting(tally[bucket], "")); err != nil {
					return err
				}
			}

			return r.CleanupOutputs(ctx, g.kind(tallies))
		},
	}}
}

// newPicker returns the controller that sums up the sources that a selection names, and has no others as inputs.
func newPicker(g *group, name string) member {
	selection := g.inputOf(selections, theSelection, controller.InputWeak)

	return member{classic: &classic{
		group: g, name: name,
		inputs:  []controller.Input{selection},
		outputs: g.output(picks),
		look: func(ctx context.Context, r controller.Runtime) error {
			res, err := r.Get(ctx, g.pointer(selections, theSelection))
			if err != nil {
				return err
			}

			selected := specOf(res).IDs
			inputs := []controller.Input{selection}

			for _, id := range selected {
				inputs = append(inputs, g.inputOf(sources, id, controller.InputWeak))
			}

			if err = r.UpdateInputs(inputs); err != nil {
				return err
			}

			var sum int64

			for _, id := range selected {
				source, err := r.Get(ctx, g.pointer(sources, id))

				switch {
				case err == nil:
					sum += picked(source)
				case !state.IsNotFoundError(err):
					return err
				}
			}

			return r.Modify(ctx, newRecord(g.pointer(picks, thePick)), setting(sum, ""))
		},
	}}
}

// picked is what a selected source counts for.
func picked(source resource.Resource) int64 {
	if !running(source) {
		return 0
	}

	return specOf(source).Value
}
