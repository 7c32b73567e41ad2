package runtime_test

import (
	"context"
	"expvar"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/controller/generic/cleanup"
	"github.com/cosi-project/runtime/pkg/controller/generic/destroy"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/controller/generic/transform"
	peer "github.com/cosi-project/runtime/pkg/controller/runtime"
	contractmetrics "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	contractoptions "github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/rtestutils"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/cosi-project/runtime/pkg/state/owned"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// What a host writes against the engine that ships with the contract compiles against this one.
var (
	_ controller.Engine = (*runtime.Runtime)(nil)

	_ func(state.State, *zap.Logger, ...contractoptions.Option) (*runtime.Runtime, error) = runtime.NewRuntime

	_ func(*runtime.Runtime) (*controller.DependencyGraph, error) = (*runtime.Runtime).GetDependencyGraph
	_ func(*runtime.Runtime) state.CoreState                      = (*runtime.Runtime).CachedState

	_ = []contractoptions.Option{
		options.WithChangeRateLimit(1, 1),
		options.WithMetrics(true),
		options.WithCachedResource("", ""),
		options.WithWarnOnUncachedReads(true),
	}
	_ = []options.Option{
		contractoptions.WithChangeRateLimit(1, 1),
		safe.WithResourceCache[*order](),
	}
	_ contractoptions.Options        = options.DefaultOptions()
	_ contractoptions.CachedResource = options.CachedResource{}
)

// engine is what hosts use of an engine.
type engine interface {
	controller.Engine

	GetDependencyGraph() (*controller.DependencyGraph, error)
	CachedState() state.CoreState
}

// builder builds an engine; the two engines differ in nothing but the package of their constructor.
type builder func(state.State, *zap.Logger, ...options.Option) (engine, error)

func builderOf[E engine](build func(state.State, *zap.Logger, ...options.Option) (E, error)) builder {
	return func(st state.State, logger *zap.Logger, opts ...options.Option) (engine, error) {
		return build(st, logger, opts...)
	}
}

var (
	ours   = builderOf(runtime.NewRuntime)
	theirs = builderOf(peer.NewRuntime)
)

// run runs an engine over the state for as long as the body takes. It is to be called in a bubble.
func (b builder) run(t *testing.T, st state.State, opts []options.Option, body func(engine)) {
	eng, err := b(st, zaptest.NewLogger(t), opts...)
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)

	go func() { ended <- eng.Run(ctx) }()

	defer func() {
		cancel()
		assert.NoError(t, <-ended)
	}()

	body(eng)
}

// elapse lets virtual time go by.
func elapse(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C

	synctest.Wait()
}

// One set of controllers, registered with each engine, comes to the same end, out of the same declarations.
func TestSameControllersSameEnd(t *testing.T) {
	for name, opts := range map[string][]options.Option{"plain": nil, "cached": shopCached()} {
		t.Run(name, func(t *testing.T) {
			var ends, graphs [2]string

			for i, build := range []builder{theirs, ours} {
				synctest.Test(t, func(t *testing.T) { ends[i], graphs[i] = playShop(t, build, opts) })
			}

			require.NotEmpty(t, ends[0])
			require.Equal(t, ends[0], ends[1])
			require.Equal(t, graphs[0], graphs[1])
		})
	}
}

// playShop plays a day in the shop and returns what it came to, and the dependencies.
func playShop(t *testing.T, build builder, opts []options.Option) (end, graph string) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))

	build.run(t, st, opts, func(eng engine) {
		for _, ctrl := range shopControllers() {
			switch ctrl := ctrl.(type) {
			case controller.Controller:
				require.NoError(t, eng.RegisterController(ctrl))
			case controller.QController:
				require.NoError(t, eng.RegisterQController(ctrl))
			}
		}

		ctx := t.Context()
		rest := func() { elapse(5 * time.Minute) }

		for i := range 10 {
			require.NoError(t, st.Create(ctx, newOrder(fmt.Sprint("o", i), fmt.Sprint("tea ", i))))
		}

		rest()

		for i := 0; i < 10; i += 2 {
			ptr := newOrder(fmt.Sprint("o", i), "").Metadata()
			_, err := safe.StateUpdateWithConflicts(ctx, st, ptr, func(o *order) error {
				o.TypedSpec().Text = "cake"

				return nil
			})
			require.NoError(t, err)
		}

		require.NoError(t, st.AddFinalizer(ctx, newParcel("o3", "").Metadata(), "courier"))
		require.NoError(t, st.AddFinalizer(ctx, newSticker("o4", "").Metadata(), "printer"))
		rest()

		for _, id := range []string{"o1", "o2", "o3", "o4"} {
			_, err := st.Teardown(ctx, newOrder(id, "").Metadata())
			require.NoError(t, err)
		}

		rest()
		require.NoError(t, st.RemoveFinalizer(ctx, newSticker("o4", "").Metadata(), "printer"))
		rest()

		end = contents(t, st)

		exported, err := eng.GetDependencyGraph()
		require.NoError(t, err)

		graph = fmt.Sprintf("%+v", exported.Edges)
	})

	return end, graph
}

