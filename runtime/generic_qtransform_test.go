package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
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

const qpacker = "queue packer"

// qpacking are the settings of a queue transform that packs orders.
func qpacking() qtransform.Settings[*order, *parcel] {
	return qtransform.Settings[*order, *parcel]{
		Name:              qpacker,
		MapMetadataFunc:   parcelOf,
		UnmapMetadataFunc: orderOf,
		TransformFunc: func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
			pack(in, out)

			return nil
		},
	}
}

func TestQTransformFollowsItsInputs(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		s.create(t, newOrder("before", "tea"))
		s.register(t, qtransform.NewQController(qpacking(), qtransform.WithConcurrency(4)))
		s.create(t, newOrder("after", "cake"))

		for id, text := range map[string]string{"before": "TEA", "after": "CAKE"} {
			rtestutils.AssertResource(s.ctx, t, s.state, id, func(p *parcel, asserts *assert.Assertions) {
				asserts.Equal(text, p.TypedSpec().Text)
				asserts.Equal(qpacker, p.Metadata().Owner())
			})
			rtestutils.AssertResource(s.ctx, t, s.state, id, func(o *order, asserts *assert.Assertions) {
				asserts.True(o.Metadata().Finalizers().Has(qpacker))
			})
		}

		reword[orderDef](t, s, "after", "bread")
		rtestutils.AssertResource(s.ctx, t, s.state, "after", says[parcelDef]("BREAD"))

		s.settle()
		rtestutils.Destroy[*order](s.ctx, t, s.state, []string{"before"})
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "before")
		rtestutils.AssertResource(s.ctx, t, s.state, "after", says[parcelDef]("BREAD"))
		s.healthy(t)
	})
}

func TestQTransformWaitsForForeignFinalizersOnOutputs(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		s.register(t, qtransform.NewQController(qpacking()))
		s.create(t, newOrder("o", "tea"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("TEA"))

		s.pin(t, newParcel("o", "").Metadata(), "courier")
		s.tearDown(t, newOrder("o", "").Metadata())
		s.pass(time.Minute)
		require.Equal(t, resource.PhaseTearingDown, present[*parcel](t, s, "o").Metadata().Phase())
		require.True(t, present[*order](t, s, "o").Metadata().Finalizers().Has(qpacker))
		s.healthy(t)

		s.unpin(t, newParcel("o", "").Metadata(), "courier")
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "o")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(o *order, asserts *assert.Assertions) {
			asserts.True(o.Metadata().Finalizers().Empty())
		})
		s.healthy(t)
	})
}

// The input is removed by force and created again while its output still is tearing down behind somebody else's
// finalizer: the old output goes, the new one has the new value, and nothing spins in between.
func TestQTransformReplacesAnOutputThatIsStillTearingDown(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		var passes atomic.Int64

		settings := qpacking()
		settings.MapMetadataFunc = func(o *order) *parcel {
			passes.Add(1) // called once a pass

			return parcelOf(o)
		}

		s.register(t, qtransform.NewQController(settings))
		s.create(t, newOrder("o", "old"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("OLD"))

		s.pin(t, newParcel("o", "").Metadata(), "courier")
		s.tearDown(t, newOrder("o", "").Metadata())
		s.settle()
		require.Equal(t, resource.PhaseTearingDown, present[*parcel](t, s, "o").Metadata().Phase())

		s.unpin(t, newOrder("o", "").Metadata(), qpacker)
		s.destroy(t, newOrder("o", "").Metadata())
		s.create(t, newOrder("o", "new"))
		s.pass(10 * time.Minute)

		old := present[*parcel](t, s, "o")
		require.Equal(t, "OLD", old.TypedSpec().Text)
		require.Equal(t, resource.PhaseTearingDown, old.Metadata().Phase())
		s.healthy(t)

		s.unpin(t, newParcel("o", "").Metadata(), "courier")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(p *parcel, asserts *assert.Assertions) {
			asserts.Equal("NEW", p.TypedSpec().Text)
			asserts.Equal(resource.PhaseRunning, p.Metadata().Phase())
			asserts.True(p.Metadata().Finalizers().Empty())
		})

		s.pass(10 * time.Minute)
		require.LessOrEqual(t, passes.Load(), int64(12))
		s.healthy(t)
	})
}

