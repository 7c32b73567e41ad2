//go:build linux

package main_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

func TestTheSampleConverges(t *testing.T) {
	t.Parallel()

	p := launch(t, "")
	p.ready(1)

	assert.Equal(t, "lighthouse\n", p.read(p.path("etc/hostname")))
	assert.Contains(t, p.read(p.path("etc/hosts")), "127.0.1.1 lighthouse.example.net lighthouse\n192.0.2.10 printer printer.example.net\n")
	assert.Equal(t, "nameserver 192.0.2.53\nnameserver 2001:db8::53\nsearch example.net\n", p.read(p.path("etc/resolv.conf")))
	assert.Contains(t, p.read(p.path("etc/ntp.conf")), "server time1.example.net")
	assert.Contains(t, p.read(p.path("etc/motd")), "This is lighthouse.example.net, a small appliance on linux/")

	info, err := os.Stat(p.path("etc/appliance/settings.conf"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	// The service answers where its endpoint says.
	endpoint, ok := get[*resources.Endpoint](p, "web")
	require.True(t, ok)

	response, err := http.Get("http://" + endpoint.TypedSpec().Address + "/greeting")
	require.NoError(t, err)

	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, "good evening\n", string(text))

	// The process writes to a log of its own.
	assert.Contains(t, p.read(p.path("var/log/services/web.log")), "listening at "+endpoint.TypedSpec().Address)
}

func TestDriftIsRepaired(t *testing.T) {
	t.Parallel()

	p := launch(t, `
hostname: box
files:
  - path: a/b/settings
    mode: 0640
    content: |
      {{ .Hostname }}
`)
	p.ready(1)

	place := p.path("a/b/settings")

	for i, drift := range []struct {
		name, reason string
		do           func() error
	}{
		{"edited", "had other content", func() error { return os.WriteFile(place, []byte("mine\n"), 0o640) }},
		{"deleted", "was missing", func() error { return os.Remove(place) }},
		{"another mode", "had another mode", func() error { return os.Chmod(place, 0o604) }},
		{"replaced by a link", "was not a plain file", func() error {
			return errors.Join(os.Symlink("/etc/passwd", place+".link"), os.Rename(place+".link", place))
		}},
		{"taken away with its directories", "was missing", func() error { return os.Rename(p.path("a"), p.path("gone")) }},
		{"edited again in the new directory", "had other content", func() error { return os.WriteFile(place, []byte("mine\n"), 0o640) }},
	} {
		require.NoError(t, drift.do(), drift.name)

		p.eventually(func() error {
			status, ok := get[*resources.FileStatus](p, "a/b/settings")

			if !ok || status.TypedSpec().Data.Repairs <= i || !strings.Contains(status.TypedSpec().Data.Repaired, drift.reason) {
				return fmt.Errorf("%s: not repaired: %+v", drift.name, status.TypedSpec())
			}

			// What takes several steps may have been repaired in between.
			info, err := os.Lstat(place)
			if err != nil || info.Mode() != 0o640 {
				return fmt.Errorf("%s: mode is not right: %v", drift.name, info)
			}

			return must(p.read(place) == "box\n", "%s: content is not right", drift.name)
		})
	}
}

func TestFilesStayBelowTheRoot(t *testing.T) {
	t.Parallel()

	p := launch(t, "hostname: box\n")
	p.ready(1)

	outside := shortDir(t)
	require.NoError(t, os.Symlink(outside, p.path("out")))

	p.write("hostname: box\nfiles: [{path: out/file, content: x}]\n")

	p.eventually(func() error {
		status, ok := get[*resources.FileStatus](p, "out/file")

		if !ok {
			return errors.New("no status")
		}

		ready, _ := status.TypedSpec().Conditions.Get(operator.Ready)

		return must(ready.Reason == "Obstructed" && ready.Message != "", "%s", status.TypedSpec())
	})

	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, entries)

	_, text := p.page(http.MethodGet, "/readyz")
	assert.Contains(t, text, "file out/file: ")

	// A file that leaves the document is removed, also one that was never written; others stay.
	require.NoError(t, os.WriteFile(p.path("theirs"), nil, 0o644))
	p.write("hostname: box\nfiles: [{path: in/file, content: x}]\n")
	p.ready(3)
	assert.FileExists(t, p.path("in/file"))

	p.write("hostname: box\n")
	p.ready(4)

	p.eventually(func() error {
		_, err := os.Stat(p.path("in"))

		return must(errors.Is(err, os.ErrNotExist), "still there")
	})

	assert.FileExists(t, p.path("theirs"))
}

