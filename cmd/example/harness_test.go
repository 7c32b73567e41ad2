//go:build linux

package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// example is the program under test, built once.
var example string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "example-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}
	defer os.RemoveAll(dir)

	example = filepath.Join(dir, "example")

	if out, err := exec.Command("go", "build", "-o", example, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n%s", err, out)

		return 1
	}

	return m.Run()
}

// patience is how long anything may take before a test fails.
const patience = 20 * time.Second

// plane is a control plane that runs as a process.
type plane struct {
	t *testing.T
	// root stands for the machine; config is the document; both may be used by a second plane after this one.
	root, config string

	cmd *exec.Cmd
	// out and log are the files that stdout and stderr go to.
	out, log string
	// done is closed when the process has ended.
	done  chan struct{}
	state state.State
}

// shortDir is a directory whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()

	dir, err := os.MkdirTemp("", "sy-")
	require.NoError(t, err)

	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })

	return dir
}

// launch starts a control plane over a document, or over the sample if there is none, and waits for its addresses.
func launch(t *testing.T, document string, args ...string) *plane {
	t.Helper()

	dir := shortDir(t)
	p := &plane{t: t, root: filepath.Join(dir, "root"), config: filepath.Join(dir, "root", "machine.yaml")}

	if document != "" {
		p.config = filepath.Join(dir, "machine.yaml")
		p.write(document)

		args = append([]string{"-config", p.config}, args...)
	}

	p.start(args...)

	return p
}

// start starts the process of the control plane.
func (p *plane) start(args ...string) {
	p.t.Helper()

	dir := shortDir(p.t)
	socket := filepath.Join(dir, "state.sock")
	p.out, p.log = filepath.Join(dir, "out"), filepath.Join(dir, "log")

	out, err := os.Create(p.out)
	require.NoError(p.t, err)

	defer out.Close()

	log, err := os.Create(p.log)
	require.NoError(p.t, err)

	defer log.Close()

	p.cmd = exec.Command(example, append([]string{"-root", p.root, "-http", "127.0.0.1:0", "-grpc", "unix:" + socket}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = out, log
	p.done = make(chan struct{})

	require.NoError(p.t, p.cmd.Start())

	go func(cmd *exec.Cmd, done chan struct{}) {
		defer close(done)

		_ = cmd.Wait() // tests look at the state
	}(p.cmd, p.done)

	p.t.Cleanup(func() {
		p.stop(syscall.SIGTERM)

		if p.t.Failed() {
			p.t.Logf("log of the control plane:\n%s", p.read(p.log))
		}
	})

	p.eventually(func() error { return must(p.address("grpc") != "", "no address yet") })

	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(p.t, err)

	p.t.Cleanup(func() { assert.NoError(p.t, conn.Close()) })

	p.state = state.WrapCore(client.NewAdapter(v1alpha1.NewStateClient(conn)))
}

// stop sends a signal, waits for the process to end and returns its exit code.
func (p *plane) stop(sig os.Signal) int {
	p.t.Helper()

	if err := p.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(p.t, err)
	}

	return p.wait()
}

func (p *plane) wait() int {
	p.t.Helper()

	select {
	case <-p.done:
	case <-time.After(patience):
		require.NoError(p.t, p.cmd.Process.Kill())

		<-p.done

		require.FailNow(p.t, "the control plane does not end", p.read(p.log))
	}

	return p.cmd.ProcessState.ExitCode()
}

// address finds an address in what the control plane has printed.
func (p *plane) address(name string) string {
	for line := range strings.Lines(p.read(p.out)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}

	return ""
}

// write replaces the document, the way careful editors do.
func (p *plane) write(document string) {
	p.t.Helper()

	require.NoError(p.t, os.WriteFile(p.config+"~", []byte(document), 0o644))
	require.NoError(p.t, os.Rename(p.config+"~", p.config))
}

func (p *plane) path(name string) string {
	return filepath.Join(p.root, filepath.FromSlash(name))
}

func (p *plane) read(path string) string {
	p.t.Helper()

	text, err := os.ReadFile(path)
	require.NoError(p.t, err)

	return string(text)
}

// eventually tries again and again until there is no error.
func (p *plane) eventually(try func() error) {
	p.t.Helper()

	var last error

	require.Eventually(p.t, func() bool {
		last = try()

		return last == nil
	}, patience, 10*time.Millisecond, "%s", lazy(func() string { return fmt.Sprint(last) }))
}

// lazy is a text that is made when it is printed.
type lazy func() string

func (l lazy) String() string { return l() }

func must(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}

	return fmt.Errorf(format, args...)
}

// get reads a resource; it fails the test for any other error than "not found", which is false.
func get[R generic.ResourceWithRD](p *plane, id string) (R, bool) {
	p.t.Helper()

	r, err := safe.StateGetByID[R](p.t.Context(), p.state, id)
	if state.IsNotFoundError(err) {
		return r, false
	}

	require.NoError(p.t, err)

	return r, true
}

// ready waits until the machine is ready with a document of at least the generation.
func (p *plane) ready(generation int) {
	p.t.Helper()

	p.eventually(func() error {
		status, ok := get[*resources.MachineStatus](p, resources.TheMachine)
		if !ok {
			return errors.New("no status yet")
		}

		return must(status.TypedSpec().Ready && status.TypedSpec().Generation >= generation, "%+v", *status.TypedSpec())
	})
}

// serviceState is what the status of a service says.
type serviceState struct {
	resources.ServiceData

	ready           bool
	reason, message string
}

// service waits until the status of a service is as wanted, and returns what it says.
func (p *plane) service(name string, wanted func(serviceState) bool) serviceState {
	p.t.Helper()

	var found serviceState

	p.eventually(func() error {
		status, ok := get[*resources.ServiceStatus](p, name)
		if !ok {
			return fmt.Errorf("%s has no status", name)
		}

		why, _ := status.TypedSpec().Conditions.Get(operator.Ready)
		found = serviceState{status.TypedSpec().Data, why.Status == operator.True, why.Reason, why.Message}

		return must(wanted(found), "%s: %s", name, status.TypedSpec())
	})

	return found
}

// page fetches a page and returns its status and its text.
func (p *plane) page(method, path string) (int, string) {
	p.t.Helper()

	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()

	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(p.address("http"), "/")+path, nil)
	require.NoError(p.t, err)

	response, err := http.DefaultClient.Do(request)
	require.NoError(p.t, err)

	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)

	return response.StatusCode, string(text)
}

// runs tells whether a process is there and is no zombie.
func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}

	_, rest, _ := strings.Cut(string(text), ") ")

	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// left lists the processes that carry the mark of a root in their environment, whoever their parent is, as
// "service: command".
func left(t *testing.T, root string) []string {
	t.Helper()

	resolved, err := filepath.EvalSymlinks(root)
	require.NoError(t, err)

	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)

	var found []string

	for _, path := range environs {
		environ, err := os.ReadFile(path)
		if err != nil {
			continue // it has gone
		}

		_, rest, marked := strings.Cut(string(environ), "APPLIANCE_UNIT="+resolved+":")
		name, _, _ := strings.Cut(rest, ":")

		command, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if marked && err == nil && len(command) > 0 { // a zombie has no command
			found = append(found, name+": "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}

	return found
}

// run runs the program to its end and returns exit code, stdout and stderr.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	var out, errs strings.Builder

	cmd := exec.CommandContext(ctx, example, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs

	if err := cmd.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		require.ErrorAs(t, err, &exit, "%s", errs.String())
	}

	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