func TestQTransformMapsExtraInputs(t *testing.T) {
	same := qtransform.MapperSameID[*order]()
	mappers := map[string]qtransform.MapperFunc{
		"same id": same,
		"label":   qtransform.MapExtractLabelValue[*order]("for"),
		"label that matches": qtransform.MapExtractLabelValue[*order]("for",
			resource.LabelTerm{Key: "valid", Op: resource.LabelOpExists}),
		"typed": qtransform.MapperFuncFromTyped(
			func(_ context.Context, _ *zap.Logger, _ controller.QRuntime, in *stamp) ([]resource.Pointer, error) {
				return []resource.Pointer{newOrder(in.Metadata().ID(), "").Metadata()}, nil
			}),
	}

	for name, mapper := range mappers {
		t.Run(name, func(t *testing.T) {
			plainAndCached(t, func(t *testing.T, s *stage) {
				settings := qpacking()
				settings.TransformFunc = func(ctx context.Context, r controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
					needed, err := safe.ReaderGetByID[*stamp](ctx, r, in.Metadata().ID())
					if state.IsNotFoundError(err) {
						return xerrors.NewTagged[qtransform.SkipReconcileTag](err)
					}

					if err != nil {
						return err
					}

					out.TypedSpec().Text = in.TypedSpec().Text + "+" + needed.TypedSpec().Text

					return nil
				}

				s.register(t, qtransform.NewQController(settings, qtransform.WithExtraMappedInput[*stamp](mapper)))
				s.create(t, newOrder("a", "tea"), newOrder("b", "cake"))
				s.pass(time.Minute)

				// Skipped, not failed.
				rtestutils.AssertLength[*parcel](s.ctx, t, s.state, 0)
				s.healthy(t)

				for _, id := range []string{"a", "b"} {
					s.create(t, labelled(labelled(newStamp(id, "queen"), "for", id), "valid", ""))
				}

				rtestutils.AssertResource(s.ctx, t, s.state, "a", says[parcelDef]("tea+queen"))
				rtestutils.AssertResource(s.ctx, t, s.state, "b", says[parcelDef]("cake+queen"))

				reword[stampDef](t, s, "b", "king")
				rtestutils.AssertResource(s.ctx, t, s.state, "b", says[parcelDef]("cake+king"))
				rtestutils.AssertResource(s.ctx, t, s.state, "a", says[parcelDef]("tea+queen"))
				s.healthy(t)
			})
		})
	}
}

// A mapper that names nothing wakes nothing, and a destroy-ready mapped input is mapped when it may be destroyed.
func TestQTransformMapsDestroyReadyInputs(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		var passes, mapped atomic.Int64

		settings := qpacking()
		settings.TransformFunc = func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
			out.TypedSpec().Text = fmt.Sprint("pass ", passes.Add(1))

			return nil
		}

		toOrder := func(_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			mapped.Add(1)

			return []resource.Pointer{newOrder(md.ID(), "").Metadata()}, nil
		}

		s.register(t, qtransform.NewQController(settings,
			qtransform.WithExtraMappedDestroyReadyInput[*stamp](toOrder),
			qtransform.WithExtraMappedInput[*sticker](qtransform.MapperNone()),
		))
		s.create(t, newOrder("o", "tea"))
		s.settle()

		before := passes.Load()

		s.create(t, pinned(newStamp("o", "queen"), "collector"), newSticker("o", "sticky"))
		reword[stampDef](t, s, "o", "king")
		s.tearDown(t, newStamp("o", "").Metadata())
		s.settle()
		require.Equal(t, before, passes.Load())
		require.Zero(t, mapped.Load())

		s.unpin(t, newStamp("o", "").Metadata(), "collector")
		s.settle()
		require.EqualValues(t, 1, mapped.Load())
		require.Equal(t, before+1, passes.Load())

		s.destroy(t, newStamp("o", "").Metadata())
		s.settle()
		require.EqualValues(t, 2, mapped.Load())
		require.Equal(t, before+2, passes.Load())
		s.healthy(t)
	})
}

