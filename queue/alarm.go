package queue

import (
	"math"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// slack is by how much a timer may be late because time went by while it was being set.
const slack = time.Microsecond

// alarm keeps the one timer of a queue set for the earliest delay. It counts time from a start.
//
// An alarm belongs to a queue and is guarded by the lock of the queue: but for now, every method is called with it held.
type alarm struct {
	clock clockwork.Clock
	start time.Time

	// bell is nil until the first delay.
	bell *bell
}

// bell is the timer, and what is known of it.
type bell struct {
	timer clockwork.Timer
	// set tells that the timer was set for the time at and has not been cleared since; it may have fired.
	set bool
	at  time.Duration

	// calls counts the calls of ring that are yet to come or not yet over, quiet that there are none.
	calls int
	quiet sync.Cond
}

// sleeper is the queue.
type sleeper interface {
	// lock returns the lock of the queue.
	lock() sync.Locker
	// collectLocked makes ready what is due, and returns when the next is, or false if nothing is delayed.
	collectLocked(now time.Duration) (next time.Duration, some bool)
	// ring is what the timer runs, on a goroutine of the clock. It takes the lock, and ends with a call of rung.
	ring()
}

// newAlarm returns an alarm that counts time from the start, or if that is zero, from now on.
func newAlarm(clock clockwork.Clock, start time.Time) alarm {
	if clock == nil {
		clock = clockwork.NewRealClock()
	}

	if start.IsZero() {
		start = clock.Now()
	}

	return alarm{clock: clock, start: start}
}

// now never goes below 0, whatever the clock does.
func (a *alarm) now() time.Duration { return max(a.clock.Since(a.start), 0) }

// settle makes ready what is due, and has the timer set for the next delay, or cleared if there is none.
//
// The clock may move while the timer is being set: a fake one by hours, if it is advanced at that moment. The timer
// would come as much too late, or with a fake clock never. So the time is read again afterwards, and if it has moved
// the timer is set again, from the new time. The tolerance doubles so that this ends also where reading a clock is slow.
func (a *alarm) settle(now time.Duration, q sleeper) {
	for tolerance, late := slack, false; ; tolerance *= 2 {
		next, some := q.collectLocked(now)
		if !some {
			a.clear()

			return
		}

		if a.bell != nil && a.bell.set && a.bell.at == next && !late {
			return
		}

		a.arm(next, next-now, q)

		then := a.now()
		if then-now <= tolerance {
			return
		}

		now, late = then, true
	}
}

func (a *alarm) arm(at, wait time.Duration, q sleeper) {
	b := a.bell
	if b == nil {
		b = &bell{quiet: sync.Cond{L: q.lock()}}
		a.bell = b
	}

	b.at, b.set = at, true

	switch {
	case b.timer == nil:
		b.timer = a.clock.AfterFunc(wait, q.ring)
		b.calls++
	case !b.timer.Reset(wait):
		b.calls++
	}
}

// clear stops the timer. A call of ring that has begun goes on.
func (a *alarm) clear() {
	b := a.bell
	if b == nil {
		return
	}

	if b.set && b.timer.Stop() {
		b.calls--
	}

	b.set = false
}

// rung says that a call of ring is over.
func (a *alarm) rung() {
	a.bell.calls--

	if a.bell.calls == 0 {
		a.bell.quiet.Broadcast()
	}
}

// wait lets go of the lock until no call of ring is running or to come.
func (a *alarm) wait() {
	for a.bell != nil && a.bell.calls > 0 {
		a.bell.quiet.Wait()
	}
}

// after returns the time that lies wait after now, the end of time if there is none.
func after(now, wait time.Duration) time.Duration {
	if wait > math.MaxInt64-now {
		return math.MaxInt64
	}

	return now + max(wait, 0)
}
