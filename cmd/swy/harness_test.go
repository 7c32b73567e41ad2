//go:build linux

package main_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
)

// swy and appliance are the programs under test, built once.
var swy, appliance string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "swy-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}
	defer os.RemoveAll(dir)

	swy, appliance = filepath.Join(dir, "swy"), filepath.Join(dir, "example")

	for program, source := range map[string]string{swy: ".", appliance: "../example"} {
		if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s\n%s", err, out)

			return 1
		}
	}

	return m.Run()
}

// patience is how long anything may take before a test fails.
const patience = 30 * time.Second

// host is what swy asks: an appliance that runs as a process, or a state of the test.
type host struct {
	t *testing.T
	// dir is a directory whose path leaves room for the name of a socket.
	dir string
	// http and grpc are the addresses, as swy takes them.
	http, grpc string

	args []string
	cmd  *exec.Cmd
	// out is what the appliance prints.
	out *output
}

func newHost(t *testing.T) *host {
	t.Helper()

	dir, err := os.MkdirTemp("", "swy-")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })

	return &host{t: t, dir: dir, grpc: "unix:" + filepath.Join(dir, "state.sock")}
}

const document = `
hostname: box
services:
  - {name: base, command: [sleep, '1000']}
  - {name: web, command: [sleep, '1000'], needs: [base]}
`

// launch starts an appliance and waits until its services run.
func launch(t *testing.T, args ...string) *host {
	t.Helper()

	h := newHost(t)
	h.args = args
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "machine.yaml"), []byte(document), 0o600))

	port, err := net.Listen("tcp", "127.0.0.1:0") // the same one after a restart
	require.NoError(t, err)
	require.NoError(t, port.Close())

	h.http = fmt.Sprintf("http://%s/inspect/", port.Addr())
	h.start()

	return h
}

func (h *host) start() {
	h.t.Helper()

	address := strings.TrimSuffix(strings.TrimPrefix(h.http, "http://"), "/inspect/")

	h.out = newOutput()
	h.cmd = exec.Command(appliance, append([]string{
		"-root", filepath.Join(h.dir, "root"), "-config", filepath.Join(h.dir, "machine.yaml"), "-http", address, "-grpc", h.grpc,
	}, h.args...)...)
	h.cmd.Stdout, h.cmd.Stderr = h.out, h.out

	require.NoError(h.t, h.cmd.Start())
	h.t.Cleanup(h.stop)

	h.out.wait(h.t, "grpc    ")

	// Whoever waits for the services waits as a user would.
	watch := h.begin("get", "servicestatus", "web", "-w")
	watch.stdout.wait(h.t, "True")
	watch.end(0)
}

// stop ends the appliance, and waits for it.
func (h *host) stop() {
	if h.cmd.ProcessState != nil {
		return
	}

	if err := h.cmd.Process.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		assert.NoError(h.t, err)
	}

	_ = h.cmd.Wait() // tests look at what swy says

	if h.t.Failed() {
		h.t.Logf("the appliance:\n%s", h.out)
	}
}

// serve offers a state of the test.
func serve(t *testing.T, st state.CoreState) *host {
	t.Helper()

	h := newHost(t)

	listener, err := net.Listen("unix", strings.TrimPrefix(h.grpc, "unix:"))
	require.NoError(t, err)

	offered := grpc.NewServer()
	v1alpha1.RegisterStateServer(offered, server.NewState(st))

	done := make(chan error, 1)

	go func() { done <- offered.Serve(listener) }()

	t.Cleanup(func() {
		offered.Stop()
		assert.NoError(t, <-done)
	})

	return h
}

// pages offers a handler beside the state.
func (h *host) pages(server *httptest.Server) {
	h.t.Cleanup(server.Close)
	h.http = server.URL + "/inspect/"
}

// env is what swy finds in its environment.
func (h *host) env() []string {
	return []string{"PATH=" + filepath.Dir(swy) + ":" + os.Getenv("PATH"), "SWY_HTTP=" + h.http, "SWY_GRPC=" + h.grpc, "HOME=" + h.dir}
}

// run runs swy to its end.
func (h *host) run(args ...string) (code int, stdout, stderr string) {
	h.t.Helper()

	return h.pipe("", args...)
}

// pipe runs swy with something piped in.
func (h *host) pipe(in string, args ...string) (code int, stdout, stderr string) {
	h.t.Helper()

	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()

	var out, errs strings.Builder

	cmd := exec.CommandContext(ctx, swy, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = h.env(), strings.NewReader(in), &out, &errs

	if err := cmd.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		require.ErrorAs(h.t, err, &exit)
	}

	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// ok runs swy, which has to succeed, and returns what it prints.
func (h *host) ok(args ...string) string {
	h.t.Helper()

	code, stdout, stderr := h.run(args...)
	require.Zero(h.t, code, "%v: %s", args, stderr)

	return stdout
}

// running is swy while it runs.
type running struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr *output
}

func (h *host) begin(args ...string) *running {
	h.t.Helper()

	r := &running{t: h.t, cmd: exec.Command(swy, args...), stdout: newOutput(), stderr: newOutput()}
	r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr = h.env(), r.stdout, r.stderr

	require.NoError(h.t, r.cmd.Start())
	h.t.Cleanup(func() {
		if r.cmd.ProcessState == nil {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
		}
	})

	return r
}

// end has swy end as Ctrl-C does.
func (r *running) end(code int) {
	r.t.Helper()

	require.NoError(r.t, r.cmd.Process.Signal(os.Interrupt))

	_ = r.cmd.Wait() // the exit code says it
	assert.Equal(r.t, code, r.cmd.ProcessState.ExitCode(), "%s", r.stderr)
}

// output is what a process has printed so far.
type output struct {
	// mu guards text and more. more is closed, and replaced, when text grows.
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func newOutput() *output { return &output{more: make(chan struct{})} }

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()

	close(o.more)
	o.more = make(chan struct{})

	return o.text.Write(p)
}

// String is all of it.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.text.String()
}

// wait waits until something is printed.
func (o *output) wait(t *testing.T, what string) {
	t.Helper()

	o.waitFor(t, what, func(text string) bool { return strings.Contains(text, what) })
}

func (o *output) waitFor(t *testing.T, what string, found func(string) bool) {
	t.Helper()

	late := time.After(patience)

	for {
		o.mu.Lock()
		text, more := o.text.String(), o.more
		o.mu.Unlock()

		if found(text) {
			return
		}

		select {
		case <-more:
		case <-late:
			require.FailNow(t, "not printed in time", "%q is not in:\n%s", what, text)
		}
	}
}

// file writes a file that nobody else may read, and returns its path.
func (h *host) file(name, text string) string {
	h.t.Helper()

	path := filepath.Join(h.dir, name)
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o600))

	return path
}