// What a transform wrote is kept when it asks to be run again without an error, and is not when it comes with one; both
// run again after the interval asked for.
func TestQTransformRequeues(t *testing.T) {
	for name, failure := range map[string]error{"interval": nil, "error": errors.New("no tape left")} {
		t.Run(name, func(t *testing.T) {
			plainAndCached(t, func(t *testing.T, s *stage) {
				var times []time.Duration

				settings := qpacking()
				start := time.Now()

				settings.TransformFunc = func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
					times = append(times, time.Since(start))
					out.TypedSpec().Text = fmt.Sprint("pass ", len(times))

					if len(times) < 3 {
						return controller.NewRequeueError(failure, 20*time.Minute)
					}

					return nil
				}

				s.register(t, qtransform.NewQController(settings))
				s.create(t, newOrder("o", "tea"))
				s.settle()

				// The finalizer that the controller puts on its input is a change of it and makes for another pass at
				// once, when there was no error.
				first := len(times)

				if failure == nil {
					rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef](fmt.Sprint("pass ", first)))
				} else {
					rtestutils.AssertLength[*parcel](s.ctx, t, s.state, 0)
					require.NotEmpty(t, s.rt.Health().Problems())
				}

				s.pass(50 * time.Minute)
				rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("pass 3"))
				require.Len(t, times, 3)

				for i, at := range times {
					require.Zero(t, at%(20*time.Minute), "pass %d at %s", i, at)
				}

				require.GreaterOrEqual(t, times[2], 20*time.Minute)
				s.healthy(t)
			})
		})
	}
}

func TestQTransformRetriesFailures(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		var bombs atomic.Int64

		settings := qpacking()
		settings.TransformFunc = func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
			if in.TypedSpec().Text == "bomb" && bombs.Add(1) < 5 {
				return errors.New("this is not posted")
			}

			pack(in, out)

			return nil
		}

		s.register(t, qtransform.NewQController(settings))
		s.create(t, newOrder("a", "bomb"), newOrder("b", "cake"))

		rtestutils.AssertResource(s.ctx, t, s.state, "b", says[parcelDef]("CAKE"))
		rtestutils.AssertResource(s.ctx, t, s.state, "a", says[parcelDef]("BOMB"))
		require.EqualValues(t, 5, bombs.Load())
		s.healthy(t)
	})
}

func TestQTransformSkips(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		var passes atomic.Int64

		settings := qpacking()
		settings.TransformFunc = func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
			passes.Add(1)

			if in.TypedSpec().Text == "" {
				return xerrors.NewTaggedf[qtransform.SkipReconcileTag]("nothing to pack")
			}

			pack(in, out)

			return nil
		}

		s.register(t, qtransform.NewQController(settings))
		s.create(t, newOrder("o", ""))
		s.settle()

		before := passes.Load()
		require.Positive(t, before)
		s.pass(30 * time.Minute)
		require.Equal(t, before, passes.Load())
		rtestutils.AssertLength[*parcel](s.ctx, t, s.state, 0)
		s.healthy(t)

		reword[orderDef](t, s, "o", "tea")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("TEA"))
	})
}

func TestQTransformDestroysItsOutputOnRequest(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		settings := qpacking()
		settings.TransformFunc = func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *parcel) error {
			if in.TypedSpec().Text == "" {
				return xerrors.NewTaggedf[qtransform.DestroyOutputTag]("nothing to pack any more")
			}

			pack(in, out)

			return nil
		}

		s.register(t, qtransform.NewQController(settings))
		s.create(t, newOrder("full", "tea"), newOrder("empty", ""))
		rtestutils.AssertResource(s.ctx, t, s.state, "full", says[parcelDef]("TEA"))
		s.healthy(t)
		rtestutils.AssertLength[*parcel](s.ctx, t, s.state, 1)

		reword[orderDef](t, s, "full", "")
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "full")
		s.healthy(t)

		// And with somebody else's finalizer on it.
		reword[orderDef](t, s, "full", "cake")
		rtestutils.AssertResource(s.ctx, t, s.state, "full", says[parcelDef]("CAKE"))
		s.pin(t, newParcel("full", "").Metadata(), "courier")
		reword[orderDef](t, s, "full", "")
		s.settle()
		require.Equal(t, resource.PhaseTearingDown, present[*parcel](t, s, "full").Metadata().Phase())
		s.unpin(t, newParcel("full", "").Metadata(), "courier")
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "full")
		s.healthy(t)
	})
}

