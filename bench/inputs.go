package main

import (
	"context"
	"expvar"
	"fmt"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func inputWorkloads() []*workload {
	return []*workload{
		{
			name: "inputs-swap-5000", what: "UpdateInputs that swaps one of 5,000 inputs with an id",
			unit: "swap", size: 5_000, quick: 500, grows: true, single: true, target: 8, run: inputsSwap,
		},
		{
			name: "inputs-read-5000", what: "uncached Get of a small resource, checked against 5,000 inputs with an id",
			unit: "get", size: 5_000, quick: 500, grows: true, single: true, target: 60, run: inputsRead, floor: inputsReadFloor,
		},
	}
}

// inputsByID returns inputs, each with an id.
func inputsByID(count int) []controller.Input {
	inputs := make([]controller.Input, count)
	for i := range inputs {
		inputs[i] = inputOf(itemType, itemID(i), controller.InputWeak)
	}

	return inputs
}

// swaps is how often an input is swapped.
const swaps = 100

func inputsSwap(t *trial) {
	r := t.rig(1)
	inputs := inputsByID(t.size)

	// Lists are made beforehand. An engine may keep one that it was handed, so each is another.
	lists := make([][]controller.Input, swaps)
	for i := range lists {
		at := i * t.size / swaps
		inputs[at] = inputOf(itemType, itemID(t.size+i), controller.InputWeak)
		lists[i] = slices.Clone(inputs)
	}

	begin, done := make(chan struct{}), make(chan error, 1)

	r.classic(&classic{
		name:   "controller",
		inputs: inputsByID(t.size),
		run: func(ctx context.Context, view controller.Runtime) error {
			<-begin

			for _, list := range lists {
				if err := view.UpdateInputs(list); err != nil {
					done <- err

					return nil
				}
			}

			done <- nil

			<-ctx.Done()

			return nil
		},
	})

	r.start()
	t.measure(swaps, func() {
		close(begin)
		t.check(receive(t, done))
	})
}

func inputsRead(t *trial) {
	r := t.rig(1)
	borrow := r.borrow(inputsByID(t.size)...)

	createSmall(t, r.state)
	r.start()
	readAll(t, borrow())
}

// checked is a state whose Get looks for the id among declared ones, and counts: the least that an engine has to do for a
// controller whose inputs are ids.
type checked struct {
	state.CoreState

	declared map[resource.ID]struct{}
	reads    expvar.Int
}

func (c *checked) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	if _, ok := c.declared[ptr.ID()]; !ok {
		return nil, fmt.Errorf("%s is not declared", ptr)
	}

	c.reads.Add(1)

	return c.CoreState.Get(ctx, ptr, opts...)
}

// inputsReadFloor is a look-up among the ids, a count and the state's own Get.
func inputsReadFloor(t *trial) {
	c := &checked{CoreState: newState(1), declared: map[resource.ID]struct{}{}}

	createSmall(t, c)

	for _, in := range inputsByID(t.size) {
		c.declared[in.ID.ValueOrZero()] = struct{}{}
	}

	readAll(t, c)
}

// createSmall creates resources that cost little to read, so that what is timed is the check.
func createSmall(t *trial, st state.CoreState) {
	for number := range t.size {
		create(t, st, newNamed(itemType, itemID(number), itemSpec{}))
	}
}

// readAll reads all resources in random order, again and again.
func readAll(t *trial, from interface {
	Get(context.Context, resource.Pointer, ...state.GetOption) (resource.Resource, error)
}) {
	targets := pointers(t.size, itemID)
	reads := min(100_000, 200*t.size)

	t.measure(reads, func() {
		for i := range reads {
			_, err := from.Get(t.ctx, targets[i%len(targets)])
			t.check(err)
		}
	})
}
