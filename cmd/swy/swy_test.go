//go:build linux

package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// The tests in this file run swy against an appliance. What they print is compared where it is the same each time.

func TestGet(t *testing.T) {
	t.Parallel()

	h := launch(t)

	assert.Equal(t, "NAMESPACE   ID        VERSION   PHASE     HOSTNAME   FQDN\nmachine     machine   1         running   box        box\n", h.ok("get", "hostname"))

	// All names of a type, and flags anywhere, with one dash or two.
	for _, args := range [][]string{
		{"get", "Hostnames.appliance.switchyard.run"}, {"get", "hostnames"}, {"get", "-n", "machine", "HOSTNAME"},
		{"get", "hostname", "machine", "--output=table"}, {"-timeout", "5s", "get", "-output", "table", "hostname"},
		{"get", "hostname", "-l", "!nothing"}, {"get", "hostname", "-l", "nothing", "-l", "other notin (a)"},
	} {
		assert.Equal(t, h.ok("get", "hostname"), h.ok(args...), args)
	}

	var document struct {
		Metadata struct{ ID, Namespace string }
		Spec     struct{ Hostname string }
	}

	require.NoError(t, yaml.Unmarshal([]byte(h.ok("get", "hostname", "machine", "-o", "yaml")), &document))
	assert.Equal(t, "box", document.Spec.Hostname)

	text := h.ok("get", "process", "-o", "json")
	assert.Equal(t, 2, strings.Count(text, "\n"))

	for line := range strings.Lines(text) {
		require.NoError(t, json.Unmarshal([]byte(line), &document))
		assert.Equal(t, "machine", document.Metadata.Namespace)
	}

	assert.Equal(t, 1, strings.Count(h.ok("get", "process", "-o", "yaml"), "\n---\n"))

	text = h.ok("get", "process", "-l", `needs.appliance.switchyard.run/base`)
	assert.Contains(t, text, "web")
	assert.NotContains(t, text, "\nmachine     base")
}