// obedient is a command that notes when it is asked to stop, takes a moment, and stops. It has a child in its group.
const obedient = `[sh, -c, 'trap "sleep 0.1; echo $NAME >> $ROOT/order; exit 0" TERM; sleep 1000 & while :; do sleep 0.02; done']`

func TestServicesStopInOrder(t *testing.T) {
	t.Parallel()

	const all = `
hostname: box
services:
  - {name: top, needs: [middle], command: ` + obedient + `}
  - {name: middle, needs: [bottom], command: ` + obedient + `}
  - {name: bottom, command: ` + obedient + `}
  - {name: other, command: ` + obedient + `}
`

	p := launch(t, all)
	p.ready(1)

	pids := make(map[string]int)

	for _, name := range []string{"top", "middle", "bottom", "other"} {
		pids[name] = p.service(name, func(s serviceState) bool { return s.ready }).PID
	}

	// Starting: nobody was started before what it needs was ready.
	var started []string

	for line := range strings.Lines(p.read(p.log)) {
		if strings.Contains(line, "service started") {
			for name := range pids {
				if strings.Contains(line, `"`+name+`"`) && name != "other" {
					started = append(started, name)
				}
			}
		}
	}

	assert.Equal(t, []string{"bottom", "middle", "top"}, started)

	// Leaving the document: each resource goes after its process, and processes go in the reverse order.
	events := make(chan state.Event)
	require.NoError(t, p.state.WatchKind(t.Context(), resources.NewProcess("").Metadata(), events))

	p.write("hostname: box\nservices: [{name: other, command: " + obedient + "}]\n")

	var gone []string

	for len(gone) < 3 {
		event := <-events
		require.NoError(t, event.Error)

		if event.Type == state.Destroyed {
			name := event.Resource.Metadata().ID()
			gone = append(gone, name)

			assert.False(t, runs(pids[name]), "the resource of %s is gone, and its process is not", name)
		}
	}

	assert.Equal(t, []string{"top", "middle", "bottom"}, gone)
	assert.Equal(t, "top\nmiddle\nbottom\n", p.read(p.path("order")))

	p.ready(2)
	assert.True(t, runs(pids["other"]), "a service that has not changed goes on")

	// Nothing is left of the groups of those that have gone.
	for _, process := range left(t, p.root) {
		assert.Contains(t, process, "other: ")
	}
}

func TestAServiceThatDiesIsRestarted(t *testing.T) {
	t.Parallel()

	p := launch(t, `
hostname: box
services:
  - name: web
    command: [$SELF, service, clock]
    port: auto
    health: {path: /healthz, interval: 100ms, timeout: 500ms, failures: 2}
    restart: {delay: 50ms}
    stop: 100ms
`)
	p.ready(1)

	ready := func(s serviceState) bool { return s.ready }
	first := p.service("web", ready)

	// A process ID of 0 would stand for the group of the test itself.
	require.Positive(t, first.PID)
	require.NoError(t, syscall.Kill(first.PID, syscall.SIGKILL))

	second := p.service("web", func(s serviceState) bool { return s.ready && s.PID != first.PID })
	assert.Equal(t, uint64(1), second.Restarts)
	assert.Equal(t, first.Address, second.Address, "the address outlives the process")

	// One that lives but does not answer is restarted, too.
	require.Positive(t, second.PID)
	require.NoError(t, syscall.Kill(second.PID, syscall.SIGSTOP))

	third := p.service("web", func(s serviceState) bool { return s.ready && s.PID != second.PID })
	assert.False(t, runs(second.PID))
	assert.NotEqual(t, second.PID, third.PID)
}

