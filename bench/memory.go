package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/resource"
)

func memoryWorkloads() []*workload {
	return []*workload{
		{
			name: "memory-queued-item", what: "heap for each item that waits in a queue, the resource and what is known of it aside",
			unit: "item", size: 20_000, quick: 2_000, limit: 200, by: byValue, in: "B", peerless: true, run: memoryQueued,
		},
		{
			name: "memory-queue-controller", what: "heap and stacks for each queue controller at rest",
			unit: "controller", size: 1_000, quick: 200, target: 2, by: byValue, in: "B", run: memoryControllers(queueAtRest),
		},
		{
			name: "memory-classic-controller", what: "heap and stacks for each classic controller at rest",
			unit: "controller", size: 1_000, quick: 200, target: 1, by: byValue, in: "B", run: memoryControllers(classicAtRest),
		},
		{
			name: "memory-cached-resource", what: "heap for each cached resource beyond the resource",
			unit: "resource", size: 100_000, quick: 10_000, limit: 120, by: byValue, in: "B", run: memoryCached,
		},
	}
}

// settled returns the heap in use and the stacks, after garbage was collected.
func settled() (heap, stacks float64) {
	// What has a finalizer, or is in a pool, takes a second collection to go.
	for range 2 {
		runtime.GC()
	}

	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)

	return float64(mem.HeapAlloc), float64(mem.StackInuse)
}

// occupied returns by how much the heap has grown when a function has returned and all has come to rest, and ends the
// engine that the function returns.
func (t *trial) occupied(fill func() *rig) float64 {
	before, _ := settled()
	r := fill()

	t.rest()

	after, _ := settled()

	t.discard(r)

	return after - before
}

// discard ends an engine before the round does.
func (t *trial) discard(r *rig) {
	r.end()

	t.rigs = slices.DeleteFunc(t.rigs, func(other *rig) bool { return other == r })
}

// throttle is how many items are created before the next have to wait for the queue.
const throttle = 100

// memoryQueued compares an engine with two queue controllers that have drained their items with one in which one of the
// two is in its first pass, and has all others waiting. That the other drains nevertheless is how it is known that all
// items were put; the peer stops delivering to both after some thousand.
func memoryQueued(t *trial) {
	drained := t.occupied(func() *rig { return t.twoQueues(nil) })

	var waiting float64

	t.measure(t.size, func() {
		release := make(chan struct{})

		waiting = t.occupied(func() *rig {
			r := t.twoQueues(release)
			r.beforeEnd = sync.OnceFunc(func() { close(release) })

			return r
		})
	})

	t.compare((waiting - drained) / float64(t.size))
}

// twoQueues fills an engine with two queue controllers. One drains its items; the other does, too, unless there is a
// channel that it waits for.
func (t *trial) twoQueues(release <-chan struct{}) *rig {
	r := t.rig(1)

	var drained, other atomic.Int64

	queue := func(name string, reconcile func()) {
		r.queued(&queued{
			name:   name,
			inputs: []controller.Input{input(itemType, controller.InputQPrimary)},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				reconcile()

				return nil
			},
		})
	}

	queue("draining", func() { drained.Add(1) })
	queue("other", func() {
		if release != nil {
			<-release
		}

		other.Add(1)
	})

	t.runQueue(r)

	for number := range t.size {
		r.create(newItem(itemType, number))

		if created := int64(number) + 1; created%throttle == 0 {
			t.until(func() bool {
				return drained.Load() == created && (release != nil || other.Load() == created)
			})
		}
	}

	return r
}

func queueAtRest(r *rig, number int) {
	r.queued(&queued{
		name:      fmt.Sprintf("queue-%d", number),
		inputs:    []controller.Input{input(itemType, controller.InputQPrimary)},
		reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error { return nil },
	})
}

func classicAtRest(r *rig, number int) {
	r.classic(&classic{
		name:   fmt.Sprintf("classic-%d", number),
		inputs: []controller.Input{input(itemType, controller.InputWeak)},
		run:    onWakeup(func(context.Context, controller.Runtime) error { return nil }),
	})
}

// memoryControllers registers controllers in an engine that has one already, and lets all come to rest.
func memoryControllers(register func(r *rig, number int)) func(*trial) {
	return func(t *trial) {
		r := t.rig(1)

		register(r, t.size)
		t.runQueue(r)
		t.rest()

		heap, stacks := settled()
		goroutines := runtime.NumGoroutine()

		t.measure(t.size, func() {
			for number := range t.size {
				register(r, number)
			}

			t.rest()
		})

		heapNow, stacksNow := settled()
		count := float64(t.size)

		t.note("goroutines", float64(runtime.NumGoroutine()-goroutines)/count)
		t.note("stacks", (stacksNow-stacks)/count)
		t.compare((heapNow - heap + stacksNow - stacks) / count)
	}
}

// memoryCached compares an engine that caches with one that does not. Resources are created while they run: of those
// that exist before, the state's watch hands out copies, which would be counted.
func memoryCached(t *trial) {
	plain := t.occupied(func() *rig { return t.watched() })

	var cached float64

	t.measure(t.size, func() {
		cached = t.occupied(func() *rig { return t.watched(cachedItems()) })
	})

	t.compare((cached - plain) / float64(t.size))
}

// watched fills an engine with a controller that reads items, and waits until it has been told of the last.
func (t *trial) watched(opts ...options.Option) *rig {
	r := t.rig(1, opts...)
	p := newProbe(r, itemType)
	borrow := r.borrow(input(itemType, controller.InputWeak))

	r.start()
	borrow()
	p.ready()
	r.create(newItems(itemType, t.size)...)
	p.delivered()

	return r
}
