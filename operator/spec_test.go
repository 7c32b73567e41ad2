package operator_test

import (
	"context"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// A spec that is given as a whole leaves nothing of what was there before, and is not written when it is there.
func TestSpecsThatAreGivenWhole(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		w.Start(func(e controller.Engine) error {
			c := define("sites")
			operator.Owns[*page](c)

			return operator.Register(e, c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				spec := pageSpec{Text: s.TypedSpec().Text}
				if s.TypedSpec().Text == "tagged" {
					spec.Tags = map[string]string{"tag": "yes"}
				}

				return operator.EnsureSpec(ctx, c, &page{}, spec)
			}))
		})

		ptr := resource.NewMetadata(ns, pageType, "a", resource.VersionUndefined)
		spec := func() pageSpec { return *controllertest.Get[*page](w, ptr).TypedSpec() }

		w.Create(siteOf("a", siteSpec{Text: "tagged"}))
		w.Settle()
		require.Equal(w, pageSpec{Text: "tagged", Tags: map[string]string{"tag": "yes"}}, spec())

		controllertest.Update(w, siteOf("a", siteSpec{}).Metadata(), func(s *site) { s.TypedSpec().Text = "plain" })
		w.Settle()
		require.Equal(w, pageSpec{Text: "plain"}, spec())

		before := controllertest.Get[*page](w, ptr).Metadata().Version()

		w.WakeAll()
		w.Settle()
		require.Equal(w, before, controllertest.Get[*page](w, ptr).Metadata().Version())
	})
}
