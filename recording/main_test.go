package recording_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/gen/ensure"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"
	"github.com/switchyard-run/switchyard/runtime"
)

func TestMain(m *testing.M) {
	ensure.NoError(protobuf.RegisterResource(conformance.IntResourceType, &conformance.IntResource{}))
	ensure.NoError(protobuf.RegisterResource(conformance.StrResourceType, &conformance.StrResource{}))

	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { os.Exit(code) }))
}

const ns = "default"

func number(id resource.ID, value int) *conformance.IntResource {
	return conformance.NewIntResource(ns, id, value)
}

func text(id resource.ID, value string) *conformance.StrResource {
	return conformance.NewStrResource(ns, id, value)
}

var (
	numbers = resource.NewMetadata(ns, conformance.IntResourceType, "", resource.VersionUndefined)
	texts   = resource.NewMetadata(ns, conformance.StrResourceType, "", resource.VersionUndefined)
)

// session is a live engine that is recorded.
type session struct {
	t        testing.TB
	recorder *recording.Recorder
	state    state.State
	engine   *runtime.Runtime
	// kept is the recording.
	kept *bytes.Buffer

	cancel context.CancelFunc
	ended  chan error
}

func newState() state.State { return state.WrapCore(namespaced.NewState(inmem.Build)) }

// record starts an engine with the controllers that register registers.
func record(t testing.TB, register func(controller.Engine) error) *session {
	t.Helper()

	return recordOn(t, newState(), register)
}

// recordOn starts an engine on a state.
func recordOn(t testing.TB, inner state.State, register func(controller.Engine) error) *session {
	t.Helper()

	s := &session{t: t, kept: &bytes.Buffer{}, ended: make(chan error, 1)}
	s.recorder = recording.New(s.kept)
	s.state = s.recorder.State(inner)

	var err error

	s.engine, err = runtime.NewRuntime(s.state, zap.NewNop())
	require.NoError(t, err)
	require.NoError(t, register(s.recorder.Engine(s.engine)))

	var ctx context.Context

	ctx, s.cancel = context.WithCancel(t.Context())

	go func() { s.ended <- s.engine.Run(ctx) }()

	return s
}

// end stops the engine and returns the recording and what the recorder tells of it.
func (s *session) end() (string, recording.Summary) {
	s.t.Helper()

	s.cancel()
	require.NoError(s.t, <-s.ended)

	summary, err := s.recorder.Close()
	require.NoError(s.t, err)

	return s.kept.String(), summary
}

// await waits for a resource to be as wanted.
func await[R resource.Resource](s *session, like R, wanted func(R) bool) {
	s.t.Helper()

	_, err := s.state.WatchFor(s.t.Context(), like.Metadata(), state.WithEventTypes(state.Created, state.Updated),
		state.WithCondition(func(res resource.Resource) (bool, error) { return wanted(res.(R)), nil }))
	require.NoError(s.t, err)
}

func (s *session) awaitGone(res resource.Resource) {
	s.t.Helper()

	_, err := s.state.WatchFor(s.t.Context(), res.Metadata(), state.WithEventTypes(state.Destroyed))
	require.NoError(s.t, err)
}

func replay(t testing.TB, kept string, register func(controller.Engine) error) (*recording.Result, error) {
	t.Helper()

	return recording.Replay(t.Context(), strings.NewReader(kept), register)
}