// shopControllers are one of each form of the contract's generic controllers, and one written by hand.
func shopControllers() []any {
	withFinalizers := packing()
	withFinalizers.FinalizerRemovalFunc = func(context.Context, controller.Reader, *zap.Logger, *order) error { return nil }

	return []any{
		transform.NewController(withFinalizers, transform.WithInputFinalizers()),
		qtransform.NewQController(qtransform.Settings[*order, *sticker]{
			Name:              "printing",
			MapMetadataFunc:   func(o *order) *sticker { return newSticker(o.Metadata().ID(), "") },
			UnmapMetadataFunc: func(s *sticker) *order { return newOrder(s.Metadata().ID(), "") },
			TransformFunc: func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *order, out *sticker) error {
				out.TypedSpec().Text = "for " + in.TypedSpec().Text

				return nil
			},
		}),
		cleanup.NewController(cleanup.Settings[*order]{
			Name: cleaner,
			Handler: cleanup.HasNoOutputs[*parcel](func(o *order) state.ListOption {
				return state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^" + o.Metadata().ID() + "$")))
			}),
		}),
		destroy.NewController[*order](optional.Some[uint](2)),
		&classic{
			name:    "counting",
			inputs:  []controller.Input{safe.Input[*parcel](controller.InputWeak)},
			outputs: []controller.Output{exclusive(newStamp("", "").Metadata().Type())},
			pass: func(ctx context.Context, r controller.Runtime) error {
				r.StartTrackingOutputs()

				parcels, err := safe.ReaderListAll[*parcel](ctx, r)
				if err != nil {
					return err
				}

				for p := range parcels.All() {
					if p.Metadata().Phase() == resource.PhaseTearingDown {
						continue
					}

					if err = safe.WriterModify(ctx, r, newStamp(p.Metadata().ID(), ""), func(s *stamp) error {
						s.TypedSpec().Text = p.TypedSpec().Text

						return nil
					}); err != nil {
						return err
					}
				}

				return safe.CleanupOutputs[*stamp](ctx, r)
			},
		},
	}
}

// contents renders all that is in the shop, but for time stamps and versions.
func contents(t *testing.T, st state.State) string {
	var b strings.Builder

	render := func(res resource.Resource, text string) {
		md := res.Metadata()
		fins := slices.Sorted(slices.Values(*md.Finalizers())) // their order is that in which controllers came

		fmt.Fprintf(&b, "%s %s owner=%q finalizers=%v phase=%s %q\n", md.Type(), md.ID(), md.Owner(), fins, md.Phase(), text)
	}

	renderAll(t, st, func(r *order) { render(r, r.TypedSpec().Text) })
	renderAll(t, st, func(r *parcel) { render(r, r.TypedSpec().Text) })
	renderAll(t, st, func(r *sticker) { render(r, r.TypedSpec().Text) })
	renderAll(t, st, func(r *stamp) { render(r, r.TypedSpec().Text) })

	return b.String()
}

func renderAll[R generic.ResourceWithRD](t *testing.T, st state.State, render func(R)) {
	list, err := safe.StateListAll[R](t.Context(), st)
	require.NoError(t, err)

	for res := range list.All() {
		render(res)
	}
}

// The runtime that a classic controller gets can be asked for uncached reads, and is all that a queue controller gets.
func TestRuntimeOfClassicControllers(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		var texts [2]string

		s.create(t, newOrder("o", "tea"))
		s.register(t, &classic{
			name:   "reader",
			inputs: []controller.Input{safe.Input[*order](controller.InputWeak)},
			pass: func(ctx context.Context, r controller.Runtime) error {
				full := r.(controller.QRuntime)

				reader, ok := r.(controller.Reader).(controller.UncachedReader)
				if !ok {
					return fmt.Errorf("%T does not read past the cache", r)
				}

				res, err := reader.GetUncached(ctx, newOrder("o", "").Metadata())
				if err != nil {
					return err
				}

				texts[0] = res.(*order).TypedSpec().Text

				list, err := full.ListUncached(ctx, newOrder("", "").Metadata())
				if err != nil {
					return err
				}

				texts[1] = list.Items[0].(*order).TypedSpec().Text

				return nil
			},
		})

		s.healthy(t)
		require.Equal(t, [2]string{"tea", "tea"}, texts)
	})
}

