package main

import (
	"context"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func queueWorkloads() []*workload {
	return []*workload{
		{
			name: "queue-parked-20000", what: "items put by creates while the one worker is in a pass, then drained",
			unit: "item", size: 20_000, quick: 2_000, grows: true, target: 40, run: queueParked, floor: queueFloor,
		},
		{
			name: "queue-parked-1000000", what: "the same with a million items",
			unit: "item", size: 1_000_000, quick: 20_000, steady: "queue-parked-20000", peerless: true, run: queueParked, floor: queueFloor,
		},
		{
			name: "queue-busy-20000", what: "items put by creates, 50 µs of work for each, one worker",
			unit: "item", size: 20_000, quick: 2_000, grows: true, target: 5, run: queueBusy, floor: queueBusyFloor,
		},
		{
			name: "queue-start-100000", what: "items that exist before Run, one worker",
			unit: "item", size: 100_000, quick: 5_000, grows: true, target: 8, run: queueStart(1), floor: queueStartFloor,
		},
		{
			name: "queue-start-100000-8", what: "items that exist before Run, eight workers",
			unit: "item", size: 100_000, quick: 5_000, grows: true, target: 2.5, run: queueStart(8), floor: queueStartFloor,
		},
		{
			name: "queue-creates-100000", what: "items put by creates while the one worker works",
			unit: "item", size: 100_000, quick: 5_000, grows: true, target: 2.5, run: queueCreates, floor: queueFloor,
		},
		{
			name: "queue-failing-20000", what: "items that fail once and ask to be taken again after 1 ms, one worker",
			unit: "item", size: 20_000, quick: 1_000, grows: true, target: 60, run: queueFailing, floor: queueFloor,
		},
		{
			name: "queue-mapped-10000", what: "mapped inputs that map to ten primaries each, one worker",
			unit: "input", size: 10_000, quick: 200, grows: true, target: 80, run: queueMapped, floor: queueFloor,
		},
	}
}

// queueParked puts items into a queue whose worker is in a pass, and lets the worker go on once all are put.
func queueParked(t *trial) {
	r := t.rig(1)
	parked, release := make(chan struct{}), make(chan struct{})
	drained := newGoal(t.size)
	first := sync.OnceFunc(func() {
		close(parked)
		<-release
	})

	r.queued(&queued{
		name:   "queue",
		inputs: []controller.Input{input(itemType, controller.InputQPrimary)},
		reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
			if ptr.ID() == "park" {
				first()
			} else {
				drained.hit()
			}

			return nil
		},
	})

	r.start()
	r.create(newNamed(itemType, "park", itemSpec{}))
	t.wait(parked)

	items := newItems(itemType, t.size)

	t.measure(t.size, func() {
		r.create(items...)
		t.rest()
		close(release)
		t.wait(drained.reached)
	})
}

// queueFloor is the state's creates and its watch, each event put into a map.
func queueFloor(t *trial) { floorWith(t, func() {}) }

// queueBusyFloor is the same with the work of the handler.
func queueBusyFloor(t *trial) { floorWith(t, func() { busy(work) }) }

func floorWith(t *trial, handle func()) {
	st := newState(1)
	seen := map[resource.ID]struct{}{}
	all := newGoal(t.size)

	t.follow(st, itemType, false, func(event state.Event) {
		seen[event.Resource.Metadata().ID()] = struct{}{}

		handle()
		all.hit()
	})

	items := newItems(itemType, t.size)

	t.measure(t.size, func() {
		create(t, st, items...)
		t.wait(all.reached)
	})
}

// work is what a busy handler does.
const work = 50 * time.Microsecond

// busy uses the processor for a while.
func busy(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}

