package controllertest

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"time"
)

// Settle waits until nothing is pending any more: all watches are open, no controller fails, no item is worked on, and
// nothing was written for a minute of the world's time, in which items that ask to be run again later are run. A world that
// does not settle within an hour ends the run, and tells what is pending.
func (w *World) Settle() { w.await(nil) }

// Advance lets the time pass, and all that happens in it.
func (w *World) Advance(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-timer.C:
	case <-w.over:
		goruntime.Goexit()
	}
}

// await waits until the condition is met, and returns true, or until nothing is pending any more. The condition is asked
// while nothing moves.
func (w *World) await(condition func() bool) (met bool) {
	now := time.Now()
	sleep := &sleep{condition: condition, since: now, over: make(chan struct{})}

	w.mu.Lock()
	w.asleep, w.active = sleep, now
	w.mu.Unlock()

	w.sched.nudge()

	select {
	case <-sleep.over:
		return sleep.met
	case <-w.over:
		goruntime.Goexit()
	}

	return false
}

// sleep is a script that waits for the world.
type sleep struct {
	condition func() bool
	since     time.Time
	met       bool
	over      chan struct{}
}

// sleeping returns the script's sleep, and when there was something to be done last.
func (w *World) sleeping() (*sleep, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.asleep, w.active
}

func (w *World) wake(s *sleep, met bool) {
	w.mu.Lock()
	w.asleep = nil
	w.mu.Unlock()

	s.met = met
	close(s.over)
}

// met lets a script go on whose condition is met.
func (w *World) met() bool {
	s, _ := w.sleeping()
	if s == nil || s.condition == nil {
		return false
	}

	met := false

	if w.aside(func() { met = s.condition() }); met {
		w.wake(s, true)
	}

	return met
}

// aside calls a function of the test while nothing moves, in a goroutine of its own: it may end that, by an assertion that fails.
func (w *World) aside(fn func()) {
	done := make(chan struct{})

	go func() {
		defer close(done)
		defer w.recovered("a function of the test")

		fn()
	}()

	<-done
}

// recovered takes a panic for a failure. It is deferred.
func (w *World) recovered(who string) {
	if value := recover(); value != nil {
		w.Errorf("%s panics: %v", who, value)
	}
}

// settled lets a script go on that waits for nothing to be pending.
func (w *World) settled() bool {
	s, active := w.sleeping()
	if s == nil {
		return false
	}

	if time.Since(s.since) > patience {
		w.Errorf("the world does not settle within %s\n%s", patience, w.pending())

		return true
	}

	if time.Since(active) < quiet || w.delayed.Load() > 0 || w.passes() > 0 || len(w.problems()) > 0 {
		return false
	}

	w.wake(s, false)

	return true
}

// passes counts the passes of queue controllers that have begun and not ended.
func (w *World) passes() (count int) {
	if w.life != nil {
		for _, q := range w.life.queues {
			count += q.debts.passes()
		}
	}

	return count
}

func (w *World) problems() []string {
	if w.life == nil {
		return nil
	}

	return w.life.engine.Health().Problems()
}

// pending tells what is left to be done, for people.
func (w *World) pending() string {
	var out strings.Builder

	out.WriteString("pending:\n")

	for _, line := range append(w.sched.waiting(), w.problems()...) {
		fmt.Fprintf(&out, "  %s\n", line)
	}

	return out.String()
}
