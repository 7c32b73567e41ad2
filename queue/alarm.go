package queue

import (
	"math"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// slack is by how much a timer may be late because time went by while it was being set.
const slack = time.Microsecond

// alarm keeps the one timer of a queue set for the earliest delay. It counts time from its construction.
//
// An alarm belongs to a queue and is guarded by the lock of the queue: but for now, every method is called with it held.
type alarm struct {
	clock clockwork.Clock
	start time.Time

	// collect makes ready what is due, and returns when the next is, or false if nothing is delayed.
	collect func(now time.Duration) (next time.Duration, some bool)
	// ring is what the timer runs, on a goroutine of the clock. It takes the lock, and ends with a call of rung.
	ring func()

	// timer is nil until the first delay.
	timer clockwork.Timer
	// set tells that the timer was set for the time at and has not been cleared since; it may have fired.
	set bool
	at  time.Duration

	// calls counts the calls of ring that are yet to come or not yet over, quiet that there are none.
	calls int
	quiet sync.Cond
}

// init prepares an alarm in place; the clock may be nil, for the real one.
func (a *alarm) init(clock clockwork.Clock, lock sync.Locker) {
	if clock == nil {
		clock = clockwork.NewRealClock()
	}

	a.clock, a.start, a.quiet.L = clock, clock.Now(), lock
}

// now never goes below 0, whatever the clock does.
func (a *alarm) now() time.Duration { return max(a.clock.Since(a.start), 0) }

// settle makes ready what is due, and has the timer set for the next delay, or cleared if there is none.
//
// The clock may move while the timer is being set: a fake one by hours, if it is advanced at that moment. The timer
// would come as much too late, or with a fake clock never. So the time is read again afterwards, and if it has moved
// the timer is set again, from the new time. The tolerance doubles so that this ends also where reading a clock is slow.
func (a *alarm) settle(now time.Duration) {
	for tolerance, late := slack, false; ; tolerance *= 2 {
		next, some := a.collect(now)
		if !some {
			a.clear()

			return
		}

		if a.set && a.at == next && !late {
			return
		}

		a.arm(next, next-now)

		then := a.now()
		if then-now <= tolerance {
			return
		}

		now, late = then, true
	}
}

func (a *alarm) arm(at, wait time.Duration) {
	a.at, a.set = at, true

	switch {
	case a.timer == nil:
		a.timer = a.clock.AfterFunc(wait, a.ring)
		a.calls++
	case !a.timer.Reset(wait):
		a.calls++
	}
}

// clear stops the timer. A call of ring that has begun goes on.
func (a *alarm) clear() {
	if a.set && a.timer.Stop() {
		a.calls--
	}

	a.set = false
}

// rung says that a call of ring is over.
func (a *alarm) rung() {
	a.calls--

	if a.calls == 0 {
		a.quiet.Broadcast()
	}
}

// wait lets go of the lock until no call of ring is running or to come.
func (a *alarm) wait() {
	for a.calls > 0 {
		a.quiet.Wait()
	}
}

// after returns the time that lies wait after now, the end of time if there is none.
func after(now, wait time.Duration) time.Duration {
	if wait > math.MaxInt64-now {
		return math.MaxInt64
	}

	return now + max(wait, 0)
}