func TestAServiceThatKeepsFailingIsTriedAgainWithPauses(t *testing.T) {
	t.Parallel()

	p := launch(t, `
hostname: box
services:
  - name: bad
    command: [sh, -c, 'exit 3']
    restart: {delay: 20ms, max: 40ms}
  - name: absent
    command: [/no/such/program]
  - name: waits
    needs: [bad]
    command: [sleep, '1000']
`)

	p.service("bad", func(s serviceState) bool {
		return s.reason == "Failed" && s.Restarts > 2 && strings.Contains(s.message, "code 3")
	})
	p.service("absent", func(s serviceState) bool {
		return s.reason == "Failed" && strings.Contains(s.message, "no such file")
	})
	p.service("waits", func(s serviceState) bool {
		return s.reason == "Waiting" && strings.Contains(s.message, "bad")
	})

	code, text := p.page(http.MethodGet, "/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, code)

	for _, want := range []string{"service absent: Failed", "service waits: Waiting, needs bad"} {
		assert.Contains(t, text, want)
	}
}

func TestAChangeTakesEffect(t *testing.T) {
	t.Parallel()

	const document = `
hostname: %s
services:
  - name: web
    command: [$SELF, service, clock]
    port: auto
    env: {LEVEL: %q}
    stop: %s
    health: {path: /healthz}
`

	p := launch(t, fmt.Sprintf(document, "one", "1", "1s"))
	p.ready(1)

	ready := func(s serviceState) bool { return s.ready }
	first := p.service("web", ready)

	// A change that does not concern the process leaves it alone.
	p.write(fmt.Sprintf(document, "two", "1", "2s"))
	p.ready(2)
	assert.Equal(t, "two\n", p.read(p.path("etc/hostname")))
	assert.Equal(t, first.PID, p.service("web", ready).PID)

	// A change that does replaces it.
	p.write(fmt.Sprintf(document, "two", "2", "2s"))
	p.ready(3)

	second := p.service("web", func(s serviceState) bool { return s.ready && s.PID != first.PID })
	assert.False(t, runs(first.PID))
	assert.Contains(t, p.read(fmt.Sprintf("/proc/%d/environ", second.PID)), "LEVEL=2\x00")
}

func TestABadDocumentIsRefused(t *testing.T) {
	t.Parallel()

	p := launch(t, "hostname: good\n")
	p.ready(1)

	for _, bad := range refusals {
		p.write(bad.document)

		p.eventually(func() error {
			status, ok := get[*resources.ConfigStatus](p, resources.TheMachine)
			if !ok || !status.TypedSpec().Refused {
				return fmt.Errorf("%s is not refused", bad.name)
			}

			for _, problem := range status.TypedSpec().Problems {
				if problem.Line == bad.line && problem.Field == bad.field && strings.Contains(problem.Message, bad.message) {
					return must(status.TypedSpec().Generation == 1, "%s is in force", bad.name)
				}
			}

			return fmt.Errorf("%s: %v", bad.name, status.TypedSpec().Problems)
		})
	}

	assert.Equal(t, "good\n", p.read(p.path("etc/hostname")))
	p.ready(1)

	log := p.read(p.log)
	assert.Contains(t, log, "the document is refused")

	// The pages say so too, of a machine that is as ready as it was.
	code, text := p.page(http.MethodGet, "/readyz")
	assert.Equal(t, http.StatusOK, code, text)
	assert.Contains(t, text, "ready\nnote: the document is refused, generation 1 stays in force:\nnote: ")
	assert.Contains(t, log, "machine.yaml:2:9: domain: ")

	require.NoError(t, os.Remove(p.config))
	p.eventually(func() error {
		status, ok := get[*resources.ConfigStatus](p, resources.TheMachine)

		return must(ok && status.TypedSpec().Refused && len(status.TypedSpec().Problems) == 1 &&
			strings.Contains(status.TypedSpec().Problems[0].Message, "cannot be read"), "%+v", status.TypedSpec())
	})

	p.write("hostname: better\n")
	p.ready(2)
	assert.Equal(t, "better\n", p.read(p.path("etc/hostname")))

	status, ok := get[*resources.ConfigStatus](p, resources.TheMachine)
	require.True(t, ok)
	assert.False(t, status.TypedSpec().Refused)
	assert.Empty(t, status.TypedSpec().Problems)
}

// refusals has one document for each kind of mistake.
var refusals = []struct {
	name, document string
	line           int
	field, message string
}{
	{"no YAML", "hostname: a\ndomain: [\n", 2, "", "not valid YAML"},
	{"an empty text", "", 0, "", "the document is empty"},
	{"a list", "- hostname\n", 1, "", "must be a group of fields"},
	{"two documents", "hostname: a\n---\nhostname: b\n", 2, "", "a second document begins here"},
	{"no hostname", "domain: example.net\n", 1, "hostname", "is missing"},
	{"an unknown field", "hostname: a\nhostnam: b\n", 2, "hostnam", "unknown field"},
	{"a field given twice", "hostname: a\nhostname: b\n", 2, "hostname", "given twice, first in line 1"},
	{"a wrong type", "hostname: 12\n", 1, "hostname", "must be a text, not a number"},
	{"a text for a list", "hostname: a\ntimeServers: b\n", 2, "timeServers", "must be a list, not a text"},
	{"a bad name", "hostname: A_b\n", 1, "hostname", "is no host name"},
	{"a bad domain", "hostname: a\ndomain: 'b c'\n", 2, "domain", "is no domain name"},
	{"a bad address", "hostname: a\nresolver:\n  servers: [1.2.3]\n", 3, "resolver.servers[0]", "is no IP address"},
	{"a name of two hosts", "hostname: a\nhosts:\n- {address: '::1', names: [b]}\n- {address: '::2', names: [b]}\n", 4, "hosts[1].names[0]", "already given in line 3"},
	{"a path that leaves the root", "hostname: a\nfiles:\n- {path: ../b, content: c}\n", 3, "files[0].path", "may leave the root"},
	{"an absolute path", "hostname: a\nfiles:\n- {path: /b, content: c}\n", 3, "files[0].path", "begins with a slash"},
	{"a path of the control plane", "hostname: a\nfiles:\n- {path: etc/hosts, content: c}\n", 3, "files[0].path", "belongs to the control plane"},
	{"a path given twice", "hostname: a\nfiles:\n- {path: b, content: c}\n- {path: b, content: c}\n", 4, "files[1].path", "already given in line 3"},
	{"a file in a file", "hostname: a\nfiles:\n- {path: b, content: c}\n- {path: b/c, content: c}\n", 4, "files[1].path", "to be a directory"},
	{"a bad mode", "hostname: a\nfiles:\n- path: b\n  mode: 0899\n  content: c\n", 4, "files[0].mode", "no permission bits"},
	{"a template that is none", "hostname: a\nfiles:\n- path: b\n  content: '{{ .Hostname '\n", 4, "files[0].content", "cannot be rendered"},
	{"a template that asks too much", "hostname: a\nmotd: |\n  hello\n  {{ .Weather }}\n", 4, "motd", "Weather"},
	{"a bad service name", "hostname: a\nservices:\n- {name: B, command: [c]}\n", 3, "services[0].name", "is no service name"},
	{"a service name given twice", "hostname: a\nservices:\n- {name: b, command: [c]}\n- {name: b, command: [c]}\n", 4, "services[1].name", "already given in line 3"},
	{"no command", "hostname: a\nservices:\n- {name: b}\n", 3, "services[0].command", "is missing"},
	{"an unknown need", "hostname: a\nservices:\n- {name: b, command: [c], needs: [d]}\n", 3, "services[0].needs[0]", `there is no service "d"`},
	{"a service that needs itself", "hostname: a\nservices:\n- {name: b, command: [c], needs: [b]}\n", 3, "services[0].needs[0]", "cannot need itself"},
	{"a circle", "hostname: a\nservices:\n- {name: b, command: [c], needs: [d]}\n- {name: d, command: [c], needs: [b]}\n", 4, "services[1].needs[0]", "b -> d -> b"},
	{"a bad duration", "hostname: a\nservices:\n- name: b\n  command: [c]\n  stop: soon\n", 5, "services[0].stop", "is no duration"},
	{"a duration out of range", "hostname: a\nservices:\n- name: b\n  command: [c]\n  stop: -1s\n", 5, "services[0].stop", "out of range"},
	{"a bad port", "hostname: a\nservices:\n- {name: b, command: [c], port: 70000}\n", 3, "services[0].port", "is no port"},
	{"a port given twice", "hostname: a\nservices:\n- {name: b, command: [c], port: 7000}\n- {name: d, command: [c], port: 7000}\n", 4, "services[1].port", "already given in line 3"},
	{"a check without a port", "hostname: a\nservices:\n- name: b\n  command: [c]\n  health: {path: /}\n", 5, "services[0].health", "needs the service to have a port"},
	{"a bad kind", "hostname: a\nservices:\n- {name: b, command: [c], kind: cron}\n", 3, "services[0].kind", "is no kind of service"},
	{"an unknown variable", "hostname: a\nservices:\n- {name: b, command: [c, $PORT]}\n", 3, "services[0].command[1]", "$PORT is not set"},
	{"a variable of the control plane", "hostname: a\nservices:\n- {name: b, command: [c], env: {ROOT: /}}\n", 3, "services[0].env.ROOT", "set by the control plane"},
}

// stubborn is a command that does not want to stop, with a child that does not either.
const stubborn = `[sh, -c, 'trap "" TERM; sleep 1000 & while :; do sleep 0.05; done']`

func TestStopping(t *testing.T) {
	t.Parallel()

	const document = `
hostname: box
services:
  - {name: nice, command: ` + obedient + `}
  - {name: nicer, needs: [nice], command: ` + obedient + `}
  - {name: stubborn, stop: %s, command: ` + stubborn + `}
`

	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()

			p := launch(t, fmt.Sprintf(document, "200ms"))
			p.ready(1)

			require.NotEmpty(t, left(t, p.root))
			assert.Equal(t, 0, p.stop(sig), p.read(p.log))
			assert.Empty(t, left(t, p.root))
			assert.Equal(t, "nicer\nnice\n", p.read(p.path("order")))
			assert.Empty(t, glob(t, p.path("run/appliance/*.json")), "no record of a process is left")
		})
	}

	t.Run("a second signal does not wait", func(t *testing.T) {
		t.Parallel()

		p := launch(t, fmt.Sprintf(document, "1h"))
		p.ready(1)

		require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
		p.service("stubborn", func(s serviceState) bool { return s.reason == "Stopping" })

		assert.Equal(t, 1, p.stop(syscall.SIGINT))
		assert.Contains(t, p.read(p.log), "stopped hard")
		assert.Empty(t, left(t, p.root))
	})
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()

	found, err := filepath.Glob(pattern)
	require.NoError(t, err)

	return found
}

