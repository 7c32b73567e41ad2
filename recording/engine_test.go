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
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
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

	for what, write := range map[string]func(context.Context, controller.Runtime) error{
		"create": func(ctx context.Context, r controller.Runtime) error { return r.Create(ctx, text("new", "")) },
		"update": func(ctx context.Context, r controller.Runtime) error {
			res, err := r.Get(ctx, text("there", "").Metadata())
			if err != nil {
				return err
			}

			return r.Update(ctx, res)
		},
		"destroy": func(ctx context.Context, r controller.Runtime) error {
			return r.Destroy(ctx, text("there", "").Metadata())
		},
		"modify a new": func(ctx context.Context, r controller.Runtime) error {
			return r.Modify(ctx, text("new", ""), become("new"))
		},
		"modify": func(ctx context.Context, r controller.Runtime) error {
			return r.Modify(ctx, text("there", ""), become("new"))
		},
		"modify, as it is": func(ctx context.Context, r controller.Runtime) error {
			return r.Modify(ctx, text("there", ""), become("old"))
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()

			inner := newState()
			require.NoError(t, inner.Create(t.Context(), text("there", "old"), state.WithCreateOwner("Writer")))

			rec := recording.New(&bytes.Buffer{})

			engine, err := contract.NewRuntime(inner, zap.NewNop())
			require.NoError(t, err)

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()

			require.NoError(t, rec.Engine(engine).RegisterController(&runner{"Writer", func(ctx context.Context, r controller.Runtime) error {
				defer cancel()

				return write(ctx, r)
			}}))

			require.NoError(t, engine.Run(ctx))

			_, err = rec.Close()
			if what == "modify, as it is" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, recording.ErrState)
			}
		})
	}
}

func become(value string) func(resource.Resource) error {
	return func(res resource.Resource) error {
		res.(*conformance.StrResource).SetValue(value)

		return nil
	}
}

// Controllers that are registered with the engine itself leave a recording that any controllers would pass.
func TestRecordingsWithoutControllersAreNoticed(t *testing.T) {
	t.Parallel()

	var kept bytes.Buffer

	rec := recording.New(&kept)
	require.NoError(t, rec.State(newState()).Create(t.Context(), number("one", 1)))

	_, err := rec.Close()
	require.ErrorIs(t, err, recording.ErrNoControllers)

	_, err = replay(t, kept.String(), registerWriter(strconv.Itoa))
	require.ErrorIs(t, err, recording.ErrNoControllers)

	rec = recording.New(&bytes.Buffer{})

	_, err = rec.Close()
	require.NoError(t, err)
}
