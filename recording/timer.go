package recording

import (
	"context"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// timer is a timer or ticker of a controller. Its channel is its own, since what counts is not when it fired but when the
// controller has taken the time from it: the next time that the controller is heard of, a full channel is empty.
type timer struct {
	clock *tracedClock
	// number is that of the call that made it.
	number int
	// out is unbuffered in a replay, which gives out the times.
	out chan time.Time
	// passing tells that nobody can stop it, so that it is forgotten at some time.
	passing bool

	// mu guards what follows.
	mu sync.Mutex
	// inner is what it goes by; nil in a replay.
	inner clockwork.Timer
	// period is that of a ticker, else 0.
	period time.Duration
	// fired tells that a time lies in the channel, or was taken from it without being noted; at is that time.
	fired bool
	at    time.Time
	// stopped tells that it does not fire.
	stopped bool
	// unheard counts for how many passes a time has lain in the channel.
	unheard int
}

// start lets it go by the clock.
func (t *timer) start(d time.Duration, f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.inner = t.clock.inner.AfterFunc(d, f)
}

// fire puts the time into the channel, unless one lies there.
func (t *timer) fire() {
	now := t.clock.inner.Now()

	t.mu.Lock()
	defer t.mu.Unlock()

	if t.stopped {
		return
	}

	t.putLocked(now)

	if t.period > 0 {
		t.inner.Reset(t.period)
	}
}

func (t *timer) putLocked(now time.Time) {
	select {
	case t.out <- now:
		t.fired, t.at, t.unheard = true, now, 0
	default:
	}
}

// taken tells whether the controller has taken a time since it was last asked, and which.
func (t *timer) taken() (time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if !t.fired || len(t.out) > 0 {
		return time.Time{}, false
	}

	t.fired = false

	return t.at, true
}

// patience is for how many passes a time may lie in a channel of [clockwork.Clock.After] before the timer is forgotten:
// whoever waits for a time or a wakeup, whichever comes first, leaves one behind at each wakeup.
const patience = 16

// over tells, once for each pass, whether nothing more is to be heard of it.
func (t *timer) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.fired {
		t.unheard++
	}

	return t.stopped || t.passing && t.unheard > patience
}

// halt lets it fire no more.
func (t *timer) halt() (active bool) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.stopped = true

	if t.inner != nil {
		active = t.inner.Stop()
	}

	t.emptyLocked()

	return active
}

// emptyLocked takes back a time that nobody has taken.
func (t *timer) emptyLocked() {
	select {
	case <-t.out:
		t.fired = false
	default:
	}
}

// Chan implements [clockwork.Timer].
func (t *timer) Chan() <-chan time.Time { return t.out }

// Stop implements [clockwork.Timer].
func (t *timer) Stop() bool {
	return t.clock.ask(t.clock.ctx, question{verb: "ask", with: "to stop a timer"}, func(context.Context) reply {
		return reply{ok: t.halt()}
	}).ok
}

// Reset implements [clockwork.Timer].
func (t *timer) Reset(d time.Duration) bool {
	return t.clock.ask(t.clock.ctx, question{verb: "ask", with: "to set a timer to " + d.String()}, func(context.Context) reply {
		t.mu.Lock()
		defer t.mu.Unlock()

		t.emptyLocked()
		t.stopped = false

		if t.period > 0 {
			t.period = d
		}

		return reply{ok: t.inner.Reset(d)}
	}).ok
}

// tickerOf makes a ticker of a timer.
type tickerOf struct{ *timer }

// Reset implements [clockwork.Ticker].
func (t tickerOf) Reset(d time.Duration) { t.timer.Reset(d) }

// Stop implements [clockwork.Ticker].
func (t tickerOf) Stop() { t.timer.Stop() }
