package queue_test

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// handClock is a clock that runs what is due on the goroutine that advances it. It has the methods that a queue uses and
// no others: those panic.
type handClock struct {
	clockwork.Clock

	// mu guards everything below.
	mu     sync.Mutex
	time   time.Time
	timers []*handTimer
}

type handTimer struct {
	clockwork.Timer

	clk *handClock
	f   func()
	// at is when f is to run, zero if it is not.
	at time.Time
}

func newHandClock() *handClock {
	return &handClock{time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.time
}

func (c *handClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *handClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	t := &handTimer{clk: c, f: f}

	c.mu.Lock()
	c.timers = append(c.timers, t)
	c.mu.Unlock()

	t.Reset(d)

	return t
}

func (t *handTimer) Reset(d time.Duration) bool {
	t.clk.mu.Lock()
	defer t.clk.mu.Unlock()

	was := !t.at.IsZero()
	t.at = t.clk.time.Add(d)

	return was
}

func (t *handTimer) Stop() bool {
	t.clk.mu.Lock()
	defer t.clk.mu.Unlock()

	was := !t.at.IsZero()
	t.at = time.Time{}

	return was
}

// advance moves the clock and runs what is due then.
func (c *handClock) advance(d time.Duration) {
	c.move(d)
	c.fire()
}

// move moves the clock and leaves the timers for fire: the moment between a deadline and its timer.
func (c *handClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.time = c.time.Add(d)
}

func (c *handClock) fire() {
	for f := c.due(); f != nil; f = c.due() {
		f()
	}
}

func (c *handClock) due() func() {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, t := range c.timers {
		if !t.at.IsZero() && !t.at.After(c.time) {
			t.at = time.Time{}

			return t.f
		}
	}

	return nil
}

// running returns how many timers are set.
func (c *handClock) running() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	count := 0

	for _, t := range c.timers {
		if !t.at.IsZero() {
			count++
		}
	}

	return count
}

// setClock is a fake clock that calls a function whenever a queue is about to set its timer, and wraps what the timer is
// to run.
type setClock struct {
	*clockwork.FakeClock

	setting func()
	wrap    func(f func())
}

type setTimer struct {
	clockwork.Timer

	setting func()
}

func (c *setClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	c.setting()

	return &setTimer{
		Timer:   c.FakeClock.AfterFunc(d, func() { c.wrap(f) }),
		setting: c.setting,
	}
}

func (t *setTimer) Reset(d time.Duration) bool {
	t.setting()

	return t.Timer.Reset(d)
}