func TestAKilledControlPlaneLeavesNothingForLong(t *testing.T) {
	t.Parallel()

	p := launch(t, `
hostname: box
files: [{path: kept, content: x}, {path: dropped, content: x}]
services:
  - {name: family, command: `+stubborn+`}
`)
	p.ready(1)

	leader := p.service("family", func(s serviceState) bool { return s.ready }).PID

	p.stop(syscall.SIGKILL)

	// The kernel takes the leader with it; the child of the leader is left.
	p.eventually(func() error { return must(!runs(leader), "the leader still runs") })
	require.NotEmpty(t, left(t, p.root))

	// The next control plane kills what is left, and takes over what was written.
	p.write("hostname: box\nfiles: [{path: kept, content: x}]\n")
	p.start("-config", p.config)
	p.ready(1)

	assert.Empty(t, left(t, p.root))
	assert.Contains(t, p.read(p.log), "left over from an earlier run")
	assert.FileExists(t, p.path("kept"))
	p.eventually(func() error {
		_, err := os.Stat(p.path("dropped"))

		return must(errors.Is(err, os.ErrNotExist), "a file that nobody wants any more is still there")
	})
}

func TestOneControlPlaneForARoot(t *testing.T) {
	t.Parallel()

	p := launch(t, "hostname: box\n")
	p.ready(1)

	code, _, stderr := run(t, "-root", p.root, "-http", "", "-once")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "-root "+p.root+": another control plane is at work here")
}

