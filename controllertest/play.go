package controllertest

import (
	goruntime "runtime"
	"testing/synctest"
	"time"
)

// act waits for the script's turn.
func (w *World) act(what string) {
	if err := w.sched.wait(w.Context(), acting, "script "+what, nil); err != nil {
		goruntime.Goexit()
	}
}

// play runs the script to its end, in the bubble of the caller, and returns what has come of it.
func (w *World) play(script Script) snapshot {
	done := make(chan struct{})

	go func() {
		defer close(done)
		defer w.sched.nudge()
		defer w.recovered("the script")

		script(w)
	}()

	w.run(done)

	end := w.snapshot()

	w.trace.end()
	close(w.over)

	// A script that was about to start another engine has done so, or will not any more.
	<-done
	w.later.Wait()

	if w.life != nil {
		w.life.end()
	}

	return end
}

// run gives turns until the script has ended or something has failed.
func (w *World) run(done <-chan struct{}) {
	for {
		synctest.Wait()

		select {
		case <-done:
			return
		default:
		}

		switch {
		case w.failed():
			return
		case w.reborn():
		case w.overdue():
		case w.met():
		case w.sched.turns() > mostTurns:
			w.Errorf("the world does not settle: %d turns have passed\n%s", mostTurns, w.pending())

			return
		case w.turn():
			time.Sleep(tick)
		case w.settled():
		default:
			w.sched.idle(quiet)
		}
	}
}

// turn gives one turn, if there is anything that can take it.
func (w *World) turn() bool {
	for {
		g := w.sched.choose()
		if g == nil {
			return false
		}

		w.trace.turn(w.sched.taken(), g.name, g.by)

		if g.let() {
			return true
		}

		w.trace.undo()
		w.sched.bar(g)
	}
}

// reborn replaces an engine whose process has crashed.
func (w *World) reborn() bool {
	if w.life == nil || !w.life.dead.Load() {
		return false
	}

	w.life.end()

	w.trace.turn(w.sched.taken(), "a new process starts", nil)

	if err := w.live(); err != nil {
		w.Errorf("after a crash %s", err)
	}

	return true
}

// overdue ends a run in which the engine has not done what it should have.
func (w *World) overdue() bool {
	if w.life == nil {
		return false
	}

	what := w.life.overdue()
	if what != "" {
		w.Errorf("%s", what)
	}

	return what != ""
}
