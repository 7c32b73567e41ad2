package main

import (
	"context"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func latencyWorkloads() []*workload {
	return []*workload{
		{
			name: "latency-beside-backlog", what: "from a write to the wakeup of a classic controller, beside a queue that works off 20,000 items; p99",
			unit: "item", size: 20_000, quick: 2_000, target: 20, by: byValue, in: "s", run: latencyBesideBacklog, floor: latencyFloor,
		},
		{
			name: "latency-idle-classic", what: "from a write to the wakeup of a classic controller, nothing else going on; p50",
			unit: "wakeup", size: 500, quick: 50, target: 1.3, by: byValue, in: "s", run: latencyIdleClassic, floor: latencyFloor,
		},
		{
			name: "latency-idle-queue", what: "from a write to the pass of a queue controller, nothing else going on; p50",
			unit: "wakeup", size: 500, quick: 50, target: 1.5, by: byValue, in: "s", run: latencyIdleQueue, floor: latencyFloor,
		},
		{
			name: "latency-hot-after-burst", what: "write, wait for the wakeup, next, after 100,000 creates of another type, seen by 100 controllers, have passed",
			unit: "item", size: 100_000, quick: 5_000, grows: true, single: true, target: 8, by: byValue, in: "s", run: latencyHot, floor: latencyHotFloor,
		},
	}
}

// clock hands over the moments at which passes begin. A moment that nobody has taken is dropped for the next.
type clock chan time.Time

func (c clock) tick() {
	now := time.Now()

	for {
		select {
		case c <- now:
			return
		case <-c:
		}
	}
}

// clocked is a classic controller that says at which moments its passes began.
func clocked(name string, typ resource.Type) (*classic, clock) {
	entered := make(clock, 1)

	return &classic{name: name, inputs: []controller.Input{input(typ, controller.InputWeak)}, run: onWakeup(
		func(context.Context, controller.Runtime) error {
			entered.tick()

			return nil
		})}, entered
}

// sample writes a resource, and returns how long it took until a pass began.
func (t *trial) sample(st state.CoreState, res *item, entered clock) time.Duration {
	began := time.Now()
	t.check(st.Update(t.ctx, res))

	for {
		// A pass that began before is none that the write has caused.
		if took := receive(t, entered).Sub(began); took > 0 {
			return took
		}
	}
}

// pause lets whatever is still going on come to rest.
const pause = 2 * time.Millisecond

// besideSamples is how many wakeups are timed beside the backlog, if it lasts that long.
const besideSamples = 1_000

func latencyBesideBacklog(t *trial) {
	r := t.rig(2)
	parked, release := make(chan struct{}), make(chan struct{})
	drained := newGoal(t.size)

	r.queued(&queued{
		name:   "queue",
		inputs: []controller.Input{input(itemType, controller.InputQPrimary)},
		reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
			if ptr.ID() == "park" {
				close(parked)
				<-release

				return nil
			}

			busy(work)
			drained.hit()

			return nil
		},
	})

	c, entered := clocked("beside", otherType)
	r.classic(c)

	written := newItem(otherType, 0)

	r.create(written)
	r.start()
	receive(t, entered)
	r.create(newNamed(itemType, "park", itemSpec{}))
	t.wait(parked)
	r.create(newItems(itemType, t.size)...)

	samples := make([]time.Duration, 0, besideSamples)

	t.measure(t.size, func() {
		close(release)

		for len(samples) < cap(samples) {
			samples = append(samples, t.sample(r.state, written, entered))

			select {
			case <-drained.reached:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})

	t.latencies(samples, 0.99)
}

// idle times wakeups with a rest before each.
func (t *trial) idle(st state.CoreState, res *item, entered clock) {
	samples := make([]time.Duration, 0, t.size)

	for range min(20, t.size) {
		t.sample(st, res, entered)
		time.Sleep(pause)
	}

	t.measure(t.size, func() {
		for range t.size {
			samples = append(samples, t.sample(st, res, entered))

			time.Sleep(pause)
		}
	})

	t.latencies(samples, 0.5)
}

func latencyIdleClassic(t *trial) {
	r := t.rig(1)
	c, entered := clocked("classic", itemType)
	r.classic(c)

	written := newItem(itemType, 0)

	r.start()
	receive(t, entered)
	r.create(written)
	receive(t, entered)
	t.idle(r.state, written, entered)
}

func latencyIdleQueue(t *trial) {
	r := t.rig(1)
	entered := make(clock, 1)

	r.queued(&queued{
		name:   "queue",
		inputs: []controller.Input{input(itemType, controller.InputQPrimary)},
		reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
			entered.tick()

			return nil
		},
	})

	written := newItem(itemType, 0)

	r.create(written)
	r.start()
	receive(t, entered)
	t.idle(r.state, written, entered)
}

// handOver follows a type, and wakes another goroutine for its events, which says when it has begun. No engine can do without:
// a classic controller waits in a goroutine of its own, and a watch must go on while a queue controller works.
func (t *trial) handOver(st state.CoreState, typ resource.Type, entered clock) {
	wakeups := make(chan struct{}, 1)

	go func() {
		for {
			select {
			case <-wakeups:
				entered.tick()
			case <-t.ctx.Done():
				return
			}
		}
	}()

	t.follow(st, typ, false, func(state.Event) {
		select {
		case wakeups <- struct{}{}:
		default:
		}
	})
}

// latencyFloor is the time from a write until the state's own watch has woken a goroutine for it.
func latencyFloor(t *trial) {
	st := newState(1)
	entered := make(clock, 1)
	written := newItem(itemType, 0)

	create(t, st, written)
	t.handOver(st, itemType, entered)

	t.size = min(t.size, 500)
	t.idle(st, written, entered)
}

// hot times a loop of writes, each of which waits for its wakeup.
func (t *trial) hot(st state.CoreState, res *item, entered clock) {
	count := min(20_000, 100*t.size)
	samples := make([]time.Duration, 0, count)

	t.measure(count, func() {
		for range count {
			samples = append(samples, t.sample(st, res, entered))
		}
	})

	t.latencies(samples, 0.5)
	t.compare(t.figures.Seconds / float64(count))
}

// crowded is by how many controllers the burst is seen, so that it comes faster than it is delivered and piles up.
const crowded = 100

func latencyHot(t *trial) {
	r := t.rig(2)
	burst := gather(r, crowded, func(int) resource.Type { return itemType })
	c, entered := clocked("classic", otherType)
	r.classic(c)

	written := newItem(otherType, 0)

	r.create(written)
	r.start()
	t.wait(burst.ran.reached)
	receive(t, entered)

	r.create(newItems(itemType, t.size)...)
	t.rest()
	t.hot(r.state, written, entered)
}

func latencyHotFloor(t *trial) {
	st := newState(1)
	entered := make(clock, 1)
	written := newItem(otherType, 0)

	create(t, st, written)
	t.handOver(st, otherType, entered)
	t.hot(st, written, entered)
}