func TestOnce(t *testing.T) {
	t.Parallel()

	once := func(t *testing.T, document string, args ...string) (root string, code int, stdout, stderr string) {
		t.Helper()

		dir := shortDir(t)
		root = filepath.Join(dir, "root")
		args = append([]string{"-once", "-root", root}, args...)

		if document != "" {
			config := filepath.Join(dir, "box.yaml")
			require.NoError(t, os.WriteFile(config, []byte(document), 0o644))

			args = append(args, "-config", config)
		}

		code, stdout, stderr = run(t, args...)

		return root, code, stdout, stderr
	}

	t.Run("the sample", func(t *testing.T) {
		t.Parallel()

		root, code, stdout, stderr := once(t, "")
		assert.Equal(t, 0, code, stderr)
		assert.Contains(t, stdout, "the machine is ready")
		assert.Regexp(t, `(?m)^machine +ServiceStatuses\.appliance\.switchyard\.run +web +\d+ +running +ready, at 127\.0\.0\.1:\d+$`, stdout)
		assert.Regexp(t, `(?m)^machine +FileStatuses\.appliance\.switchyard\.run +etc/motd +\d+ +running +ready$`, stdout)
		assert.NotContains(t, stdout, "http")
		assert.FileExists(t, filepath.Join(root, "etc/motd"))
		assert.Empty(t, left(t, root))
	})

	t.Run("a machine that does not get ready", func(t *testing.T) {
		t.Parallel()

		root, code, _, stderr := once(t, `
hostname: box
services:
  - {name: bad, kind: oneshot, command: [sh, -c, 'exit 7']}
  - {name: fine, command: [sleep, '1000']}
  - {name: waits, needs: [bad], command: [sleep, '1000']}
`, "-timeout", "700ms")
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "the machine is not ready: -timeout 700ms is over")
		assert.Contains(t, stderr, "service bad: Failed, exited with code 7")
		assert.Contains(t, stderr, "service waits: Waiting, needs bad")
		assert.NotContains(t, stderr, "service fine:")
		assert.Empty(t, left(t, root))
	})

	t.Run("a document that is refused", func(t *testing.T) {
		t.Parallel()

		_, code, _, stderr := once(t, "hostname: box\ndomain: a b\nfoo: 1\n")
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "the document is refused")
		assert.Contains(t, stderr, "/box.yaml:2:9: domain: ")
		assert.Contains(t, stderr, "/box.yaml:3:1: foo: unknown field")
	})
}