// Each exit code, and what is said with it.
func TestExitCodes(t *testing.T) {
	t.Parallel()

	h := launch(t)

	for _, c := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"", 0, ""},
		{"help get", 0, ""},
		{"get --help", 0, ""},
		{"version", 0, ""},
		{"get process", 0, ""},
		{"get process -l nothing=here", 0, "there is no resource of type Processes.appliance.switchyard.run in namespace \"machine\" that the selector matches"},
		{"controllers", 0, ""},

		{"get proces", 1, `there is no resource type "proces"; there is process, processstatus`},
		{"get Nothing.example.org -n x", 0, `there is no resource of type Nothing.example.org in namespace "x"`},
		{"get process wib", 1, `with the id "wib"; there is "web"`},
		{"teardown process web", 1, "it belongs to ServiceController"},
		{"destroy process web", 1, "it belongs to ServiceController"},
		{"destroy document machine", 1, "not write Documents.appliance.switchyard.run"},
		{"destroy process wib", 1, `with the id "wib"; there is "web"`},
		{"why Service", 1, `"ServiceController"`},
		{"why ServiceController#999999", 1, "only the last passes of each controller are remembered"},
		{"blocked Nobody", 1, `there is no controller "Nobody"`},
		{"blocked Nobody", 1, "\n  → swy controllers shows all"},
		{"passes Nobody", 1, `there is no controller "Nobody"`},
		{"graph --check", 1, "warnings: 1"},
		{"apply -f /does/not/exist", 1, "no such file"},
		{"controllers --token-file /does/not/exist", 1, "no such file"},

		{"nonsense", 2, `unknown command "nonsense"`},
		{"get", 2, "swy get TYPE [ID]"},
		{"get a b c", 2, "it does not take 3 arguments"},
		{"get process -o xml", 2, `--output: "xml" is none of [table yaml json]`},
		{"get process -l a=b,", 2, "at the end is missing the key of a label, at character 5"},
		{"get process --nonsense", 2, "unknown flag: --nonsense"},
		{"get process --grpc http://localhost", 2, "is neither unix:PATH nor tcp:HOST:PORT"},
		{"get process --grpc tcp:localhost", 2, "is not tcp:HOST:PORT"},
		{"controllers --http localhost", 2, "it should look like http://127.0.0.1:8080/inspect/"},
		{"top -n 1ms", 2, "--interval: 1ms is less than 100ms"},
		{"passes --limit 0", 2, "--limit: 0 is not above 0"},
		{"controllers --timeout 0", 2, "--timeout: 0s is not above 0"},
		{"get process --timeout=-1s", 2, "--timeout: -1s is not above 0"},
		{"graph --format png", 2, `--format: "png" is none of`},
		{"completion tcsh", 2, "use bash, zsh or fish"},
		{"apply", 2, "Name it with -f"},
		{"apply -f - --to nowhere", 2, "is no address that takes resources"},

		{"get process --grpc unix:/does/not/exist", 3, "start the host with -grpc unix:/does/not/exist"},
		{"get process -w --grpc tcp:127.0.0.1:1", 3, "start the host with -grpc tcp:127.0.0.1:1"},
		{"teardown process web --grpc unix:/does/not/exist", 3, "SWY_GRPC"},
		{"controllers --http http://127.0.0.1:1/", 3, "start the host with -http"},
		{"passes -f --http http://127.0.0.1:1/", 3, "SWY_HTTP"},
		{"top --http http://127.0.0.1:1/", 3, "SWY_HTTP"},
		{"why x --http " + strings.TrimSuffix(h.http, "inspect/"), 3, "is the path right"},
		{"apply -f - --to http://127.0.0.1:1/apply", 3, "http://127.0.0.1:1/apply can not be reached"},
	} {
		code, stdout, stderr := h.run(strings.Fields(c.args)...)
		assert.Equal(t, c.code, code, "swy %s: %s", c.args, stderr)
		assert.Contains(t, stderr, c.stderr, "swy %s", c.args)

		if c.code == 2 || c.code == 3 {
			assert.Empty(t, stdout, "swy %s", c.args)
			assert.Contains(t, stderr, "→", "swy %s says what to do", c.args)
		}
	}

	none := *h
	none.grpc = ""

	code, _, stderr := none.run("get", "process")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "the appliance prints it when it is started with -grpc unix:PATH")
}

// A watch outlives the appliance: what is different when it has come back is shown, and nothing else.
func TestAWatchOutlivesARestart(t *testing.T) {
	t.Parallel()

	h := launch(t)

	table := h.begin("get", "hostname", "-w")
	lines := h.begin("get", "resolver", "-w", "-o", "json")
	one := h.begin("get", "process", "web", "-w", "-o", "yaml")

	table.stdout.wait(t, "exists      machine     machine   1         running   box")
	one.stdout.wait(t, "event: exists")
	lines.stdout.wait(t, "exists")

	h.stop()
	table.stderr.wait(t, "the connection is lost, trying again in")
	one.stdout.wait(t, "event: destroyed")

	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "machine.yaml"), []byte(strings.Replace(document, "box", "other", 1)), 0o600))
	h.start()

	table.stderr.wait(t, "connected again")
	table.stdout.wait(t, "other")
	one.stdout.waitFor(t, "the process anew", func(text string) bool {
		return strings.Count(text, "event: created")+strings.Count(text, "event: updated") > 0
	})

	table.end(0)
	lines.end(0)
	one.end(0)

	assert.Equal(t, 1, strings.Count(table.stdout.String(), "EVENT"), "one table, in one piece")
	assert.NotContains(t, table.stdout.String(), "exists      machine     machine   1         running   other")
}

