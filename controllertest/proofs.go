package controllertest

import (
	"fmt"
	"strings"
	"testing"
)

// CrashSweep runs the script once as it is, and then twice for each write that the controllers have made in it: once their
// pass ends right after the write, and once the process does, and is started anew. Each of these runs has to end in the
// same state as the first. See [World.Compare] for what that means.
func CrashSweep(t *testing.T, script Script) {
	t.Helper()

	runs, settled := runsOf(t), toRest(script)
	first := runs.play(Calm(), Faults{}, crashAt{}, settled)

	switch {
	case first.failure != "":
		t.Fatal(first.report("without a crash the run fails"))
	case first.writes == 0:
		t.Fatalf("the controllers write nothing, so there is no write to crash after\n%s", first.trace.Last(shown))
	}

	for write := 1; write <= first.writes; write++ {
		for _, process := range []bool{false, true} {
			plan := crashAt{write, process}
			out := runs.play(Calm(), Faults{}, plan, settled)

			if out.failure != "" {
				t.Error(out.report(fmt.Sprintf("the run with a crash of %s fails", plan)))
			} else if diff := first.end.difference("without a crash", out.end, "after the crash"); diff != "" {
				t.Errorf("a crash of %s ends in another state:\n%s\nwhat has happened:\n%s", plan, diff, out.trace.Last(shown))
			}

			if t.Failed() {
				return
			}
		}
	}
}

// toRest is the script with a rest at its end.
func toRest(script Script) Script {
	return func(w *World) {
		script(w)
		w.Settle()
	}
}

// String tells of the crash.
func (c crashAt) String() string {
	if c.process {
		return fmt.Sprintf("the process after write %d", c.write)
	}

	return fmt.Sprintf("the pass after write %d", c.write)
}

// AssertIdempotent runs the script, and when all is done, wakes every controller for everything it has inputs for, and then
// starts all of them anew. Nothing may be written by that: a controller at rest stays at rest. What [World.Compare] leaves out
// may.
func AssertIdempotent(t *testing.T, script Script) {
	t.Helper()

	how := "the run fails before anything is woken"

	out := runsOf(t).play(Calm(), Faults{}, crashAt{}, func(w *World) {
		toRest(script)(w)

		how = "the controllers are not idempotent"
		unchanged := func(after string) {
			w.Settle()

			if more := w.sinceMark(); len(more) > 0 {
				w.Fatalf("this was written after %s, although nothing had changed:\n\t%s", after, strings.Join(more, "\n\t"))
			}
		}

		w.mark()
		w.WakeAll()
		unchanged("all controllers were woken")
		w.Restart()
		unchanged("the engine was started anew")
	})
	if out.failure != "" {
		t.Error(out.report(how))
	}
}

// Confluent runs the script in k orders, and all have to end in the same state. Nothing fails in them, so what is different
// is only who was quicker. See [World.Compare] for what counts.
func Confluent(t *testing.T, k int, script Script) {
	t.Helper()

	if k < 1 {
		t.Fatalf("Confluent was asked for %d orders: give at least 1", k)
	}

	runs, settled := runsOf(t), toRest(script)
	first := runs.play(Calm(), Faults{}, crashAt{}, settled)
	if first.failure != "" {
		t.Fatal(first.report("in the calm order the run fails"))
	}

	differs := func(schedule Schedule) (*outcome, bool) {
		out := runs.play(schedule, Faults{}, crashAt{}, settled)

		return out, out.failure != "" || first.end.difference("", out.end, "") != ""
	}

	for seed := range uint64(k) {
		out, different := differs(Schedule{Seed: seed + 1})
		if !different {
			continue
		}

		short := shrink(out, differs)
		how := fmt.Sprintf("the order of seed %d; replay it with\n\tcontrollertest.Replay(t, %q, controllertest.Faults{}, script)", seed+1, short.schedule)

		if short.failure != "" {
			t.Fatal(short.report("the run fails in " + how))
		}

		t.Fatalf("two orders end in different states: the calm one, and %s\n%s\nthe calm order:\n%s\nthe other order:\n%s",
			how, first.end.difference("the calm order", short.end, "the other order"), first.trace.Last(shown), short.trace.Last(shown))
	}
}