func TestAnAddressThatIsTaken(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	defer l.Close()

	root := filepath.Join(shortDir(t), "root")

	code, _, stderr := run(t, "-root", root, "-http", l.Addr().String())
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "-http "+l.Addr().String())
	assert.Contains(t, stderr, "address already in use")

	code, _, stderr = run(t, "-root", root, "-http", "", "-grpc", "tcp:"+l.Addr().String())
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "-grpc tcp:"+l.Addr().String())
}

func TestUsage(t *testing.T) {
	t.Parallel()

	for _, args := range [][]string{
		{"-nonsense"},
		{"argument"},
		{"-grpc", "tcp:0.0.0.0:9000"},
		{"-grpc", "tcp:192.0.2.1:9000"},
		{"-grpc", "carrier-pigeon"},
		{"-log-level", "loud"},
		{"-timeout", "0s"},
		{"graph", "-format", "png"},
		{"service"},
	} {
		code, stdout, stderr := run(t, args...)
		assert.Equal(t, 2, code, "%v: %s", args, stderr)
		assert.Empty(t, stdout, "%v", args)
		assert.NotEmpty(t, stderr, "%v", args)
	}

	code, _, stderr := run(t, "-config", filepath.Join(shortDir(t), "none.yaml"), "-root", shortDir(t))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "-config: ")

	code, stdout, _ := run(t, "-version")
	assert.Equal(t, 0, code)
	assert.Contains(t, stdout, "example ")

	code, _, stderr = run(t, "-help")
	assert.Equal(t, 0, code)
	assert.Contains(t, stderr, "-once")
}