func queueBusy(t *trial) {
	r := t.rig(1)
	drained := newGoal(t.size)

	r.queued(&queued{
		name:   "queue",
		inputs: []controller.Input{input(itemType, controller.InputQPrimary)},
		reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
			busy(work)
			drained.hit()

			return nil
		},
	})

	items := newItems(itemType, t.size)

	t.runQueue(r)
	t.measure(t.size, func() {
		r.create(items...)
		t.wait(drained.reached)
	})
}

// runQueue starts the engine and waits until it delivers to a classic controller beside the queue.
func (t *trial) runQueue(r *rig) {
	woken := make(chan struct{}, 1)

	r.classic(&classic{name: "beside", inputs: []controller.Input{input("Beside.bench", controller.InputWeak)}, run: onWakeup(
		func(context.Context, controller.Runtime) error {
			select {
			case woken <- struct{}{}:
			default:
			}

			return nil
		})})
	r.start()
	t.wait(woken)
	r.create(newNamed("Beside.bench", "one", itemSpec{}))
	t.wait(woken)
}

func queueStart(workers uint) func(t *trial) {
	return func(t *trial) {
		r := t.rig(1)
		drained := newGoal(t.size)

		r.queued(&queued{
			name:    "queue",
			inputs:  []controller.Input{input(itemType, controller.InputQPrimary)},
			workers: workers,
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				drained.hit()

				return nil
			},
		})
		r.create(newItems(itemType, t.size)...)

		t.measure(t.size, func() {
			r.start()
			t.wait(drained.reached)
		})
	}
}

// queueStartFloor is the state's watch with its contents, each put into a map.
func queueStartFloor(t *trial) {
	st := newState(1)
	seen := map[resource.ID]struct{}{}
	all := newGoal(t.size)

	create(t, st, newItems(itemType, t.size)...)

	t.measure(t.size, func() {
		t.follow(st, itemType, true, func(event state.Event) {
			if event.Type == state.Created {
				seen[event.Resource.Metadata().ID()] = struct{}{}
				all.hit()
			}
		})
		t.wait(all.reached)
	})
}

func queueCreates(t *trial) {
	r := t.rig(1)
	drained := newGoal(t.size)

	r.queued(&queued{
		name:   "queue",
		inputs: []controller.Input{input(itemType, controller.InputQPrimary)},
		reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
			drained.hit()

			return nil
		},
	})

	items := newItems(itemType, t.size)

	t.runQueue(r)
	t.measure(t.size, func() {
		r.create(items...)
		t.wait(drained.reached)
	})
}

func queueFailing(t *trial) {
	r := t.rig(1)
	drained := newGoal(t.size)
	failed := make(map[resource.ID]struct{}, t.size) // used by the one worker only

	r.queued(&queued{
		name:   "queue",
		inputs: []controller.Input{input(itemType, controller.InputQPrimary)},
		reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
			if _, again := failed[ptr.ID()]; !again {
				failed[ptr.ID()] = struct{}{}

				return controller.NewRequeueErrorf(time.Millisecond, "the first pass fails")
			}

			drained.hit()

			return nil
		},
	})

	items := newItems(itemType, t.size)

	t.runQueue(r)
	t.measure(t.size, func() {
		r.create(items...)
		t.wait(drained.reached)
	})
}

// mappedTo is to how many primaries a mapped input maps.
const mappedTo = 10

func queueMapped(t *trial) {
	r := t.rig(2)
	drained := newGoal(mappedTo * t.size)

	r.queued(&queued{
		name: "queue",
		inputs: []controller.Input{
			input(itemType, controller.InputQPrimary),
			input(otherType, controller.InputQMapped),
		},
		reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
			drained.hit()

			return nil
		},
		mapInput: func(md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			primaries := make([]resource.Pointer, mappedTo)
			for i := range primaries {
				primaries[i] = pointer(itemType, md.ID()+"-"+string(rune('a'+i)))
			}

			return primaries, nil
		},
	})

	items := newItems(otherType, t.size)

	t.runQueue(r)
	t.measure(t.size, func() {
		r.create(items...)
		t.wait(drained.reached)
	})
}
