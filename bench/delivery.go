package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func deliveryWorkloads() []*workload {
	return []*workload{
		{
			name: "fanout-4000", what: "2,000 creates of one type that 4,000 classic controllers read, until all are delivered and all controllers have run after the last",
			unit: "controller", size: 4_000, quick: 100, grows: true, target: 100, run: fanOut, floor: fanOutFloor,
		},
		{
			name: "fanin-1000", what: "20,000 creates over 100 types that ten classic controllers each read, until all have run after the last",
			unit: "event", size: 20_000, quick: 2_000, grows: true, target: 8, run: fanIn, floor: fanInFloor,
		},
		{
			name: "fanout-one-event-4000", what: "one create of a type that 4,000 classic controllers read, until all have run; 20 times",
			unit: "wakeup", size: 4_000, quick: 500, grows: true, target: 1.5, run: fanOutOne, floor: fanOutOneFloor,
		},
	}
}

// crowd is many classic controllers that say when a pass began after it was over.
type crowd struct {
	over atomic.Bool
	// ran is hit by each controller in its first pass, seen in its first pass after it was over.
	ran, seen *goal
}

// gather registers controllers, each with one type to read.
func gather(r *rig, count int, reads func(number int) resource.Type) *crowd {
	c := &crowd{ran: newGoal(count), seen: newGoal(count)}

	for number := range count {
		var ran, seen bool

		r.classic(&classic{
			name:   fmt.Sprintf("controller-%d", number),
			inputs: []controller.Input{input(reads(number), controller.InputWeak)},
			run: onWakeup(func(context.Context, controller.Runtime) error {
				over := c.over.Load()

				if !ran {
					ran = true
					c.ran.hit()
				}

				if over && !seen {
					seen = true
					c.seen.hit()
				}

				return nil
			}),
		})
	}

	return c
}

// probe is a controller that reads one resource only. Engines deliver in batches, and within a batch in any order; once
// two changes of the probe, one after the other, have been delivered, all that was written before has been.
type probe struct {
	r      *rig
	res    *item
	passed clock
}

func newProbe(r *rig, typ resource.Type) *probe {
	p := &probe{r: r, res: newNamed(typ, "probe", itemSpec{}), passed: make(clock, 1)}

	r.classic(&classic{
		name:   "probe",
		inputs: []controller.Input{inputOf(typ, "probe", controller.InputWeak)},
		run: onWakeup(func(context.Context, controller.Runtime) error {
			p.passed.tick()

			return nil
		}),
	})

	return p
}

// ready waits for the first pass of the probe, which nothing has caused.
func (p *probe) ready() { receive(p.r.t, p.passed) }

// delivered waits until all that has been written of the probe's type has been delivered.
func (p *probe) delivered() {
	p.r.create(p.res)
	receive(p.r.t, p.passed)
	p.r.t.sample(p.r.state, p.res, p.passed)
}

// written is how many resources the fan out writes, whatever the number of controllers.
const written = 2_000

func fanOut(t *trial) {
	r := t.rig(1)
	c := gather(r, t.size, func(int) resource.Type { return itemType })
	p := newProbe(r, itemType)

	r.start()
	t.wait(c.ran.reached)
	p.ready()

	items := newItems(itemType, min(written, 10*t.size)+1)
	marker := len(items) - 1

	t.measure(t.size, func() {
		r.create(items[:marker]...)
		c.over.Store(true)
		r.create(items[marker])
		p.delivered()
		t.wait(c.seen.reached)
	})
}

// fanOutFloor is one watch, and one goroutine for each controller that it wakes through a channel of size one.
func fanOutFloor(t *trial) {
	st := newState(1)
	items := newItems(itemType, min(written, 10*t.size)+1)
	marker := len(items) - 1
	over := atomic.Bool{}
	seen := newGoal(t.size)
	wakeups := t.sleepers(t.size, func() func() {
		var done bool

		return func() {
			if over.Load() && !done {
				done = true
				seen.hit()
			}
		}
	})

	t.follow(st, itemType, false, func(state.Event) { wake(wakeups) })

	t.measure(t.size, func() {
		create(t, st, items[:marker]...)
		over.Store(true)
		create(t, st, items[marker])
		t.wait(seen.reached)
	})
}

