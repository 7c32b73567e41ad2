package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/transform"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/rtestutils"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"github.com/siderolabs/gen/xerrors"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

const packer = "packer"

// packing are the settings of a transform that packs orders.
func packing() transform.Settings[*order, *parcel] {
	return transform.Settings[*order, *parcel]{
		Name:            packer,
		MapMetadataFunc: parcelOf,
		TransformFunc: func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
			pack(in, out)

			return nil
		},
	}
}

func TestTransformFollowsItsInputs(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		s.create(t, newOrder("before", "tea"))
		s.register(t, transform.NewController(packing()))
		s.create(t, newOrder("after", "cake"))

		rtestutils.AssertResource(s.ctx, t, s.state, "before", says[parcelDef]("TEA"))
		rtestutils.AssertResource(s.ctx, t, s.state, "after", func(p *parcel, asserts *assert.Assertions) {
			asserts.Equal("CAKE", p.TypedSpec().Text)
			asserts.Equal(packer, p.Metadata().Owner())
		})

		reword[orderDef](t, s, "after", "bread")
		rtestutils.AssertResource(s.ctx, t, s.state, "after", says[parcelDef]("BREAD"))

		s.destroy(t, newOrder("before", "").Metadata())
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "before")
		rtestutils.AssertResource(s.ctx, t, s.state, "after", says[parcelDef]("BREAD"))

		s.healthy(t)
	})
}

func TestTransformWithInputFinalizers(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		var (
			paid    = false
			refused = xerrors.NewTaggedf[transform.SkipReconcileTag]("not paid yet")
			asked   = 0
		)

		settings := packing()
		settings.FinalizerRemovalFunc = func(context.Context, controller.Reader, *zap.Logger, *order) error {
			asked++

			if !paid {
				return refused
			}

			return nil
		}

		s.register(t, transform.NewController(settings, transform.WithInputFinalizers()))
		s.create(t, newOrder("o", "tea"))

		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(o *order, asserts *assert.Assertions) {
			asserts.True(o.Metadata().Finalizers().Has(packer))
		})
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("TEA"))

		s.tearDown(t, newOrder("o", "").Metadata())
		s.settle()

		// The tag is no failure and is not retried: nothing happens for hours, and the parcel stays.
		before := asked
		require.Positive(t, before)
		s.pass(30 * time.Minute)
		require.Equal(t, before, asked)
		require.Equal(t, resource.PhaseRunning, present[*parcel](t, s, "o").Metadata().Phase())
		s.healthy(t)

		paid = true
		s.create(t, newOrder("another", "event"))

		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "o")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(o *order, asserts *assert.Assertions) {
			asserts.True(o.Metadata().Finalizers().Empty())
		})
		s.destroy(t, newOrder("o", "").Metadata())
		s.healthy(t)
	})
}

func TestTransformRetriesAFinalizerRemovalThatFails(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		failures := 3

		settings := packing()
		settings.FinalizerRemovalFunc = func(context.Context, controller.Reader, *zap.Logger, *order) error {
			if failures > 0 {
				failures--

				return errors.New("the warehouse does not answer")
			}

			return nil
		}

		s.register(t, transform.NewController(settings, transform.WithInputFinalizers()))
		s.create(t, newOrder("o", "tea"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("TEA"))

		s.tearDown(t, newOrder("o", "").Metadata())

		// No other event comes: what brings it about are the restarts of the controller.
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "o")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(o *order, asserts *assert.Assertions) {
			asserts.True(o.Metadata().Finalizers().Empty())
		})
		require.Zero(t, failures)
		s.healthy(t)
	})
}

func TestTransformExtraInputs(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		settings := packing()
		settings.TransformFunc = func(ctx context.Context, r controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
			needed, err := safe.ReaderGetByID[*stamp](ctx, r, "first class")
			if state.IsNotFoundError(err) {
				return xerrors.NewTagged[transform.SkipReconcileTag](err)
			}

			if err != nil {
				return err
			}

			out.TypedSpec().Text = in.TypedSpec().Text + "+" + needed.TypedSpec().Text

			return nil
		}

		s.register(t, transform.NewController(settings, transform.WithExtraInputs(safe.Input[*stamp](controller.InputWeak))))
		s.create(t, newOrder("a", "tea"), newOrder("b", "cake"))
		s.settle()

		// Skipped, not failed.
		rtestutils.AssertLength[*parcel](s.ctx, t, s.state, 0)
		s.healthy(t)

		s.create(t, newStamp("first class", "queen"))
		rtestutils.AssertResource(s.ctx, t, s.state, "a", says[parcelDef]("tea+queen"))
		rtestutils.AssertResource(s.ctx, t, s.state, "b", says[parcelDef]("cake+queen"))

		reword[stampDef](t, s, "first class", "king")
		rtestutils.AssertResource(s.ctx, t, s.state, "a", says[parcelDef]("tea+king"))
		rtestutils.AssertResource(s.ctx, t, s.state, "b", says[parcelDef]("cake+king"))
		s.healthy(t)
	})
}

