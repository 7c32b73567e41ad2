package recording

import (
	"context"
	"time"

	"github.com/jonboulle/clockwork"
)

// Clock returns a clock for a pass: it shows the given one, and what the pass reads of it is in the recording. The context
// is that of the pass or the Run. In a replay the given one is not looked at, a timer fires when the recorded pass has
// taken the time from it, and a function that was to be called after a time is not.
func Clock(ctx context.Context, clock clockwork.Clock) clockwork.Clock {
	t := traceOf(ctx)
	if t == nil {
		return clock
	}

	return &tracedClock{ctx: ctx, trace: t, inner: clock}
}

type tracedClock struct {
	trace

	ctx   context.Context
	inner clockwork.Clock
}

// Now implements [clockwork.Clock].
func (c *tracedClock) Now() time.Time {
	now, _ := Ask(c.ctx, "the time", func() (time.Time, error) { return c.inner.Now(), nil })

	return now
}

// Since implements [clockwork.Clock].
func (c *tracedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until implements [clockwork.Clock].
func (c *tracedClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Sleep implements [clockwork.Clock].
func (c *tracedClock) Sleep(d time.Duration) {
	_ = Do(c.ctx, "to sleep "+d.String(), func() error {
		c.inner.Sleep(d)

		return nil
	})
}

// After implements [clockwork.Clock].
func (c *tracedClock) After(d time.Duration) <-chan time.Time {
	return c.start("a time after ", d, false, true).out
}

// NewTimer implements [clockwork.Clock].
func (c *tracedClock) NewTimer(d time.Duration) clockwork.Timer {
	return c.start("a timer of ", d, false, false)
}

// NewTicker implements [clockwork.Clock].
func (c *tracedClock) NewTicker(d time.Duration) clockwork.Ticker {
	return tickerOf{c.start("a ticker of ", d, true, false)}
}

// AfterFunc implements [clockwork.Clock]. What f does is that of a goroutine of the controller's own.
func (c *tracedClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	t := &timer{clock: c}

	c.ask(c.ctx, question{verb: "ask", with: "to be called after " + d.String()}, func(context.Context) reply {
		t.start(d, f)

		return reply{}
	})

	return t
}

func (c *tracedClock) start(what string, d time.Duration, repeats, passing bool) *timer {
	t := &timer{clock: c, out: make(chan time.Time, 1), passing: passing}

	if repeats {
		t.period = d
	}

	t.number = c.ask(c.ctx, question{verb: "ask", with: what + d.String()}, func(context.Context) reply {
		t.start(d, t.fire)

		return reply{}
	}).number

	c.keep(t)

	return t
}
