package adapter

import "sync"

// spareHands is how many idle goroutines a crew keeps.
const spareHands = 16

// Crew runs loops that mostly end soon, in goroutines that it uses again: a new one has to grow its stack at its first
// work, which takes longer than many a pass. The zero value is a closed crew, which runs loops and keeps no goroutine.
type Crew struct {
	// mu guards idle, whose goroutines wait for what to run next, and open.
	mu   sync.Mutex
	idle []chan func()
	open bool

	waiting sync.WaitGroup // the idle ones
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

// Loop is [Loop] in a goroutine of the crew.
func (c *Crew) Loop(wg *sync.WaitGroup, step func() bool, exited func()) {
	wg.Add(1)

	work := func() { loop(wg, step, exited) }

	if hand := c.take(); hand != nil {
		hand <- work
	} else {
		go c.work(work)
	}
}

// take returns an idle goroutine, the one that was at work last, or nil.
func (c *Crew) take() chan func() {
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
func (c *Crew) work(next func()) {
	hand := make(chan func(), 1)

	for next != nil {
		next()

		if !c.rest(hand) {
			return
		}

		next = <-hand

		c.waiting.Done()
	}
}

// rest makes the goroutine an idle one, if there are not too many.
func (c *Crew) rest(hand chan func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if !c.open || len(c.idle) == spareHands {
		return false
	}

	c.idle = append(c.idle, hand)
	c.waiting.Add(1)

	return true
}