func TestTransformWaitsForForeignFinalizersOnOutputs(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		settings := packing()
		settings.FinalizerRemovalFunc = func(context.Context, controller.Reader, *zap.Logger, *order) error { return nil }

		s.register(t, transform.NewController(settings, transform.WithInputFinalizers()))
		s.create(t, newOrder("o", "tea"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("TEA"))

		s.pin(t, newParcel("o", "").Metadata(), "courier")
		s.tearDown(t, newOrder("o", "").Metadata())
		s.pass(time.Minute)

		require.Equal(t, resource.PhaseTearingDown, present[*parcel](t, s, "o").Metadata().Phase())
		require.True(t, present[*order](t, s, "o").Metadata().Finalizers().Has(packer))
		s.healthy(t)

		s.unpin(t, newParcel("o", "").Metadata(), "courier")
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "o")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(o *order, asserts *assert.Assertions) {
			asserts.True(o.Metadata().Finalizers().Empty())
		})
		s.healthy(t)
	})
}

// The input is removed and created again while its output still is tearing down behind somebody else's finalizer: the
// old output goes, the new one has the new value, and nothing spins in between.
func TestTransformReplacesAnOutputThatIsStillTearingDown(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		passes := 0

		settings := packing()
		settings.PreTransformHook = func(context.Context, controller.ReaderWriter) error {
			passes++

			return nil
		}

		s.register(t, transform.NewController(settings))
		s.create(t, newOrder("o", "old"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("OLD"))

		s.pin(t, newParcel("o", "").Metadata(), "courier")
		s.destroy(t, newOrder("o", "").Metadata())
		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(p *parcel, asserts *assert.Assertions) {
			asserts.Equal(resource.PhaseTearingDown, p.Metadata().Phase())
		})

		s.create(t, newOrder("o", "new"))
		s.pass(10 * time.Minute)

		old := present[*parcel](t, s, "o")
		require.Equal(t, "OLD", old.TypedSpec().Text)
		require.Equal(t, resource.PhaseTearingDown, old.Metadata().Phase())

		s.unpin(t, newParcel("o", "").Metadata(), "courier")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(p *parcel, asserts *assert.Assertions) {
			asserts.Equal("NEW", p.TypedSpec().Text)
			asserts.Equal(resource.PhaseRunning, p.Metadata().Phase())
			asserts.True(p.Metadata().Finalizers().Empty())
		})

		s.pass(10 * time.Minute)
		require.LessOrEqual(t, passes, 12)
		s.healthy(t)
	})
}

func TestTransformOptionalMap(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		settings := packing()
		settings.MapMetadataFunc = nil
		settings.MapMetadataOptionalFunc = func(o *order) optional.Optional[*parcel] {
			if _, draft := o.Metadata().Labels().Get("draft"); draft {
				return optional.None[*parcel]()
			}

			return optional.Some(parcelOf(o))
		}

		s.register(t, transform.NewController(settings))
		s.create(t, labelled(newOrder("draft", "tea"), "draft", ""), newOrder("final", "cake"))
		rtestutils.AssertResource(s.ctx, t, s.state, "final", says[parcelDef]("CAKE"))
		rtestutils.AssertLength[*parcel](s.ctx, t, s.state, 1)

		change(t, s, newOrder("draft", "").Metadata(), func(o *order) { o.Metadata().Labels().Delete("draft") })
		rtestutils.AssertResource(s.ctx, t, s.state, "draft", says[parcelDef]("TEA"))

		change(t, s, newOrder("final", "").Metadata(), func(o *order) { o.Metadata().Labels().Set("draft", "") })
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "final")
		s.healthy(t)
	})
}

// One input that can not be transformed neither stops the others nor is given up.
func TestTransformFailureOfOneInput(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		settings := packing()
		settings.TransformFunc = func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
			if in.TypedSpec().Text == "bomb" {
				return errors.New("this is not posted")
			}

			pack(in, out)

			return nil
		}

		s.register(t, transform.NewController(settings))
		s.create(t, newOrder("a", "bomb"), newOrder("b", "cake"))
		rtestutils.AssertResource(s.ctx, t, s.state, "b", says[parcelDef]("CAKE"))
		s.settle()

		problems := s.rt.Health().Problems()
		require.Len(t, problems, 1)
		require.Contains(t, problems[0], packer)
		require.Contains(t, problems[0], "this is not posted")

		reword[orderDef](t, s, "a", "bread")
		rtestutils.AssertResource(s.ctx, t, s.state, "a", says[parcelDef]("BREAD"))
		s.healthy(t)
	})
}

