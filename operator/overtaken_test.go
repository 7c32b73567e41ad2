package operator_test

import (
	"context"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

// A pass that was overtaken has not answered what is asked for now, so the answer to what was asked before does not pass for it.
func TestOvertakenPassesLeaveTheStatusStale(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		w.Wrap(func(core state.CoreState) state.CoreState {
			return generation.Wrap(core, generation.Config{Types: []resource.Type{siteType}})
		})

		passes, stale := 0, false

		w.Start(func(e controller.Engine) error {
			c := define("sites")
			operator.Status[seen, statusExtension](c)

			return operator.Register(e, c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				if s.TypedSpec().Text == "" {
					return nil
				}

				if passes++; passes == 1 {
					return &conflicted{s.Metadata()}
				}

				status, err := operator.Get[*siteStatus](ctx, c, s.Metadata().ID())
				if passes == 2 && err == nil {
					stale = operator.Joined(s, status).Stale
				}

				return err
			}))
		})

		w.Create(siteOf("a", siteSpec{}))
		w.Settle()
		controllertest.Update(w, siteOf("a", siteSpec{}).Metadata(), func(s *site) { s.TypedSpec().Text = "other" })
		w.Settle()
		require.True(w, stale, "the status is that of the generation before")

		status := controllertest.Get[*siteStatus](w, resource.NewMetadata(ns, statusType, "a", resource.VersionUndefined))
		require.EqualValues(w, 2, status.TypedSpec().ObservedGeneration)
	})
}
