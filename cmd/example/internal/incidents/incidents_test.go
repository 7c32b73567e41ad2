//go:build linux

package incidents_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect/api"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// update has the transcripts written anew.
var update = flag.Bool("update", false, "write the transcripts in testdata anew")

// screen is how many lines are seen without scrolling.
const screen = 24

// incident is something that goes wrong on an appliance.
type incident struct {
	name string
	// document is what the machine begins with.
	document string
	// root is what is the matter, as whoever wrote the incident knows: a line of the first screen has to match it.
	root string
	// happens has it happen, and returns how to ask then.
	happens func(m *machine) (ask func() string)
}

const daemon = `
hostname: box
files:
  - path: etc/settings
    content: "workers = 4\n"
services:
  - name: web
    command: [/bin/sleep, "3600"]
    env: {LEVEL: info}
    restart: {delay: 100ms, max: 1s}
`

var incidents = []incident{
	{
		name: "a mistake in the document", document: daemon,
		root: `refused.*hostnam\b`,
		happens: func(m *machine) func() string {
			m.ready()
			m.write(strings.Replace(daemon, "hostname:", "hostnam:", 1))
			await(m, resources.TheMachine, func(s *resources.ConfigStatus) bool { return s.TypedSpec().Refused })

			return m.asks(m.why, refTo[*resources.ConfigStatus](resources.TheMachine))
		},
	},
	{
		name: "a mistake in the first document", document: "hostname: box\nservices:\n  - name: web\n    comand: [true]\n",
		root: `comand`,
		happens: func(m *machine) func() string {
			await(m, resources.TheMachine, func(s *resources.MachineStatus) bool { return len(s.TypedSpec().Missing) > 1 })

			return m.asks(m.blocked, refTo[*resources.MachineStatus](resources.TheMachine))
		},
	},
	{
		name: "a file that was changed on the disk", document: daemon,
		root: `FileStatuses.*(content|changed)|DiskController was asked for without any change`,
		happens: func(m *machine) func() string {
			m.ready()
			require.NoError(m.t, os.WriteFile(m.path("etc/settings"), []byte("workers = 400\n"), 0o644))
			await(m, "etc/settings", func(s *resources.FileStatus) bool { return s.TypedSpec().Data.Repairs > 0 })

			return m.asks(m.why, refTo[*resources.FileStatus]("etc/settings"))
		},
	},
	{
		name: "a file that something is in the way of", document: "hostname: box\n",
		root: `FileStatuses.*etc/settings.*Obstructed`,
		happens: func(m *machine) func() string {
			m.ready()
			require.NoError(m.t, os.MkdirAll(m.path("etc/settings/mine"), 0o755))
			m.write("hostname: box\nfiles: [{path: etc/settings, content: x}]\n")
			await(m, resources.TheMachine, func(s *resources.MachineStatus) bool {
				return strings.Contains(strings.Join(s.TypedSpec().Missing, "\n"), "Obstructed")
			})

			return m.asks(m.blocked, refTo[*resources.MachineStatus](resources.TheMachine))
		},
	},
	{
		name: "a service that was killed", document: daemon,
		root: `ProcessController was asked for without any change.*killed`,
		happens: func(m *machine) func() string {
			m.ready()

			status, err := safe.StateGetByID[*resources.ProcessStatus](m.t.Context(), m.state, "web")
			require.NoError(m.t, err)
			require.NoError(m.t, syscall.Kill(status.TypedSpec().PID, syscall.SIGKILL))
			await(m, "web", func(s *resources.ServiceStatus) bool { return s.TypedSpec().Data.Restarts > 0 })

			return m.asks(m.why, refTo[*resources.ServiceStatus]("web"))
		},
	},
	{
		name: "a service that flaps because the document changes", document: daemon,
		root: `DocumentController was asked for without any change`,
		happens: func(m *machine) func() string {
			m.ready()

			for _, level := range []string{"debug", "warn", "error"} {
				m.write(strings.Replace(daemon, "LEVEL: info", "LEVEL: "+level, 1))
				await(m, "web", func(p *resources.Process) bool { return slices.Contains(p.TypedSpec().Env, "LEVEL="+level) })
			}

			return m.asks(m.why, refTo[*resources.Process]("web"))
		},
	},
	{
		name: "a service that waits for one that fails",
		document: `
hostname: box
services:
  - name: prepare
    kind: oneshot
    command: [/bin/sh, -c, "exit 3"]
    restart: {delay: 1h, max: 1h}
  - {name: web, command: [/bin/sleep, "3600"], needs: [prepare]}
  - {name: sidecar, command: [/bin/sleep, "3600"], needs: [web]}
`,
		root: `(Services|ServiceStatuses|ProcessStatuses)\S*\(machine/prepare\).*(code|status) 3`,
		happens: func(m *machine) func() string {
			m.says("prepare", "Failed")
			m.says("sidecar", "Waiting")

			return m.asks(m.blocked, refTo[*resources.ServiceStatus]("sidecar"))
		},
	},
	{
		name: "a service that does not answer",
		document: `
hostname: box
services:
  - name: web
    command: [/bin/sleep, "3600"]
    port: auto
    health: {path: /healthz, interval: 100ms, failures: 1000, grace: 1h}
  - {name: sidecar, command: [/bin/sleep, "3600"], needs: [web]}
`,
		root: `connection refused`,
		happens: func(m *machine) func() string {
			m.says("web", "refused")
			m.says("sidecar", "Waiting")

			return m.asks(m.blocked, refTo[*resources.Service]("sidecar"))
		},
	},
	{
		name: "a service that does not stop",
		document: `
hostname: box
services:
  - {name: web, command: [/bin/sh, -c, "trap '' TERM; while :; do sleep 1; done"], stop: 10m}
`,
		root: `web.*process has not ended yet|web.*stopping`,
		happens: func(m *machine) func() string {
			m.ready()
			m.write("hostname: box\n")
			await(m, "web", func(s *resources.ProcessStatus) bool { return s.TypedSpec().State == "stopping" })

			return m.asks(m.blocked, refTo[*resources.Service]("web"))
		},
	},
	{
		name: "a machine that is being stopped", document: daemon,
		root: `PowerStates\S*\(config/machine\) v1: created, from outside`,
		happens: func(m *machine) func() string {
			m.ready()

			power := resources.NewPowerState()
			power.TypedSpec().Off = true
			require.NoError(m.t, m.state.Create(m.t.Context(), power))
			m.says("web", "being stopped")

			return m.asks(m.why, refTo[*resources.ServiceStatus]("web"))
		},
	},
}

// asks asks about a resource.
func (m *machine) asks(ask func(api.Ref) string, ref api.Ref) func() string {
	return func() string { return ask(ref) }
}

// What goes wrong on an appliance is named on the first screen of the answer to the question that comes to mind.
func TestIncidents(t *testing.T) {
	t.Parallel()

	for _, in := range incidents {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()

			m := newMachine(t, in.document)
			root := regexp.MustCompile(in.root)

			var text string

			// The machine goes on while it is asked.
			ask := in.happens(m)
			named := m.eventually(func() bool {
				text = ask()
				lines := strings.Split(text, "\n")

				return slices.ContainsFunc(lines[:min(screen, len(lines))], root.MatchString)
			})
			require.True(t, named, "the first screen does not say %q:\n%s", in.root, text)
			keep(t, in.name, text)
		})
	}
}

// keep keeps a transcript, if that is wanted; else it asserts that there is one. What happens at the same time is in another order
// each time, so transcripts are for people, and only what they have to name is held to them.
func keep(t *testing.T, name, text string) {
	t.Helper()

	path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt")

	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}

	assert.FileExists(t, path)
}
