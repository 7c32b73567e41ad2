package controllertest

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// outcome is what has come of a run.
type outcome struct {
	schedule  Schedule
	failure   string // empty when nothing has failed
	trace     *Trace
	end       snapshot
	decisions map[string]int
	writes    int // of controllers
}

// runs makes the runs of a test, one after the other.
type runs struct {
	t    *testing.T
	cast cast
}

func runsOf(t *testing.T) *runs { return &runs{t: t} }

// play runs a script in a bubble of its own. What fails in it is in the outcome, and does not fail the test.
func (r *runs) play(schedule Schedule, faults Faults, plan crashAt, script Script) *outcome {
	r.t.Helper()

	out := &outcome{schedule: schedule}

	synctest.Test(r.t, func(*testing.T) {
		w := newWorld(schedule, faults, plan, &r.cast)
		out.end = w.play(script)

		out.trace, out.writes, out.decisions = w.trace, w.written(), w.draws.decisions()
		out.failure = strings.Join(w.failures, "\n")
	})

	return out
}

// shown is how many turns of a failed run are shown.
const shown = 60

// report tells of a failed run, with what else is to be said of it.
func (o *outcome) report(how string, more ...string) string {
	return fmt.Sprintf("%s: %s\n%s\nwhat has happened:\n%s", how, o.failure, strings.Join(append(more, ""), "\n"), o.trace.Last(shown))
}

// Run runs the script once, calmly: everything that happens is told at once to all whom it concerns, they are at rest before
// the script does anything more, and nothing fails but what fails by itself.
func Run(t *testing.T, script Script) {
	t.Helper()

	if out := runsOf(t).play(Calm(), Faults{}, crashAt{}, script); out.failure != "" {
		t.Error(out.report("the run fails"))
	}
}

// Replay runs the script once under a schedule that a failed test has printed, with the faults that it had, and returns what
// has happened.
func Replay(t *testing.T, schedule string, faults Faults, script Script) *Trace {
	t.Helper()

	parsed, err := ParseSchedule(schedule)
	if err != nil {
		t.Fatal(err)
	}

	if err = faults.validate(); err != nil {
		t.Fatal(err)
	}

	out := runsOf(t).play(parsed, faults, crashAt{}, script)
	if out.failure != "" {
		t.Error(out.report("the replayed run fails"))
	}

	if missing := len(parsed.Kept) - len(out.decisions); parsed.Kept != nil && missing > 0 {
		t.Errorf("%d of the %d decisions of the schedule have not come up: it is of other faults, or of another script", missing, len(parsed.Kept))
	}

	return out.trace
}
