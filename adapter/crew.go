package adapter

import (
	"context"
	"runtime/pprof"
	"sync"

	"github.com/switchyard-run/switchyard/contain"
)

// spareHands is how many idle goroutines a crew keeps.
const spareHands = 16

// Crew runs loops that mostly end soon, in goroutines that it uses again: a new one has to grow its stack at its first
// work, which takes longer than many a pass. The zero value is a closed crew, which runs loops and keeps no goroutine.
type Crew struct {
	// mu guards idle, whose goroutines wait for what to run next, and open.
	mu   sync.Mutex
	idle []chan task
	open bool

	waiting sync.WaitGroup // the idle ones
}

// task is a loop that is to be run under the labels of a context; see [contain.Loop].
type task struct {
	labels context.Context
	wg     *sync.WaitGroup
	step   func() bool
	exited func()
}

// Open has goroutines kept until Close.
func (c *Crew) Open() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.open = true
}

// Close lets the idle goroutines go and waits for them. Those at work end with their loops.
func (c *Crew) Close() {
	c.mu.Lock()
	c.open = false

	for _, hand := range c.idle {
		close(hand)
	}

	c.idle = nil
	c.mu.Unlock()

	c.waiting.Wait()
}

// Loop is [contain.Loop] in a goroutine of the crew, which has the pprof labels of the context meanwhile.
func (c *Crew) Loop(ctx context.Context, wg *sync.WaitGroup, step func() bool, exited func()) {
	wg.Add(1)

	next := task{ctx, wg, step, exited}

	if hand := c.take(); hand != nil {
		hand <- next
	} else {
		go c.work(next)
	}
}

// take returns an idle goroutine, the one that was at work last, or nil.
func (c *Crew) take() chan task {
	c.mu.Lock()
	defer c.mu.Unlock()

	last := len(c.idle) - 1
	if last < 0 {
		return nil
	}

	hand := c.idle[last]
	c.idle = c.idle[:last]

	return hand
}

// work runs one loop after the other for as long as the goroutine is kept. A loop that ends it takes it away.
func (c *Crew) work(next task) {
	hand := make(chan task, 1)

	for more := true; more; {
		pprof.SetGoroutineLabels(next.labels)
		contain.LoopHere(next.wg, next.step, next.exited)
		pprof.SetGoroutineLabels(context.Background())

		if !c.rest(hand) {
			return
		}

		next, more = <-hand

		c.waiting.Done()
	}
}

// rest makes the goroutine an idle one, if there are not too many.
func (c *Crew) rest(hand chan task) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if !c.open || len(c.idle) == spareHands {
		return false
	}

	c.idle = append(c.idle, hand)
	c.waiting.Add(1)

	return true
}
