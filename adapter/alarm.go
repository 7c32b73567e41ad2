package adapter

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// Alarm calls a function after some time, once, unless it is stopped before.
type Alarm struct {
	timer clockwork.Timer
	rung  chan struct{}
}

// SetAlarm has do called in a goroutine of the clock.
func SetAlarm(clock clockwork.Clock, after time.Duration, do func()) *Alarm {
	rung := make(chan struct{})

	return &Alarm{
		timer: clock.AfterFunc(after, func() {
			defer close(rung)

			do()
		}),
		rung: rung,
	}
}

// Stop returns when the function has returned, or will not be called any more. It is called once, and without any lock
// that the function takes. On nil it does nothing.
func (a *Alarm) Stop() {
	if a != nil && !a.timer.Stop() {
		<-a.rung
	}
}
