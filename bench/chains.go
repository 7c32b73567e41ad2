package main

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func chainWorkloads() []*workload {
	return []*workload{
		{
			name: "chain-transform-50-step", what: "one change goes through 50 of the contract's transform controllers",
			unit: "stage", size: 50, quick: 10, target: 1.2, run: chainStep(classicLinks),
		},
		{
			name: "chain-transform-50-burst", what: "1,000 changes go through 50 of the contract's transform controllers",
			unit: "stage", size: 50, quick: 10, target: 1.2, run: chainBurst(classicLinks),
		},
		{
			name: "chain-qtransform-50-step", what: "one change goes through 50 of the contract's qtransform controllers",
			unit: "stage", size: 50, quick: 10, target: 1.2, run: chainStep(queueLinks),
		},
		{
			name: "chain-qtransform-50-burst", what: "1,000 changes go through 50 of the contract's qtransform controllers",
			unit: "stage", size: 50, quick: 10, target: 1.2, run: chainBurst(queueLinks),
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

// steps is how often a single change goes through a chain.
const steps = 100

// chainStep changes the head again and again, each time until the tail has followed.
func chainStep(register func(*rig, int)) func(*trial) {
	return func(t *trial) {
		r := t.rig(t.size + 1)
		arrived := make(chan int, 1)

		t.follow(r.state, stageTypes[t.size], false, func(event state.Event) {
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

		register(r, t.size)
		r.start()

		first := newHead("one")
		first.TypedSpec().Value = -1

		t.check(r.state.Create(t.ctx, first))
		until(-1)

		t.measure(steps*t.size, func() {
			for value := range steps {
				t.update(r.state, value)
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
func chainBurst(register func(*rig, int)) func(*trial) {
	return func(t *trial) {
		count := burst(t.size)
		r := t.rig(t.size + 1)
		arrived := newGoal(count + 1)
		first := newGoal(1)

		t.follow(r.state, stageTypes[t.size], false, func(event state.Event) {
			if event.Type == state.Created {
				first.hit()
				arrived.hit()
			}
		})

		register(r, t.size)
		r.start()
		t.check(r.state.Create(t.ctx, newHead("one")))
		t.wait(first.reached)

		heads := make([]*head, count)
		for i := range heads {
			heads[i] = newHead(itemID(i))
		}

		t.measure(count*t.size, func() {
			for _, res := range heads {
				t.check(r.state.Create(t.ctx, res))
			}

			t.wait(arrived.reached)
		})
	}
}