func TestTheGraphWithoutRunning(t *testing.T) {
	t.Parallel()

	for _, format := range []struct {
		name  string
		check func(text string) error
	}{
		{"mermaid", func(text string) error { return must(strings.Contains(text, "flowchart"), "no flowchart") }},
		{"dot", func(text string) error { return must(strings.Contains(text, "digraph"), "no digraph") }},
		{"svg", func(text string) error { return xml.Unmarshal([]byte(text), new(struct{})) }},
		{"json", func(text string) error { return json.Unmarshal([]byte(text), new(map[string]any)) }},
	} {
		code, stdout, stderr := run(t, "graph", "-format", format.name)
		assert.Equal(t, 0, code, stderr)
		assert.NoError(t, format.check(stdout), format.name)
		assert.Contains(t, stdout, "ServiceController", format.name)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()

	p := launch(t, "hostname: box\n")
	p.ready(1)

	for path, want := range map[string]string{
		"/":           `<a href="/graph.svg">`,
		"/healthz":    "ok",
		"/readyz":     "ready",
		"/graph.mmd":  "flowchart",
		"/graph.dot":  "digraph",
		"/graph.svg":  "<svg",
		"/graph.json": `"nodes"`,
		"/debug/vars": `"controller_wakeups"`,
	} {
		code, text := p.page(http.MethodGet, path)
		assert.Equal(t, http.StatusOK, code, path)
		assert.Contains(t, text, want, path)

		code, _ = p.page(http.MethodPost, path)
		assert.Equal(t, http.StatusMethodNotAllowed, code, path)
	}

	code, _ := p.page(http.MethodGet, "/nowhere")
	assert.Equal(t, http.StatusNotFound, code)
}

func TestTheStateOverGRPC(t *testing.T) {
	t.Parallel()

	p := launch(t, "hostname: box\nservices: [{name: nap, command: [sleep, '1000']}]\n")
	p.ready(1)

	ctx := t.Context()

	// Resources arrive as what they are.
	names, err := safe.StateListAll[*resources.Hostname](ctx, p.state)
	require.NoError(t, err)
	require.Equal(t, 1, names.Len())
	assert.Equal(t, resources.HostnameSpec{Hostname: "box", FQDN: "box"}, *names.Get(0).TypedSpec())

	document, ok := get[*resources.Document](p, resources.TheMachine)
	require.True(t, ok)
	assert.Equal(t, []string{"sleep", "1000"}, document.TypedSpec().Machine.Services[0].Command)

	// Types can be discovered.
	for _, kind := range resources.All() {
		rd := kind.ResourceDefinition()
		require.NoError(t, rd.Fill())

		definition, ok := get[*meta.ResourceDefinition](p, rd.ID())
		require.True(t, ok, rd.Type)
		assert.NotEmpty(t, definition.TypedSpec().PrintColumns, rd.Type)
	}

	// Watches see what happens.
	events := make(chan safe.WrappedStateEvent[*resources.ServiceStatus])
	require.NoError(t, safe.StateWatchKind(ctx, p.state, resources.NewServiceStatus("").Metadata(), events,
		state.WithBootstrapContents(true)))

	// A client may ask for a restart, and nothing else.
	before := p.service("nap", func(s serviceState) bool { return s.ready })

	request := resources.NewRestartRequest("nap")
	request.TypedSpec().Reason = "spring cleaning"
	require.NoError(t, p.state.Create(ctx, request))

	for restarted := false; !restarted; {
		event := <-events
		require.NoError(t, event.Error())

		if event.Type() == state.Bootstrapped {
			continue
		}

		status, err := event.Resource()
		require.NoError(t, err)

		restarted = status.TypedSpec().Conditions.Holds(operator.Ready) && status.TypedSpec().Data.PID != before.PID
	}

	assert.False(t, runs(before.PID))
	p.eventually(func() error {
		_, there := get[*resources.RestartRequest](p, "nap")

		return must(!there, "the request is still there")
	})

	// One for a service that does not exist goes away, too.
	require.NoError(t, p.state.Create(ctx, resources.NewRestartRequest("nobody")))
	p.eventually(func() error {
		_, there := get[*resources.RestartRequest](p, "nobody")

		return must(!there, "the request is still there")
	})

	assert.Error(t, p.state.Create(ctx, resources.NewHostname()))
	assert.Error(t, destroy(ctx, p.state, resources.NewService("nap").Metadata()))

	_, there := get[*resources.Service](p, "nap")
	assert.True(t, there)

	// Nobody else may connect.
	info, err := os.Stat(strings.TrimPrefix(p.address("grpc"), "unix:"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func destroy(ctx context.Context, st state.State, ptr resource.Pointer) error {
	return st.Destroy(ctx, ptr, state.WithDestroyOwner("ServiceSpecController"))
}

func TestAFixedPort(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	port := l.Addr().(*net.TCPAddr).Port

	require.NoError(t, l.Close())

	p := launch(t, `
hostname: box
services:
  - {name: clock, command: [$SELF, service, clock], port: `+strconv.Itoa(port)+`, health: {path: /healthz}}
`)
	p.ready(1)

	status := p.service("clock", func(s serviceState) bool { return s.ready })
	assert.Equal(t, fmt.Sprintf("127.0.0.1:%d", port), status.Address)
}
