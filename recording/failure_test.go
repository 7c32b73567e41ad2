package recording_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// trial is a classic controller that does one thing at its first wakeup, and tells what came of it.
type trial struct {
	do   func(ctx context.Context, r controller.Runtime) error
	came chan error
}

func (*trial) Name() string { return "Trial" }

func (*trial) Inputs() []controller.Input {
	return []controller.Input{{Namespace: ns, Type: conformance.IntResourceType, Kind: controller.InputStrong}}
}

func (*trial) Outputs() []controller.Output {
	return []controller.Output{{Type: conformance.StrResourceType, Kind: controller.OutputShared}}
}

func (c *trial) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	select {
	case <-ctx.Done():
	case <-r.EventCh():
		c.came <- c.do(ctx, r)
	}

	return nil
}

// try records what a controller does at one wakeup and replays it. It returns what came of it both times.
func try(t *testing.T, do func(ctx context.Context, r controller.Runtime) error, prepare func(state.State)) (live, replayed error) {
	t.Helper()

	came := make(chan error, 1)
	register := func(engine controller.Engine) error { return engine.RegisterController(&trial{do, came}) }

	inner := newState()
	if prepare != nil {
		prepare(inner)
	}

	s := recordOn(t, inner, register)
	live = <-came
	kept, summary := s.end()

	result, err := replay(t, kept, register)
	require.NoError(t, err)
	require.Equal(t, summary, result.Summary)

	return live, <-came
}

// kindsOf tells what controllers ask errors for.
func kindsOf(err error) map[string]bool {
	var refused *stateadapter.RefusedError

	return map[string]bool{
		"not found":             state.IsNotFoundError(err),
		"conflict":              state.IsConflictError(err),
		"conflict about texts":  state.IsConflictError(err, state.WithResourceType(conformance.StrResourceType), state.WithResourceNamespace(ns)),
		"conflict about others": state.IsConflictError(err, state.WithResourceType("others")),
		"owner conflict":        state.IsOwnerConflictError(err),
		"phase conflict":        state.IsPhaseConflictError(err),
		"refused":               errors.As(err, &refused),
		"not readable":          errors.Is(err, stateadapter.ErrNotReadable),
		"not writable":          errors.Is(err, stateadapter.ErrNotWritable),
		"not holdable":          errors.Is(err, stateadapter.ErrNotHoldable),
		"not tracking":          errors.Is(err, stateadapter.ErrNotTracking),
		"canceled":              errors.Is(err, context.Canceled),
		"deadline exceeded":     errors.Is(err, context.DeadlineExceeded),
		"no such file":          errors.Is(err, fs.ErrNotExist),
		"permission denied":     errors.Is(err, fs.ErrPermission),
	}
}

func TestEveryKindOfErrorSurvives(t *testing.T) {
	t.Parallel()

	outside := func(err error) func(context.Context, controller.Runtime) error {
		return func(ctx context.Context, _ controller.Runtime) error {
			return recording.Do(ctx, "something", func() error { return err })
		}
	}

	for what, do := range map[string]func(ctx context.Context, r controller.Runtime) error{
		"not found": func(ctx context.Context, r controller.Runtime) error {
			_, err := r.Get(ctx, text("missing", "").Metadata())

			return err
		},
		"conflict": func(ctx context.Context, r controller.Runtime) error {
			return errors.Join(r.Create(ctx, text("new", "")), r.Create(ctx, text("new", "")))
		},
		"conflict of versions": func(ctx context.Context, r controller.Runtime) error {
			res := text("new", "")
			first := r.Create(ctx, res)
			stale := res.DeepCopy()
			stale.(*conformance.StrResource).SetValue("stale")

			res.SetValue("fresh")

			return errors.Join(first, r.Update(ctx, res), r.Update(ctx, stale))
		},
		"pending finalizers": func(ctx context.Context, r controller.Runtime) error {
			return r.Destroy(ctx, text("held", "").Metadata())
		},
		"owner conflict": func(ctx context.Context, r controller.Runtime) error {
			return r.Destroy(ctx, text("theirs", "").Metadata())
		},
		"phase conflict": func(ctx context.Context, r controller.Runtime) error {
			return r.Modify(ctx, text("going", ""), func(res resource.Resource) error {
				res.(*conformance.StrResource).SetValue("staying")

				return nil
			})
		},
		"phase conflict of a finalizer": func(ctx context.Context, r controller.Runtime) error {
			return stateadapter.AddFinalizerIfRunning(ctx, r, number("going", 0).Metadata(), "Trial")
		},
		"not readable": func(ctx context.Context, r controller.Runtime) error {
			_, err := r.List(ctx, resource.NewMetadata("other", "other", "", resource.VersionUndefined))

			return err
		},
		"not writable": func(ctx context.Context, r controller.Runtime) error {
			return r.Destroy(ctx, number("one", 0).Metadata())
		},
		"not holdable": func(ctx context.Context, r controller.Runtime) error {
			return r.AddFinalizer(ctx, text("theirs", "").Metadata(), "Trial")
		},
		"not tracking": func(ctx context.Context, r controller.Runtime) error { return r.CleanupOutputs(ctx, texts) },
		"canceled": func(ctx context.Context, r controller.Runtime) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()

			_, err := r.GetUncached(ctx, text("theirs", "").Metadata())

			return recording.Do(ctx, "anything", func() error { return errors.Join(err, ctx.Err()) })
		},
		"inputs that are refused": func(_ context.Context, r controller.Runtime) error {
			return r.UpdateInputs([]controller.Input{{Kind: controller.InputQPrimary}})
		},
		"error of the function": func(ctx context.Context, r controller.Runtime) error {
			return r.Modify(ctx, text("new", ""), func(resource.Resource) error { return fs.ErrPermission })
		},
		"no such file":      outside(fmt.Errorf("wrapped: %w", fs.ErrNotExist)),
		"permission denied": outside(fs.ErrPermission),
		"deadline exceeded": outside(context.DeadlineExceeded),
		"anything else":     outside(errors.New("anything else")),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()

			live, replayed := try(t, do, func(st state.State) {
				ctx := t.Context()

				held := text("held", "")
				held.Metadata().Finalizers().Add("somebody")

				require.NoError(t, st.Create(ctx, number("going", 0)))
				require.NoError(t, st.Create(ctx, text("going", ""), state.WithCreateOwner("Trial")))
				require.NoError(t, st.Create(ctx, held, state.WithCreateOwner("Trial")))
				require.NoError(t, st.Create(ctx, text("theirs", ""), state.WithCreateOwner("Somebody")))

				_, err := st.Teardown(ctx, number("going", 0).Metadata())
				require.NoError(t, err)
				_, err = st.Teardown(ctx, text("going", "").Metadata(), state.WithTeardownOwner("Trial"))
				require.NoError(t, err)
			})

			require.Error(t, live)
			require.EqualError(t, replayed, live.Error())
			require.Equal(t, kindsOf(live), kindsOf(replayed))

			var refused, again *stateadapter.RefusedError

			if errors.As(live, &refused) {
				require.ErrorAs(t, replayed, &again)
				require.Equal(t, refused.Error(), again.Error())
			}
		})
	}
}