func TestTransformExtraOutputs(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		settings := packing()
		settings.TransformFunc = nil
		settings.TransformExtraOutputFunc = func(ctx context.Context, rw controller.ReaderWriter, _ *zap.Logger, in *order, out *parcel) error {
			pack(in, out)

			return safe.WriterModify(ctx, rw, newSticker(in.Metadata().ID(), ""), func(s *sticker) error {
				s.TypedSpec().Text = "for " + in.TypedSpec().Text

				return nil
			})
		}
		settings.FinalizerRemovalExtraOutputFunc = func(ctx context.Context, rw controller.ReaderWriter, _ *zap.Logger, in *order) error {
			ready, err := rw.Teardown(ctx, newSticker(in.Metadata().ID(), "").Metadata())
			if state.IsNotFoundError(err) {
				return nil
			}

			if err != nil {
				return err
			}

			if !ready {
				return xerrors.NewTaggedf[transform.SkipReconcileTag]("the sticker is in use")
			}

			return rw.Destroy(ctx, newSticker(in.Metadata().ID(), "").Metadata())
		}

		s.register(t, transform.NewController(settings,
			transform.WithInputFinalizers(),
			transform.WithExtraInputs(safe.Input[*sticker](controller.InputDestroyReady)),
			transform.WithExtraOutputs(controller.Output{Type: newSticker("", "").Metadata().Type(), Kind: controller.OutputShared}),
			transform.WithOutputKind(controller.OutputShared),
		))
		s.create(t, newOrder("o", "tea"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("TEA"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[stickerDef]("for tea"))

		s.pin(t, newSticker("o", "").Metadata(), "printer")
		s.tearDown(t, newOrder("o", "").Metadata())
		s.pass(time.Minute)
		require.True(t, present[*order](t, s, "o").Metadata().Finalizers().Has(packer))

		s.unpin(t, newSticker("o", "").Metadata(), "printer")
		rtestutils.AssertNoResource[*sticker](s.ctx, t, s.state, "o")
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "o")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(o *order, asserts *assert.Assertions) {
			asserts.True(o.Metadata().Finalizers().Empty())
		})
		s.healthy(t)
	})
}

func TestTransformListsWithOptions(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		s.register(t, transform.NewController(packing(), transform.WithInputListOptions(
			state.WithLabelQuery(resource.LabelExists("express")),
		)))
		s.create(t, newOrder("slow", "tea"), labelled(newOrder("fast", "cake"), "express", ""))
		rtestutils.AssertResource(s.ctx, t, s.state, "fast", says[parcelDef]("CAKE"))
		s.settle()
		rtestutils.AssertLength[*parcel](s.ctx, t, s.state, 1)
	})
}

func TestTransformIgnoresTeardownOnRequest(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		s.register(t, transform.NewController(packing(), transform.WithIgnoreTearingDownInputs()))
		s.create(t, pinned(newOrder("o", "tea"), "customer"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("TEA"))

		s.tearDown(t, newOrder("o", "").Metadata())
		s.pass(time.Minute)
		require.Equal(t, resource.PhaseRunning, present[*parcel](t, s, "o").Metadata().Phase())

		s.unpin(t, newOrder("o", "").Metadata(), "customer")
		s.destroy(t, newOrder("o", "").Metadata())
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "o")
	})
}

func TestTransformExtraEventsAndShutdown(t *testing.T) {
	var (
		passes  int
		ended   int
		price   = "cheap"
		refresh chan struct{}
	)

	onStage(t, func(t *testing.T, s *stage) {
		refresh = make(chan struct{})
		settings := packing()
		settings.TransformFunc = func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
			passes++
			out.TypedSpec().Text = fmt.Sprint(price, " ", in.TypedSpec().Text)

			return nil
		}

		s.register(t, transform.NewController(settings,
			transform.WithExtraEventChannel(refresh),
			transform.WithOnShutdownCallback(func(context.Context, controller.ReaderWriter, *zap.Logger) { ended++ }),
		))
		s.create(t, newOrder("o", "tea"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("cheap tea"))
		s.settle()

		price = "dear"
		before := passes
		refresh <- struct{}{}

		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("dear tea"))
		s.settle()
		require.Equal(t, before+1, passes)
		require.Zero(t, ended)
	})

	require.Equal(t, 1, ended)
}
