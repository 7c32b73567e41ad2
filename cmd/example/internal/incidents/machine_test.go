//go:build linux

package incidents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"

	"github.com/switchyard-run/switchyard/cmd/example/internal/controllers"
	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long anything may take before a test fails.
const patience = 20 * time.Second

// machine is an appliance over a directory of its own, in this process.
type machine struct {
	t       *testing.T
	dir     string
	config  string
	state   state.State
	answers *answer.Answers
}

// newMachine starts an appliance over a document.
func newMachine(t *testing.T, text string) *machine {
	t.Helper()

	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)

	root, err := os.OpenRoot(dir)
	require.NoError(t, err)

	m := &machine{t: t, dir: dir, config: filepath.Join(dir, "machine.yaml")}
	m.write(text)

	m.state = state.WrapCore(resources.Stamped(namespaced.NewState(inmem.Build)))
	require.NoError(t, resources.Register(t.Context(), m.state))

	tree, err := files.Open(root, document.DirState+"/files.json")
	require.NoError(t, err)

	var wake controllers.Wake

	clock := clockwork.NewRealClock()

	supervisor, err := supervise.Open(supervise.Config{
		Root: root, Dir: dir, LogDir: document.DirLogs, RunDir: document.DirRun, Logger: zap.NewNop(), Clock: clock, Notify: wake.Up,
	})
	require.NoError(t, err)

	engine, err := runtime.New(m.state, zap.NewNop(), runtime.Config{
		Passes: cause.DefaultPasses, Options: []options.Option{safe.WithResourceCache[*resources.ServiceStatus]()},
	})
	require.NoError(t, err)
	require.NoError(t, controllers.Register(engine, controllers.World{
		Document: m.config, Dir: dir, Self: "/bin/sh", Tree: tree, Supervisor: supervisor, Wake: &wake, Clock: clock,
	}))

	m.answers = answer.New(answer.Config{Engine: engine, State: m.state})
	ctx, cancel := context.WithCancel(context.Background())

	var running sync.WaitGroup

	running.Go(func() { _ = engine.Run(ctx) })

	t.Cleanup(func() {
		cancel()
		running.Wait()

		hard, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()

		_ = supervisor.Close(hard) // what does not want to end is killed

		assert.NoError(t, root.Close())
	})

	return m
}

// write replaces the document, the way careful editors do.
func (m *machine) write(text string) {
	m.t.Helper()

	require.NoError(m.t, os.WriteFile(m.config+"~", []byte(text), 0o644))
	require.NoError(m.t, os.Rename(m.config+"~", m.config))
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

// await waits for a resource to be as wanted, and returns it.
func await[R generic.ResourceWithRD](m *machine, id resource.ID, wanted func(R) bool) R {
	m.t.Helper()

	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()

	var zero R

	rd := zero.ResourceDefinition()

	r, err := safe.StateWatchFor[R](ctx, m.state, resource.NewMetadata(rd.DefaultNamespace, rd.Type, id, resource.VersionUndefined),
		state.WithEventTypes(state.Created, state.Updated),
		state.WithCondition(func(r resource.Resource) (bool, error) {
			typed, ok := r.(R)

			return ok && wanted(typed), nil
		}))
	require.NoError(m.t, err, "%s %s", rd.Type, id)

	return r
}

// ready waits until the machine is ready.
func (m *machine) ready() {
	m.t.Helper()

	await(m, resources.TheMachine, func(status *resources.MachineStatus) bool { return status.TypedSpec().Ready })
}

// says waits until the status of a service says a text of itself.
func (m *machine) says(service, text string) {
	m.t.Helper()

	await(m, service, func(status *resources.ServiceStatus) bool { return strings.Contains(status.TypedSpec().String(), text) })
}

func refTo[R generic.ResourceWithRD](id resource.ID) api.Ref {
	var zero R

	rd := zero.ResourceDefinition()

	return api.Ref{Namespace: rd.DefaultNamespace, Type: rd.Type, ID: id}
}

func (m *machine) why(ref api.Ref) string {
	m.t.Helper()

	a, err := m.answers.WhyResource(m.t.Context(), ref)

	return m.screen("why", ref, a, err)
}

func (m *machine) blocked(ref api.Ref) string {
	m.t.Helper()

	a, err := m.answers.BlockedResource(m.t.Context(), ref)

	return m.screen("blocked", ref, a, err)
}

// screen is what stands on the screen when a question was answered. Where the machine lies is another place each time.
func (m *machine) screen(question string, ref api.Ref, a fmt.Stringer, err error) string {
	m.t.Helper()
	require.NoError(m.t, err)

	return strings.ReplaceAll(fmt.Sprintf("$ swy %s %s %s -n %s\n%s", question, ref.Type, ref.ID, ref.Namespace, a), m.dir, "/machine")
}

// eventually looks again and again whether something is so, and tells whether it has come to be.
func (m *machine) eventually(is func() bool) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()

	late := time.After(patience)

	for {
		if is() {
			return true
		}

		select {
		case <-late:
			return false
		case <-tick.C:
		}
	}
}
