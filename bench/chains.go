package main

import (
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func chainWorkloads() []*workload {
	return []*workload{
		{
			name: "chain-transform-50-step", what: "one change goes through 50 of the contract's transform controllers",
			unit: "stage", size: 50, quick: 10, target: 1.2, run: chainStep(overEngine(classicLinks)), floor: chainStep(bareLinks),
		},
		{
			name: "chain-transform-50-burst", what: "1,000 changes go through 50 of the contract's transform controllers",
			unit: "stage", size: 50, quick: 10, target: 1.2, run: chainBurst(overEngine(classicLinks)),
		},
		{
			name: "chain-qtransform-50-step", what: "one change goes through 50 of the contract's qtransform controllers",
			unit: "stage", size: 50, quick: 10, target: 1.2, run: chainStep(overEngine(queueLinks)),
		},
		{
			name: "chain-qtransform-50-burst", what: "1,000 changes go through 50 of the contract's qtransform controllers",
			unit: "stage", size: 50, quick: 10, target: 1.2, run: chainBurst(overEngine(queueLinks)),
		},
	}
}

func classicLinks(r *rig, count int) {
	for _, l := range links(count) {
		r.t.check(r.RegisterController(l.transform()))
	}
}

func queueLinks(r *rig, count int) {
	for _, l := range links(count) {
		r.t.check(r.RegisterQController(l.qtransform()))
	}
}

// chain builds a state with the controllers of a chain over it. The function that it returns runs them.
type chain func(t *trial) (st state.State, start func())

// overEngine is a chain that the contender runs.
func overEngine(register func(*rig, int)) chain {
	return func(t *trial) (state.State, func()) {
		r := t.rig(t.size + 1)
		register(r, t.size)

		return r.state, r.start
	}
}

// bareLinks is the chain of classic controllers without an engine.
func bareLinks(t *trial) (state.State, func()) {
	st := newState(t.size + 1)

	return st, func() {
		var controllers []controller.Controller
		for _, l := range links(t.size) {
			controllers = append(controllers, l.transform())
		}

		t.runBare(st, controllers)
	}
}

// steps is how often a single change goes through a chain.
const steps = 100

// chainStep changes the head again and again, each time until the tail has followed.
func chainStep(build chain) func(*trial) {
	return func(t *trial) {
		st, start := build(t)
		arrived := make(chan int, 1)

		t.follow(st, stageTypes[t.size], false, func(event state.Event) {
			if event.Type != state.Created && event.Type != state.Updated {
				return
			}

			select {
			case arrived <- valueOf(event.Resource):
			case <-t.ctx.Done():
			}
		})

		until := func(value int) {
			for receive(t, arrived) != value {
			}
		}

		start()

		first := newHead("one")
		first.TypedSpec().Value = -1

		t.check(st.Create(t.ctx, first))
		until(-1)

		t.measure(steps*t.size, func() {
			for value := range steps {
				t.update(st, value)
				until(value)
			}
		})
	}
}

// update has the head say something new. Controllers put finalizers on it, so it is read anew.
func (t *trial) update(st state.State, value int) {
	_, err := st.UpdateWithConflicts(t.ctx, newHead("one").Metadata(), func(res resource.Resource) error {
		res.(*head).TypedSpec().Value = value

		return nil
	})
	t.check(err)
}

// burst is how many changes go through a chain of a length at once.
func burst(length int) int { return min(1_000, length*length) }

// chainBurst creates many resources at the head, and waits until all have come to the tail.
func chainBurst(build chain) func(*trial) {
	return func(t *trial) {
		count := burst(t.size)
		st, start := build(t)
		arrived := newGoal(count + 1)
		first := newGoal(1)

		t.follow(st, stageTypes[t.size], false, func(event state.Event) {
			if event.Type == state.Created {
				first.hit()
				arrived.hit()
			}
		})

		start()
		t.check(st.Create(t.ctx, newHead("one")))
		t.wait(first.reached)

		heads := make([]*head, count)
		for i := range heads {
			heads[i] = newHead(itemID(i))
		}

		t.measure(count*t.size, func() {
			for _, res := range heads {
				t.check(st.Create(t.ctx, res))
			}

			t.wait(arrived.reached)
		})
	}
}
