package recording_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/recording"
)

// writer is a classic controller that keeps a text for each number.
type writer struct {
	// format makes the text.
	format func(int) string
}

func (*writer) Name() string { return "Writer" }

func (*writer) Inputs() []controller.Input {
	return []controller.Input{{Namespace: ns, Type: conformance.IntResourceType, Kind: controller.InputWeak}}
}

func (*writer) Outputs() []controller.Output {
	return []controller.Output{{Type: conformance.StrResourceType, Kind: controller.OutputExclusive}}
}

func (w *writer) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		r.StartTrackingOutputs()

		list, err := r.List(ctx, numbers)
		if err != nil {
			return err
		}

		for _, res := range list.Items {
			n := res.(*conformance.IntResource)

			if err := safe.WriterModify(ctx, r, text(n.Metadata().ID(), ""), func(s *conformance.StrResource) error {
				s.SetValue(w.format(n.Value()))

				return nil
			}); err != nil {
				return err
			}
		}

		if err := r.CleanupOutputs(ctx, texts); err != nil {
			return err
		}
	}
}

func registerWriter(format func(int) string) func(controller.Engine) error {
	return func(engine controller.Engine) error { return engine.RegisterController(&writer{format: format}) }
}

func recordWriter(t testing.TB) (string, recording.Summary) {
	t.Helper()

	return recordWriterOn(t, newState())
}

func recordWriterOn(t testing.TB, inner state.State) (string, recording.Summary) {
	t.Helper()

	s := recordOn(t, inner, registerWriter(strconv.Itoa))

	require.NoError(t, s.state.Create(t.Context(), number("one", 1)))
	await(s, text("one", ""), func(*conformance.StrResource) bool { return true })

	require.NoError(t, s.state.Create(t.Context(), number("two", 2)))
	await(s, text("two", ""), func(*conformance.StrResource) bool { return true })

	_, err := safe.StateUpdateWithConflicts(t.Context(), s.state, number("one", 0).Metadata(), func(n *conformance.IntResource) error {
		n.SetValue(10)

		return nil
	})
	require.NoError(t, err)
	await(s, text("one", ""), func(s *conformance.StrResource) bool { return s.Value() == "10" })

	require.NoError(t, s.state.Destroy(t.Context(), number("two", 0).Metadata()))
	s.awaitGone(text("two", ""))

	return s.end()
}

func TestRunOfAClassicController(t *testing.T) {
	t.Parallel()

	kept, summary := recordWriter(t)

	for range 10 {
		result, err := replay(t, kept, registerWriter(strconv.Itoa))
		require.NoError(t, err, kept)
		require.Equal(t, summary, result.Summary)
		require.Len(t, result.Passes, summary.Passes)
		require.True(t, result.Complete)
	}
}

// What the state puts on a resource by itself, beside its version and times, is no difference.
func TestStampsOfTheStateAreReplayed(t *testing.T) {
	t.Parallel()

	kept, summary := recordWriterOn(t, state.WrapCore(generation.Wrap(newState(), generation.Config{
		Types: []resource.Type{conformance.IntResourceType, conformance.StrResourceType},
	})))
	require.Contains(t, kept, generation.UIDAnnotation)

	result, err := replay(t, kept, registerWriter(strconv.Itoa))
	require.NoError(t, err, kept)
	require.Equal(t, summary, result.Summary)
}

func TestChangedControllerIsFound(t *testing.T) {
	t.Parallel()

	kept, _ := recordWriter(t)

	_, err := replay(t, kept, registerWriter(func(n int) string {
		if n == 10 {
			return "ten"
		}

		return strconv.Itoa(n)
	}))

	var different *recording.DifferenceError

	require.ErrorAs(t, err, &different)
	require.Equal(t, "Writer", different.Pass.Controller)
	t.Log(err)
}
