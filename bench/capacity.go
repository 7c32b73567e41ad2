package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
)

// capacity is how much one process is asked to hold.
type capacity struct{ controllers, resources, items int }

// full is what the engine is to hold.
var full = capacity{controllers: 10_000, resources: 1_000_000, items: 1_000_000}

// stocktaking prints what the process uses after each step.
type stocktaking struct {
	t   *trial
	out io.Writer
}

const stockLine = "%-38s %10s %10s %10s %10s %10s\n"

// step runs a step and takes stock.
func (s *stocktaking) step(what string, do func()) {
	began := time.Now()

	do()

	took := time.Since(began)
	heap, stacks := settled()

	fmt.Fprintf(s.out, stockLine, what, took.Round(time.Millisecond), byteText(heap), byteText(stacks),
		strconv.Itoa(runtime.NumGoroutine()), byteText(peakRSS()))
}

// run fills this engine, in this process, and prints a table. Half of the controllers are classic, half are queue
// controllers; all are at rest but one, whose queue is filled while its worker is in a pass, and is then drained.
func (c capacity) run(ctx context.Context, out io.Writer) error {
	w := &workload{name: "capacity", run: func(t *trial) {
		t.measure(1, func() { c.fill(&stocktaking{t, out}) })
	}}

	fmt.Fprintf(out, stockLine, "step", "time", "heap", "stacks", "goroutines", "peak RSS")

	_, tidy, err := perform(ctx, w, oursName, 1, "")
	tidy()

	return err
}

func (c capacity) fill(s *stocktaking) {
	t := s.t
	r := t.rig(registeredTypes, cachedItems())
	parked, release := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() {
		close(parked)
		<-release
	})
	drained := newGoal(c.items)

	r.beforeEnd = sync.OnceFunc(func() { close(release) })

	s.step("nothing", func() {})
	s.step(fmt.Sprintf("%d resources in the state", c.resources), func() {
		for number := range c.resources {
			r.create(newItem(itemType, number))
		}
	})

	var borrow func() controller.Runtime

	s.step(fmt.Sprintf("%d controllers registered", c.controllers), func() {
		for number := range c.controllers / 2 {
			r.classic(declared(number))
			r.queued(idleQueue(number))
		}

		r.queued(&queued{
			name:   "filled",
			inputs: []controller.Input{input(otherType, controller.InputQPrimary)},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				first()
				drained.hit()

				return nil
			},
		})

		borrow = r.borrow(input(itemType, controller.InputWeak))
	})

	var reader controller.Runtime

	s.step("running, all resources in the cache", func() {
		r.start()

		reader = borrow()

		_, err := reader.Get(t.ctx, pointer(itemType, itemID(0)))
		t.check(err)
		t.rest()
	})
	s.step(fmt.Sprintf("%d items created and queued", c.items), func() {
		for number := range c.items {
			r.create(newItem(otherType, number))
		}

		t.wait(parked)
		t.rest()
	})
	s.step("drained", func() {
		r.beforeEnd()
		t.wait(drained.reached)
		t.rest()
	})
	s.step("all cached resources listed once", func() {
		list, err := reader.List(t.ctx, kind(itemType))
		t.check(err)

		if len(list.Items) != c.resources {
			t.check(fmt.Errorf("%d resources in the cache, not %d", len(list.Items), c.resources))
		}
	})
	s.step("ended", r.end)
}

// idleQueue is a queue controller that has nothing to do, on one of the types that the classic ones read.
func idleQueue(number int) *queued {
	return &queued{
		name:      fmt.Sprintf("queue-%d", number),
		inputs:    []controller.Input{input(typeOf(number%registeredTypes), controller.InputQPrimary)},
		reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error { return nil },
	}
}
