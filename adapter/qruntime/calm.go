package qruntime

import (
	"cmp"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	// free is how many passes of an item in a row may be caused by what the controller has written itself, and write again,
	// before the next ones have to wait: to get somewhere step by step is an honest way to work.
	free = 16
	// linger is for how long the next change of such a row is waited for. What comes later begins a new one.
	linger = 5 * time.Second
)

// damped are the items that are kept waiting because their passes write what wakes them. They are few, and mostly none. Nil is
// none, and can be asked.
type damped struct {
	// count is how many there are.
	count atomic.Int64

	// mu guards items, and the size at which what is over is looked for next.
	mu    sync.Mutex
	items map[item]damping
	sweep int
}

// damping is what is known of one of them: which pass in a row it was, and until when the item waits.
type damping struct {
	passes int
	until  time.Duration
}

// leastSweep is the number of damped items from which on those that are over are looked for.
const leastSweep = 64

// add notes that an item waits.
func (d *damped) add(it item, as damping, now time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.items == nil {
		d.items = map[item]damping{}
	}

	d.items[it] = as

	if len(d.items) >= max(d.sweep, leastSweep) {
		d.sweepLocked(now)
		d.sweep = 2 * len(d.items)
	}

	d.count.Store(int64(len(d.items)))
}

// remove notes that an item does not wait any more. Where none does, which is the rule, it costs one load.
func (d *damped) remove(it item) {
	if d == nil || d.count.Load() == 0 {
		return
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	delete(d.items, it)
	d.count.Store(int64(len(d.items)))
}

// sweepLocked forgets items that have waited, and were not worked on since.
func (d *damped) sweepLocked(now time.Duration) {
	for it, as := range d.items {
		if as.until+linger < now {
			delete(d.items, it)
		}
	}
}

// status returns how many items are damped, and the one that has been for the most passes.
func (d *damped) status(now time.Duration) (count int, most item) {
	if d == nil {
		return 0, most
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	d.sweepLocked(now)
	d.count.Store(int64(len(d.items)))

	passes := 0

	for it, as := range d.items {
		if c := cmp.Or(cmp.Compare(as.passes, passes), most.compare(it)); c > 0 {
			most, passes = it, as.passes
		}
	}

	return len(d.items), most
}

// goesOn tells which pass in a row one was that was caused by what the controller had written itself, and that has written
// again; 0 is that it was none of that.
func (w *worker) goesOn(p *pass) (streak int) {
	if !w.own() || !w.wrote() {
		return 0
	}

	return w.adapter.queue.GoOn(p.item())
}

// wrote tells whether the pass has changed anything that the controller is told of. What was written under none of the contexts
// of passes counts for all passes that ran.
func (w *worker) wrote() bool { return w.hasMade() != w.made }

// hasMade counts what the worker has written so far.
func (w *worker) hasMade() uint64 {
	if w.hand != nil {
		return w.hand.Made()
	}

	return w.adapter.cfg.Own.Made()
}

// rest ends the work on an item after such a pass. What the controller has written wakes it again: at first at once, later
// after its backoff. What others change does at once.
func (w *worker) rest(p *pass, streak int, now time.Duration) {
	a := w.adapter
	delay, calm := a.calming(p, streak, now)

	a.looking.Add(1)

	if calm {
		a.queue.Rest(p.item(), delay, true)
	} else {
		a.queue.Rest(p.item(), linger, false)
	}
}

// calming tells for how long an item has to wait for what the controller has written itself, if it has to.
func (a *Adapter) calming(p *pass, streak int, now time.Duration) (delay time.Duration, calm bool) {
	if streak <= free {
		a.damped.Load().remove(p.item())

		return 0, false
	}

	delay = a.backoff(streak - free)
	a.damp(p, streak, streak-free, now, delay)

	return delay, true
}

// damp records that an item is kept waiting, and says so each time that the number of times has doubled.
func (a *Adapter) damp(p *pass, passes, times int, now, delay time.Duration) {
	if a.damped.Load() == nil {
		a.damped.CompareAndSwap(nil, &damped{}) // or another worker was first
	}

	a.damped.Load().add(p.item(), damping{passes, now + delay}, now)
	a.cfg.Metrics.Damped()

	if bits.OnesCount(uint(times)) == 1 {
		a.cfg.Logger.Warn("an item is woken again and again by what its own passes write, and waits for its backoff",
			zap.Stringer("item", p), zap.Int("passes", passes), zap.Duration("next_try_in", delay))
	}
}