func TestQTransformOptionalMap(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		settings := qpacking()
		settings.MapMetadataFunc = nil
		settings.MapMetadataOptionalFunc = func(o *order) optional.Optional[*parcel] {
			if _, draft := o.Metadata().Labels().Get("draft"); draft {
				return optional.None[*parcel]()
			}

			return optional.Some(parcelOf(o))
		}

		s.register(t, qtransform.NewQController(settings))
		s.create(t, labelled(newOrder("draft", "tea"), "draft", ""), newOrder("final", "cake"))
		rtestutils.AssertResource(s.ctx, t, s.state, "final", says[parcelDef]("CAKE"))
		s.healthy(t)
		rtestutils.AssertLength[*parcel](s.ctx, t, s.state, 1)
		require.True(t, present[*order](t, s, "draft").Metadata().Finalizers().Empty())

		change(t, s, newOrder("draft", "").Metadata(), func(o *order) { o.Metadata().Labels().Delete("draft") })
		rtestutils.AssertResource(s.ctx, t, s.state, "draft", says[parcelDef]("TEA"))
	})
}

func TestQTransformExtraOutputs(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		var refusals atomic.Int64

		settings := qpacking()
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
				refusals.Add(1)

				return errors.New("the sticker is in use")
			}

			return rw.Destroy(ctx, newSticker(in.Metadata().ID(), "").Metadata())
		}

		s.register(t, qtransform.NewQController(settings,
			qtransform.WithExtraOutputs(controller.Output{Type: newSticker("", "").Metadata().Type(), Kind: controller.OutputShared}),
			qtransform.WithOutputKind(controller.OutputShared),
		))
		s.create(t, newOrder("o", "tea"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("TEA"))
		rtestutils.AssertResource(s.ctx, t, s.state, "o", says[stickerDef]("for tea"))

		s.pin(t, newSticker("o", "").Metadata(), "printer")
		s.tearDown(t, newOrder("o", "").Metadata())
		s.pass(5 * time.Minute)
		require.True(t, present[*order](t, s, "o").Metadata().Finalizers().Has(qpacker))
		// Half a second, growing to a minute: a few retries, no storm.
		require.Greater(t, refusals.Load(), int64(3))
		require.Less(t, refusals.Load(), int64(40))

		s.unpin(t, newSticker("o", "").Metadata(), "printer")
		rtestutils.AssertNoResource[*sticker](s.ctx, t, s.state, "o")
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "o")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", func(o *order, asserts *assert.Assertions) {
			asserts.True(o.Metadata().Finalizers().Empty())
		})
		s.healthy(t)
	})
}

func TestQTransformIgnoresTeardownOnRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		opt       qtransform.ControllerOption
		finalizer resource.Finalizer
	}{
		"until only these are left": {qtransform.WithIgnoreTeardownUntil("billing"), "customer"},
		"until it is the last":      {qtransform.WithIgnoreTeardownUntil(), "customer"},
		"while this is there":       {qtransform.WithIgnoreTeardownWhile("customer"), "customer"},
	} {
		t.Run(name, func(t *testing.T) {
			plainAndCached(t, func(t *testing.T, s *stage) {
				s.register(t, qtransform.NewQController(qpacking(), tc.opt))
				s.create(t, pinned(newOrder("o", "tea"), tc.finalizer))
				rtestutils.AssertResource(s.ctx, t, s.state, "o", says[parcelDef]("TEA"))

				s.tearDown(t, newOrder("o", "").Metadata())
				s.pass(time.Minute)
				require.Equal(t, resource.PhaseRunning, present[*parcel](t, s, "o").Metadata().Phase())

				s.unpin(t, newOrder("o", "").Metadata(), tc.finalizer)
				rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "o")
				rtestutils.AssertResource(s.ctx, t, s.state, "o", func(o *order, asserts *assert.Assertions) {
					asserts.True(o.Metadata().Finalizers().Empty())
				})
				s.healthy(t)
			})
		})
	}
}
