package main

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/destroy"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
)

func habitWorkloads() []*workload {
	return []*workload{
		{
			name: "tracked-outputs-1000", what: "a pass that modifies 1,000 outputs, tracked and cleaned up",
			unit: "output", size: 1_000, quick: 100, grows: true, target: 1, run: trackedOutputs, floor: trackedOutputsFloor,
		},
		{
			name: "cached-own-writes", what: "a controller reads an output of its own through the cache and modifies it, 1,000 of them in turn",
			unit: "output", size: 1_000, quick: 100, grows: true, target: 1, run: cachedOwnWrites, floor: cachedOwnWritesFloor,
		},
		{
			name: "teardown-finalizers-1000", what: "inputs are torn down below two qtransform controllers with finalizers, until all are destroyed",
			unit: "input", size: 1_000, quick: 100, grows: true, target: 1, run: teardownFinalizers,
		},
		{
			name: "destroy-ready-10000", what: "resources are torn down, the contract's destroy controller destroys them",
			unit: "resource", size: 10_000, quick: 500, grows: true, target: 1, run: destroyReady, floor: destroyReadyFloor,
		},
	}
}

// passes is how often the outputs are modified.
const passes = 20

func trackedOutputs(t *trial) {
	r := t.rig(2)
	passed := make(chan error)
	value := 0

	r.classic(&classic{
		name:    "controller",
		inputs:  []controller.Input{input(otherType, controller.InputWeak)},
		outputs: []controller.Output{{Type: itemType, Kind: controller.OutputExclusive}},
		run: onWakeup(func(ctx context.Context, view controller.Runtime) error {
			value++

			err := modifyTracked(ctx, view, t.size, value)

			select {
			case passed <- err:
			case <-ctx.Done():
			}

			return nil
		}),
	})

	trigger := newItem(otherType, 0)

	r.start()
	t.check(receive(t, passed))
	r.create(trigger)
	t.check(receive(t, passed))

	t.measure(passes*t.size, func() {
		for range passes {
			t.check(r.state.Update(t.ctx, trigger))
			t.check(receive(t, passed))
		}
	})
}

func modifyTracked(ctx context.Context, view controller.Runtime, count, value int) error {
	view.StartTrackingOutputs()

	for number := range count {
		err := view.Modify(ctx, newNamed(itemType, itemID(number), itemSpec{}), func(res resource.Resource) error {
			res.(*item).TypedSpec().Port = value

			return nil
		})
		if err != nil {
			return err
		}
	}

	return view.CleanupOutputs(ctx, kind(itemType))
}

// trackedOutputsFloor is the same modifications and one list, on the state itself.
func trackedOutputsFloor(t *trial) {
	st := newState(1)
	pass := func(value int) {
		for number := range t.size {
			t.check(st.Modify(t.ctx, newNamed(itemType, itemID(number), itemSpec{}), func(res resource.Resource) error {
				res.(*item).TypedSpec().Port = value

				return nil
			}))
		}

		_, err := st.List(t.ctx, kind(itemType))
		t.check(err)
	}

	pass(0)
	t.measure(passes*t.size, func() {
		for value := range passes {
			pass(value + 1)
		}
	})
}

func teardownFinalizers(t *trial) {
	r := t.rig(3)

	queueLinks(r, 2)

	arrived, released := newGoal(t.size), newGoal(t.size)

	t.follow(r.state, stageTypes[2], false, func(event state.Event) {
		if event.Type == state.Created {
			arrived.hit()
		}
	})
	t.follow(r.state, stageTypes[0], false, func(event state.Event) {
		md := event.Resource.Metadata()
		if event.Type == state.Updated && md.Phase() == resource.PhaseTearingDown && md.Finalizers().Empty() {
			released.hit()
		}
	})

	r.start()

	for number := range t.size {
		t.check(r.state.Create(t.ctx, newHead(itemID(number))))
	}

	t.wait(arrived.reached)

	t.measure(t.size, func() {
		for number := range t.size {
			ready, err := r.state.Teardown(t.ctx, newHead(itemID(number)).Metadata())
			t.check(err)

			if ready {
				t.check(fmt.Errorf("%s has no finalizer", itemID(number)))
			}
		}

		t.wait(released.reached)

		for number := range t.size {
			t.check(r.state.Destroy(t.ctx, newHead(itemID(number)).Metadata()))
		}
	})
}

func destroyReady(t *trial) {
	r := t.rig(1)
	t.check(r.RegisterQController(destroy.NewController[*head](optional.Some[uint](1))))

	destroyed := newGoal(t.size)

	t.follow(r.state, stageTypes[0], false, func(event state.Event) {
		if event.Type == state.Destroyed {
			destroyed.hit()
		}
	})
	t.runQueue(r)

	heads := t.heads(r.state)

	t.measure(t.size, func() {
		for _, res := range heads {
			_, err := r.state.Teardown(t.ctx, res.Metadata())
			t.check(err)
		}

		t.wait(destroyed.reached)
	})
}

// heads creates as many heads as the size says.
func (t *trial) heads(st state.State) []*head {
	heads := make([]*head, t.size)

	for number := range heads {
		heads[number] = newHead(itemID(number))
		t.check(st.Create(t.ctx, heads[number]))
	}

	return heads
}

// destroyReadyFloor is teardowns, and destroys by whoever watches.
func destroyReadyFloor(t *trial) {
	st := newState(1)
	destroyed := newGoal(t.size)

	t.follow(st, stageTypes[0], false, func(event state.Event) {
		switch {
		case event.Type == state.Destroyed:
			destroyed.hit()
		case event.Type == state.Updated:
			if err := st.Destroy(t.ctx, event.Resource.Metadata()); err != nil {
				t.fail(err)
			}
		}
	})

	heads := t.heads(st)

	t.measure(t.size, func() {
		for _, res := range heads {
			_, err := st.Teardown(t.ctx, res.Metadata())
			t.check(err)
		}

		t.wait(destroyed.reached)
	})
}