func TestQuestions(t *testing.T) {
	t.Parallel()

	h := launch(t)

	text := h.ok("controllers")
	assert.Contains(t, text, "CONTROLLER")
	assert.Contains(t, text, "ProcessController")

	text = h.ok("why", "servicestatus", "web")
	assert.Contains(t, text, "root cause")
	assert.Contains(t, text, "ServiceController #")

	text = h.ok("why", "DocumentController")
	assert.Contains(t, text, "how it came")

	// A pass is asked about as it is called.
	_, title, _ := strings.Cut(h.ok("passes", "DocumentController", "--limit", "1"), "  ")
	name, _, _ := strings.Cut(title, " ")
	number, _, _ := strings.Cut(strings.TrimPrefix(title, name+" "), " ")
	require.Equal(t, "DocumentController", name)
	assert.Contains(t, h.ok("why", name+number), name+" "+number)
	assert.Equal(t, h.ok("why", name+number), h.ok("why", name+" "+number))

	text = h.ok("blocked", "servicestatus", "nobody")
	assert.Contains(t, text, "ServiceStatuses.appliance.switchyard.run(machine/nobody) does not exist")

	for _, args := range [][]string{
		{"why", "hostname", "machine", "-o", "json"}, {"blocked", "DocumentController", "-o", "json"}, {"controllers", "-o", "json"},
		{"graph", "--format", "json"}, {"why", "hostname", "machine", "-n", "machine", "-o", "json"},
	} {
		assert.True(t, json.Valid([]byte(h.ok(args...))), args)
	}

	assert.Contains(t, h.ok("graph"), "flowchart")
	assert.Contains(t, h.ok("graph", "-format", "dot"), "digraph")
	assert.Contains(t, h.ok("graph", "-format", "svg"), "<svg")

	_, text, _ = h.run("graph", "-check")
	assert.Contains(t, text, "warning: ")
	assert.Contains(t, text, "note: no controller reads MachineStatuses.appliance.switchyard.run")
}

func TestPassesAreFollowed(t *testing.T) {
	t.Parallel()

	h := launch(t)

	follow := h.begin("passes", "-f", "FileController", "--limit", "1")
	follow.stdout.wait(t, "FileController #")

	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "machine.yaml"), []byte(document+"files: [{path: a/b, content: x}]\n"), 0o600))
	follow.stdout.wait(t, "(machine/a/b)")
	follow.end(0)
}

// What may be written by apply is what may be written by the state API, and it is written by nobody without the token.
func TestApplyToAnAppliance(t *testing.T) {
	t.Parallel()

	const request = "metadata: {type: RestartRequests.appliance.switchyard.run, id: web}\nspec: {reason: to see it work}\n"

	h := launch(t)
	code, _, stderr := h.pipe(request, "apply", "-f", "-")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "start the host with -apply")

	token := h.file("token", "0123456789abcdef0123456789abcdef")
	h.stop()

	h.args = []string{"-apply", "-http-token-file", token}
	h.start()

	code, _, stderr = h.pipe(request, "apply", "-f", "-")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "asks for a token")

	before := h.ok("get", "process", "web", "-o", "json")
	restarts := h.begin("get", "processstatus", "web", "-w", "-o", "json")
	restarts.stdout.wait(t, `"restarts":0`)

	code, stdout, stderr := h.pipe(request, "apply", "-f", "-", "--token-file", token)
	assert.Equal(t, 0, code, stderr)
	assert.Equal(t, "RestartRequests.appliance.switchyard.run(config/web) created\n", stdout)
	restarts.stdout.wait(t, `"restarts":1`)
	restarts.end(0)

	for text, want := range map[string]string{
		"metadata: {type: Hostnames.appliance.switchyard.run, id: other}\nspec: {hostname: x}\n": "not write Hostnames.appliance.switchyard.run",
		"metadata: {type: Hostnames.appliance.switchyard.run, id: machine}\nspec: {}\n":          "not write Hostnames.appliance.switchyard.run",
		"metadata: {type: RestartRequests.appliance.switchyard.run, id: a, namespace: other}\nspec: {}\n" +
			"---\nmetadata: {type: RestartRequests.appliance.switchyard.run, id: b}\nspec: {}\n": "a request is in namespace config",
		"metadata: {type: Process.appliance.switchyard.run, id: a}\nspec: {}\n": "there is no type",
		strings.Replace(before, `"owner":"ServiceController"`, `"owner":""`, 1): "not write Processes.appliance.switchyard.run",
	} {
		code, stdout, stderr := h.pipe(text, "apply", "-f", "-", "-token-file", token)
		assert.Equal(t, 1, code, text)
		assert.Empty(t, stdout, text)
		assert.Contains(t, stderr, want, text)
	}
}
