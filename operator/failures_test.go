package operator_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	peer "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/gen/xerrors"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/runtime"
)

// A pass that has failed is tried again, whatever else an engine reads out of its error: a cancellation, a wish to run again much
// later, or to be skipped.
func TestFailuresAreNothingElseToAnEngine(t *testing.T) {
	t.Parallel()

	engines := map[string]func(state.State) (controller.Engine, error){
		"ours": func(st state.State) (controller.Engine, error) {
			return runtime.New(st, zap.NewNop(), runtime.Config{})
		},
		"the contract's": func(st state.State) (controller.Engine, error) { return peer.NewRuntime(st, zap.NewNop()) },
	}

	failures := map[string]error{
		"cancelled": errors.Join(errors.New("calling"), context.Canceled),
		"later":     errors.Join(operator.RequeueAfter(time.Hour), errors.New("failed")),
		"skipped":   xerrors.NewTagged[qtransform.SkipReconcileTag](errors.New("skipped")),
	}

	for by, build := range engines {
		for name, failure := range failures {
			t.Run(by+"/"+name, func(t *testing.T) {
				t.Parallel()

				st := state.WrapCore(namespaced.NewState(inmem.Build))
				ctx, cancel := context.WithCancel(t.Context())
				passes := 0

				engine, err := build(st)
				require.NoError(t, err)
				require.NoError(t, operator.Register(engine, sites().Reconcile(func(context.Context, *site, *operator.Context[*site]) error {
					if passes++; passes == 1 {
						return failure
					}

					cancel()

					return nil
				})))
				require.NoError(t, st.Create(ctx, newSite("a", "")))
				require.NoError(t, engine.Run(ctx))
				require.Equal(t, 2, passes)
			})
		}
	}
}

// A handler that ends its goroutine has failed, and that is reported: in the place where it was, and with what was found before.
func TestHandlersThatEndTheirGoroutineHaveFailed(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			exits := func(off bool) operator.StageHandler[*lamp] {
				return func(_ context.Context, l *lamp, _ *operator.StageContext) error {
					if l.TypedSpec().Off == off {
						goruntime.Goexit()
					}

					return nil
				}
			}

			c.Stage("Third", fine, c.Stage("Second", exits(true), c.Stage("First", fine)))
			c.Finalize("lamps", exits(false))

			return c
		})

		w.Create(newHeld("a", 1))
		w.Advance(100 * time.Millisecond)
		require.Equal(w, []string{"First True Reconciled", "Second True Reconciled", "Third True Reconciled", "Ready True Reconciled"}, said(w, "a"))

		change(w, "a", func(s *lampSpec) { s.Off = true })
		w.Advance(100 * time.Millisecond)
		require.Equal(w, []string{"First True Reconciled", "Second False Panic", "Third Unknown DependencyNotReady", "Ready False Panic"}, said(w, "a"))
		require.EqualValues(w, 2, status(w, "a").ObservedGeneration)

		change(w, "a", func(s *lampSpec) { s.Off = false })
		w.Advance(time.Minute)
		require.True(w, status(w, "a").Conditions.Holds(operator.Ready))

		_, err := w.State().Teardown(w.Context(), newLamp("a", 0).Metadata())
		require.NoError(w, err)
		w.Advance(100 * time.Millisecond)

		ready, _ := status(w, "a").Conditions.Get(operator.Ready)
		require.Equal(w, "Finalize: Panic", ready.Message)
	})
}
