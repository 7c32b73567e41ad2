package main

import (
	"context"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func cacheFillWorkloads() []*workload {
	return []*workload{
		{
			name: "cache-creates", what: "creates of cached resources in random order, until the cache shows the last",
			unit: "create", size: 100_000, quick: 2_000, grows: true, target: 4, run: cacheCreates, floor: cacheCreatesFloor,
		},
		{
			name: "cache-destroys", what: "destroys of cached resources in random order, until the cache does not show the last",
			unit: "destroy", size: 100_000, quick: 2_000, grows: true, target: 4, run: cacheDestroys, floor: cacheDestroysFloor,
		},
		{
			name: "cache-start", what: "from Run until the first read of 100,000 cached resources is served",
			unit: "resource", size: 100_000, quick: 5_000, grows: true, target: 1, run: cacheStart, floor: cacheStartFloor,
		},
	}
}

// poll is how often the cache is asked whether it shows something yet.
const poll = 50 * time.Microsecond

// until asks again and again until done.
func (t *trial) until(done func() bool) {
	for !done() {
		t.check(context.Cause(t.ctx))
		time.Sleep(poll)
	}
}

// shuffled returns further items in random order.
func shuffled(count int) []*item {
	items := make([]*item, count)
	for i, number := range permutation(count) {
		items[i] = newItem(itemType, number+1)
	}

	return items
}

func cacheCreates(t *trial) {
	r, reader := t.cached(newItems(itemType, 1))
	items := shuffled(t.size)
	last := pointer(itemType, items[t.size-1].Metadata().ID())

	t.measure(t.size, func() {
		r.create(items...)
		t.until(func() bool {
			_, err := reader.Get(t.ctx, last)

			return err == nil
		})
	})
}

// cacheCreatesFloor is the state's creates and its watch, and a map in which the resources are put.
func cacheCreatesFloor(t *trial) {
	st := newState(1)
	all := map[resource.ID]resource.Resource{}
	goal := newGoal(t.size)

	t.follow(st, itemType, false, func(event state.Event) {
		all[event.Resource.Metadata().ID()] = event.Resource
		goal.hit()
	})

	items := shuffled(t.size)

	t.measure(t.size, func() {
		create(t, st, items...)
		t.wait(goal.reached)
	})
}

func destroyItems(t *trial, st state.CoreState, items []*item) {
	for _, res := range items {
		t.check(st.Destroy(t.ctx, res.Metadata()))
	}
}

func cacheDestroys(t *trial) {
	items := shuffled(t.size)
	r, reader := t.cached(append(newItems(itemType, 1), items...))
	last := pointer(itemType, items[t.size-1].Metadata().ID())

	t.measure(t.size, func() {
		destroyItems(t, r.state, items)
		t.until(func() bool {
			_, err := reader.Get(t.ctx, last)

			return state.IsNotFoundError(err)
		})
	})
}

// cacheDestroysFloor is the state's destroys and its watch, and a map from which the resources are taken.
func cacheDestroysFloor(t *trial) {
	st := newState(1)
	items := shuffled(t.size)
	all := map[resource.ID]resource.Resource{}

	for _, res := range items {
		all[res.Metadata().ID()] = res
	}

	create(t, st, items...)

	goal := newGoal(t.size)

	t.follow(st, itemType, false, func(event state.Event) {
		delete(all, event.Resource.Metadata().ID())
		goal.hit()
	})

	t.measure(t.size, func() {
		destroyItems(t, st, items)
		t.wait(goal.reached)
	})
}

func cacheStart(t *trial) {
	r := t.rig(1, cachedItems())
	served := make(chan error, 1)

	r.classic(&classic{
		name:   "reader",
		inputs: []controller.Input{input(itemType, controller.InputWeak)},
		run: func(ctx context.Context, view controller.Runtime) error {
			_, err := view.Get(ctx, pointer(itemType, itemID(t.size-1)))
			served <- err

			<-ctx.Done()

			return nil
		},
	})
	r.create(shuffled(t.size)...)

	t.measure(t.size, func() {
		r.start()
		t.check(receive(t, served))
	})
}

// cacheStartFloor is the state's watch with its contents, and a map in which they are put.
func cacheStartFloor(t *trial) {
	st := newState(1)
	all := map[resource.ID]resource.Resource{}
	goal := newGoal(1)

	create(t, st, shuffled(t.size)...)

	t.measure(t.size, func() {
		t.follow(st, itemType, true, func(event state.Event) {
			if event.Type == state.Bootstrapped {
				goal.hit()

				return
			}

			all[event.Resource.Metadata().ID()] = event.Resource
		})
		t.wait(goal.reached)
	})
}