// Wherever a queue controller's code gets hold of a part of its runtime, it can go back to the whole.
func TestRuntimeOfQueueControllers(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		var seen journal[string]

		whole := func(where string, rw controller.Reader) error {
			r, ok := rw.(controller.QRuntime)
			if !ok {
				return fmt.Errorf("%s: %T is not a controller.QRuntime", where, rw)
			}

			list, err := r.ListUncached(s.ctx, newOrder("", "").Metadata())
			if err != nil {
				return err
			}

			if _, ok = rw.(controller.UncachedReader); ok && len(list.Items) == 1 {
				seen.add(where)
			}

			return nil
		}

		s.create(t, newOrder("o", "tea"))
		s.register(t, &queued{
			name: "by hand",
			settings: controller.QSettings{
				Inputs: []controller.Input{safe.Input[*order](controller.InputQPrimary), safe.Input[*stamp](controller.InputQMapped)},
				RunHook: func(_ context.Context, _ *zap.Logger, r controller.QRuntime) error {
					return whole("RunHook", r)
				},
			},
			reconcile: func(_ context.Context, r controller.QRuntime, _ resource.Pointer) error {
				return whole("Reconcile", r.(controller.ReaderWriter))
			},
			mapInput: func(_ context.Context, r controller.QRuntime, _ controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				return nil, whole("MapInput", r)
			},
		})

		settings := qpacking()
		settings.TransformFunc = nil
		settings.TransformExtraOutputFunc = func(_ context.Context, rw controller.ReaderWriter, _ *zap.Logger, _ *order, _ *parcel) error {
			return whole("TransformExtraOutputFunc", rw)
		}

		s.register(t, qtransform.NewQController(settings, qtransform.WithExtraMappedInput[*sticker](
			func(_ context.Context, _ *zap.Logger, r controller.QRuntime, _ controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				return nil, whole("mapper", r)
			})))

		s.settle()
		s.create(t, newStamp("s", ""), newSticker("s", ""))
		s.healthy(t)

		for _, where := range []string{"RunHook", "Reconcile", "MapInput", "TransformExtraOutputFunc", "mapper"} {
			require.Contains(t, seen.all(), where)
		}
	})
}

// The contract's typed helpers, and its owned state, work on what controllers get.
func TestTypedHelpers(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		var finished atomic.Bool

		s.create(t, newOrder("a", "tea"), labelled(newOrder("b", "cake"), "express", ""))
		s.settle() // the controller makes one pass only
		s.register(t, &classic{
			name:    "typed",
			inputs:  []controller.Input{safe.Input[*order](controller.InputStrong)},
			outputs: []controller.Output{exclusive(newParcel("", "").Metadata().Type())},
			run: func(ctx context.Context, r controller.Runtime) error {
				<-r.EventCh()

				var (
					asserts                    = assert.New(t)
					rw      owned.ReaderWriter = r
				)

				a, err := safe.ReaderGetByID[*order](ctx, rw, "a")
				asserts.NoError(err)
				asserts.Equal("tea", a.TypedSpec().Text)

				express, err := safe.ReaderListAll[*order](ctx, rw, state.WithLabelQuery(resource.LabelExists("express")))
				asserts.NoError(err)
				asserts.Equal(1, express.Len())

				_, err = safe.ReaderGet[*parcel](ctx, rw, newParcel("a", "").Metadata())
				asserts.True(state.IsNotFoundError(err), "%v", err)

				asserts.NoError(rw.AddFinalizer(ctx, a.Metadata(), "typed"))
				asserts.NoError(rw.RemoveFinalizer(ctx, a.Metadata(), "typed"))

				made, err := safe.WriterModifyWithResult(ctx, rw, newParcel("a", ""), func(p *parcel) error {
					p.TypedSpec().Text = "TEA"

					return nil
				})
				asserts.NoError(err)
				asserts.Equal("TEA", made.TypedSpec().Text)
				asserts.Equal("typed", made.Metadata().Owner())

				asserts.NoError(rw.Create(ctx, newParcel("nobody's", ""), owned.WithCreateNoOwner()))
				asserts.Error(rw.Destroy(ctx, newParcel("nobody's", "").Metadata()))
				asserts.NoError(rw.Destroy(ctx, newParcel("nobody's", "").Metadata(), owned.WithOwner("")))

				ready, err := rw.Teardown(ctx, made.Metadata())
				asserts.NoError(err)
				asserts.True(ready)

				err = safe.WriterModify(ctx, rw, newParcel("a", ""), func(*parcel) error { return nil })
				asserts.True(state.IsPhaseConflictError(err), "%v", err)
				asserts.NoError(safe.WriterModify(ctx, rw, newParcel("a", ""), func(p *parcel) error {
					p.TypedSpec().Text = "late"

					return nil
				}, controller.WithExpectedPhaseAny()))

				r.StartTrackingOutputs()
				asserts.NoError(safe.WriterModify(ctx, rw, newParcel("kept", ""), func(*parcel) error { return nil }))
				asserts.NoError(safe.CleanupOutputs[*parcel](ctx, r))

				finished.Store(true)

				return nil
			},
		})

		s.settle()
		require.True(t, finished.Load())
		require.Equal(t, []resource.ID{"kept"}, rtestutils.ResourceIDs[*parcel](s.ctx, t, s.state))
	})
}

