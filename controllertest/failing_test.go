package controllertest_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
)

// Names of what TestThatFails is to do, in its environment.
const (
	failsWith     = "CONTROLLERTEST_FAILS"
	failsSchedule = "CONTROLLERTEST_SCHEDULE"
)

// scripts are scripts that fail, beside those of the bugs.
var scripts = map[string]controllertest.Script{
	"never settles": func(w *controllertest.World) {
		w.Start(withBilling(billing{before: func(*order) error { return errNoPaper }}))
		w.Create(newOrder("a", 1))
		w.Settle()
	},
	"waits for what never comes": func(w *controllertest.World) {
		w.Start(withBilling(billing{}))
		w.Create(newOrder("a", 1))
		controllertest.Await(w, newBill("a", 0).Metadata(), func(b *bill) error {
			if b.TypedSpec().N != 7 {
				return errNoPaper
			}

			return nil
		})
	},
	"panics":           func(*controllertest.World) { panic("no idea") },
	"forgets to start": func(w *controllertest.World) { w.Restart() },
	"starts twice": func(w *controllertest.World) {
		w.Start(withBilling(billing{}))
		w.Start(withBilling(billing{}))
	},
	"registers badly": func(w *controllertest.World) {
		w.Start(func(e controller.Engine) error {
			if err := e.RegisterQController(&billing{}); err != nil {
				return err
			}

			return e.RegisterQController(&billing{})
		})
	},
	"creates twice": func(w *controllertest.World) { w.Create(newOrder("a", 1), newOrder("a", 1)) },
	"remembers": func(w *controllertest.World) {
		one := &billing{}

		w.Start(func(e controller.Engine) error { return e.RegisterQController(one) })
		w.Restart()
	},
	"asserts while it waits": func(w *controllertest.World) {
		w.Start(withBilling(billing{}))
		w.Create(newOrder("a", 1))
		controllertest.Await(w, newBill("a", 0).Metadata(), func(b *bill) error {
			require.Equal(w, 17, b.TypedSpec().N)

			return nil
		})
	},
	"panics while it waits": func(w *controllertest.World) {
		w.Start(withBilling(billing{}))
		w.Create(newOrder("a", 1))
		controllertest.Await(w, newBill("a", 0).Metadata(), func(*bill) error { panic("no idea") })
	},
	"asserts while it compares": func(w *controllertest.World) {
		w.Compare(func(res resource.Resource) resource.Resource {
			require.NotEqual(w, "a", res.Metadata().ID())

			return res
		})
		w.Create(newOrder("a", 1))
	},
	"runs the engine itself": func(w *controllertest.World) {
		w.Start(func(e controller.Engine) error { return e.Run(w.Context()) })
	},
}

// TestThatFails is run by other tests, in a process of its own.
func TestThatFails(t *testing.T) {
	name := os.Getenv(failsWith)

	if script, ok := scripts[name]; ok {
		controllertest.Run(t, script)

		return
	}

	if name == "hides what differs" {
		controllertest.Confluent(t, 20, queueing)

		return
	}

	bug, ok := bugs[name]
	if !ok {
		t.Skip("it is there for other tests, which run it in a process of its own, since it fails")
	}

	if schedule := os.Getenv(failsSchedule); schedule != "" {
		controllertest.Replay(t, schedule, controllertest.Storm(), bug.buying)
	} else {
		bug.proof(t, bug.buying)
	}
}

// failing returns what a test prints that has to fail.
func failing(t *testing.T, name, schedule string) string {
	t.Helper()

	self, err := os.Executable()
	require.NoError(t, err)

	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestThatFails$")
	cmd.Env = append(os.Environ(), failsWith+"="+name, failsSchedule+"="+schedule)

	out, err := cmd.CombinedOutput()
	require.Error(t, err, "it should fail:\n%s", out)
	require.NotContains(t, string(out), "\ngoroutine ", "it should not crash")

	return string(out)
}

// A run that fails says why, what has happened, and what is pending.
func TestFailuresTellWhatHasHappened(t *testing.T) {
	for name, want := range map[string][]string{
		"never settles": {
			"the world does not settle within 1h0m0s", `controller "billing" has a failing item, the last error was: no paper`,
			"script creates Orders/a", "create Orders/a v1 {N:1}", "billing: reconciles Orders/a  <- Orders/a created v1 by the script",
			"more like this, until +", "fails: no paper",
		},
		"waits for what never comes": {
			"the world has settled, but Bills/a is not what is waited for: no paper", "create Bills/a v1 {N:2}", "failing_test.go",
		},
		"panics":                    {"the script panics: no idea"},
		"forgets to start":          {"no engine was started: call Start first"},
		"starts twice":              {"Start was called twice: use Restart, or register with Engine"},
		"registers badly":           {"the controllers can not be registered", `"billing"`},
		"creates twice":             {"the script can not create Orders/a", "already exists"},
		"remembers":                 {"the controllers can not be registered", `controller "billing" is the very value`, "make a new one"},
		"asserts while it waits":    {"expected: 17", "create Bills/a v1 {N:2}", "failing_test.go"},
		"panics while it waits":     {"a function of the test panics: no idea", "create Bills/a v1 {N:2}"},
		"asserts while it compares": {"Should not be: \"a\"", "create Orders/a v1 {N:1}"},
		"hides what differs":        {"two orders end in different states", "n: (int) 2"},
		"runs the engine itself":    {"the world runs the engine: leave Run out, Start does it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			out := failing(t, name, "")
			for _, text := range want {
				assert.Contains(t, out, text)
			}
		})
	}
}

// What a failed exploration prints is short, and fails in the same way when it is replayed.
func TestFailingSchedulesAreShortAndReplayed(t *testing.T) {
	first := failing(t, "write before finalizer", "")

	found := regexp.MustCompile(`the run with seed \d+ fails: ([^\n]+)\n *(\d) of \d+ decisions are left[^\n]*\n\s*controllertest.Replay\(t, "([^"]+)"`).FindStringSubmatch(first)
	require.NotEmpty(t, found, "%s", first)
	assert.Contains(t, failing(t, "write before finalizer", found[3]), found[1])
	assert.Contains(t, failing(t, "write before finalizer", found[3]+"&nothing=1"), "1 of the ")
}