// sleepers starts goroutines that call a function of their own for each wakeup.
func (t *trial) sleepers(count int, pass func() func()) []chan struct{} {
	wakeups := make([]chan struct{}, count)

	for i := range wakeups {
		wakeups[i] = make(chan struct{}, 1)
		run := pass()

		go func() {
			for {
				select {
				case <-wakeups[i]:
					run()
				case <-t.ctx.Done():
					return
				}
			}
		}()
	}

	return wakeups
}

func wake(wakeups []chan struct{}) {
	for _, wakeup := range wakeups {
		select {
		case wakeup <- struct{}{}:
		default:
		}
	}
}

// How many controllers the fan in has, and over how many types they and the events go.
const (
	readers      = 1_000
	readersTypes = 100
)

func typeOf(number int) resource.Type { return fmt.Sprintf("Type%d.bench", number) }

// fanInItems returns as many items as there are to be events, and a last one for each type.
func fanInItems(events int) (items, last []*item) {
	for number := range events {
		items = append(items, newItem(typeOf(number%readersTypes), number))
	}

	for number := range readersTypes {
		last = append(last, newItem(typeOf(number), events))
	}

	return items, last
}

func fanIn(t *trial) {
	r := t.rig(readersTypes)
	c := gather(r, readers, func(number int) resource.Type { return typeOf(number % readersTypes) })
	p := newProbe(r, typeOf(0))

	r.start()
	t.wait(c.ran.reached)
	p.ready()

	items, last := fanInItems(t.size)

	t.measure(t.size, func() {
		r.create(items...)
		c.over.Store(true)
		r.create(last...)
		t.wait(c.seen.reached)
		p.delivered()
	})
}

// fanInFloor is one watch for each type and a counter, nobody is woken.
func fanInFloor(t *trial) {
	st := newState(readersTypes)
	all := newGoal(t.size + readersTypes)

	for number := range readersTypes {
		t.follow(st, typeOf(number), false, func(state.Event) { all.hit() })
	}

	items, last := fanInItems(t.size)

	t.measure(t.size, func() {
		create(t, st, items...)
		create(t, st, last...)
		t.wait(all.reached)
	})
}

// singles is how many single events are delivered to the crowd, one after the other.
const singles = 20

func fanOutOne(t *trial) {
	r := t.rig(1)
	ready := newGoal(t.size)

	var round atomic.Pointer[goal]

	round.Store(ready)

	for number := range t.size {
		r.classic(&classic{
			name:   fmt.Sprintf("controller-%d", number),
			inputs: []controller.Input{input(itemType, controller.InputWeak)},
			run: onWakeup(func(context.Context, controller.Runtime) error {
				round.Load().hit()

				return nil
			}),
		})
	}

	r.start()
	t.wait(ready.reached)

	items := newItems(itemType, singles)

	t.measure(singles*t.size, func() {
		for _, res := range items {
			all := newGoal(t.size)
			round.Store(all)
			r.create(res)
			t.wait(all.reached)
		}
	})
}

func fanOutOneFloor(t *trial) {
	st := newState(1)

	var round atomic.Pointer[goal]

	wakeups := t.sleepers(t.size, func() func() { return func() { round.Load().hit() } })
	t.follow(st, itemType, false, func(state.Event) { wake(wakeups) })

	items := newItems(itemType, singles)

	t.measure(singles*t.size, func() {
		for _, res := range items {
			all := newGoal(t.size)
			round.Store(all)
			create(t, st, res)
			t.wait(all.reached)
		}
	})
}
