package recording_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	contract "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// A recording does not need this engine.
func TestRecordingOfTheContractsEngine(t *testing.T) {
	t.Parallel()

	var kept bytes.Buffer

	rec := recording.New(&kept)
	st := rec.State(newState())

	engine, err := contract.NewRuntime(st, zap.NewNop())
	require.NoError(t, err)

	register := func(engine controller.Engine) error {
		return errors.Join(engine.RegisterController(&writer{strconv.Itoa}), engine.RegisterController(&idle{runner{"Other", lacking}}))
	}
	require.NoError(t, register(rec.Engine(engine)))

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)

	go func() { ended <- engine.Run(ctx) }()

	s := &session{t: t, state: st}

	require.NoError(t, st.Create(ctx, number("one", 1)))
	await(s, text("one", ""), func(s *conformance.StrResource) bool { return s.Value() == "1" })

	cancel()
	require.NoError(t, <-ended)

	summary, err := rec.Close()
	require.NoError(t, err)

	result, err := replay(t, kept.String(), register)
	require.NoError(t, err)
	require.Equal(t, summary, result.Summary)
}

// idle is a classic controller without outputs.
type idle struct{ runner }

func (*idle) Outputs() []controller.Output { return nil }

// lacking asks for what only this engine has, and is told so.
func lacking(ctx context.Context, r controller.Runtime) error {
	_, view := stateadapter.View(ctx, r, numbers)

	for _, err := range []error{view, stateadapter.Barrier(ctx, r, numbers)} {
		if !errors.Is(err, stateadapter.ErrUnsupported) {
			return errors.New("it is there")
		}
	}

	<-ctx.Done()

	return nil
}

// An engine that runs on another state than the recorder's leaves nothing to build the final state from.
func TestEngineOnAnotherStateIsNoticed(t *testing.T) {
	t.Parallel()

	inner := newState()
	rec := recording.New(&bytes.Buffer{})

	engine, err := contract.NewRuntime(inner, zap.NewNop())
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	require.NoError(t, rec.Engine(engine).RegisterController(&runner{"Creator", func(ctx context.Context, r controller.Runtime) error {
		defer cancel()

		return r.Create(ctx, text("one", ""))
	}}))

	require.NoError(t, engine.Run(ctx))

	_, err = rec.Close()
	require.ErrorIs(t, err, recording.ErrState)
}