// The contract's assertions work on what the host reads from.
func TestAssertionsOnCachedState(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		view := state.WrapCore(s.rt.CachedState())

		s.register(t, transform.NewController(packing()))
		require.NoError(t, view.Create(s.ctx, newOrder("o", "tea")))

		rtestutils.AssertResource(s.ctx, t, view, "o", says[parcelDef]("TEA"))
		rtestutils.AssertResources(s.ctx, t, view, []resource.ID{"o"}, says[orderDef]("tea"))
		rtestutils.AssertLength[*parcel](s.ctx, t, view, 1)
		s.settle()
		rtestutils.AssertAll(s.ctx, t, view, says[parcelDef]("TEA"))
		require.Equal(t, []resource.ID{"o"}, rtestutils.ResourceIDs[*parcel](s.ctx, t, view))
		rtestutils.Destroy[*order](s.ctx, t, view, []resource.ID{"o"})
		rtestutils.AssertNoResource[*parcel](s.ctx, t, view, "o")
	})
}

// The contract's metrics are linked beside ours: one map under either name, and both engines of a process count in it.
func TestMetricsOfBothEngines(t *testing.T) {
	for name, published := range map[string]*expvar.Map{
		"controller_crashes":         contractmetrics.ControllerCrashes,
		"controller_wakeups":         contractmetrics.ControllerWakeups,
		"controller_reads":           contractmetrics.ControllerReads,
		"controller_writes":          contractmetrics.ControllerWrites,
		"qcontroller_crashes":        contractmetrics.QControllerCrashes,
		"qcontroller_skips":          contractmetrics.QControllerSkips,
		"qcontroller_requeues":       contractmetrics.QControllerRequeues,
		"qcontroller_processed":      contractmetrics.QControllerProcessed,
		"qcontroller_mapped_in":      contractmetrics.QControllerMappedIn,
		"qcontroller_mapped_out":     contractmetrics.QControllerMappedOut,
		"qcontroller_queue_length":   contractmetrics.QControllerQueueLength,
		"qcontroller_map_busy":       contractmetrics.QControllerMapBusy,
		"qcontroller_reconcile_busy": contractmetrics.QControllerReconcileBusy,
		"cached_resources":           contractmetrics.CachedResources,
	} {
		require.Same(t, published, expvar.Get(name), name)
		require.Same(t, published, expvar.Get("cosi_"+name), name)
	}

	wakeups := func() int64 {
		value, _ := contractmetrics.ControllerWakeups.Get("metered").(*expvar.Int)
		if value == nil {
			return 0
		}

		return value.Value()
	}

	for name, build := range map[string]builder{"theirs": theirs, "ours": ours} {
		synctest.Test(t, func(t *testing.T) {
			before := wakeups()
			st := state.WrapCore(namespaced.NewState(inmem.Build))

			build.run(t, st, nil, func(eng engine) {
				require.NoError(t, eng.RegisterController(&classic{
					name:   "metered",
					inputs: []controller.Input{safe.Input[*order](controller.InputWeak)},
					pass:   func(context.Context, controller.Runtime) error { return nil },
				}))
				synctest.Wait()
				require.NoError(t, st.Create(t.Context(), newOrder("o", "")))
				synctest.Wait()
			})

			require.Equal(t, before+2, wakeups(), name)
		})
	}
}
