package runtime_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// The resources of a small shop: an order becomes a parcel of the same id, stamps are what a parcel needs besides, and
// labels are what is made on the side.
const shop = "shop"

// wording is the spec of all resources of the shop.
type wording struct{ Text string }

func (w wording) DeepCopy() wording { return w }

type (
	orderDef   struct{}
	parcelDef  struct{}
	stampDef   struct{}
	stickerDef struct{}

	order   = typed.Resource[wording, orderDef]
	parcel  = typed.Resource[wording, parcelDef]
	stamp   = typed.Resource[wording, stampDef]
	sticker = typed.Resource[wording, stickerDef]
)

func definition(typ resource.Type) meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: typ, DefaultNamespace: shop}
}

func (orderDef) ResourceDefinition() meta.ResourceDefinitionSpec  { return definition("Orders.shop") }
func (parcelDef) ResourceDefinition() meta.ResourceDefinitionSpec { return definition("Parcels.shop") }
func (stampDef) ResourceDefinition() meta.ResourceDefinitionSpec  { return definition("Stamps.shop") }
func (stickerDef) ResourceDefinition() meta.ResourceDefinitionSpec {
	return definition("Stickers.shop")
}

// article makes a resource of the shop.
func article[E typed.Extension](id resource.ID, text string) *typed.Resource[wording, E] {
	var def E

	return typed.NewResource[wording, E](
		resource.NewMetadata(shop, def.ResourceDefinition().Type, id, resource.VersionUndefined), wording{text})
}

func newOrder(id resource.ID, text string) *order     { return article[orderDef](id, text) }
func newParcel(id resource.ID, text string) *parcel   { return article[parcelDef](id, text) }
func newStamp(id resource.ID, text string) *stamp     { return article[stampDef](id, text) }
func newSticker(id resource.ID, text string) *sticker { return article[stickerDef](id, text) }

// labelled returns the resource with a label.
func labelled[R resource.Resource](res R, key, value string) R {
	res.Metadata().Labels().Set(key, value)

	return res
}

// pinned returns the resource with a finalizer.
func pinned[R resource.Resource](res R, fin resource.Finalizer) R {
	res.Metadata().Finalizers().Add(fin)

	return res
}

// parcelOf is the mapping of most tests: the same id.
func parcelOf(o *order) *parcel { return newParcel(o.Metadata().ID(), "") }

// orderOf is its inverse.
func orderOf(p *parcel) *order { return newOrder(p.Metadata().ID(), "") }

// pack is the transformation of most tests: the text in capitals.
func pack(in *order, out *parcel) { out.TypedSpec().Text = strings.ToUpper(in.TypedSpec().Text) }

// stage is a running engine over a local state, on virtual time.
type stage struct {
	state state.State
	rt    *runtime.Runtime
	// ctx ends a virtual hour into the test, so that an assertion that is never met fails.
	ctx context.Context
}

// onStage runs the body beside a running engine in a bubble, which also fails the test when a goroutine is left over.
func onStage(t *testing.T, body func(*testing.T, *stage), opts ...options.Option) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{state: newState()}

		var err error

		s.rt, err = runtime.NewRuntime(s.state, zaptest.NewLogger(t), opts...)
		require.NoError(t, err)

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		go func() { ended <- s.rt.Run(ctx) }()

		defer func() {
			cancel()
			assert.NoError(t, <-ended)
		}()

		var giveUp context.CancelFunc

		s.ctx, giveUp = context.WithTimeout(ctx, time.Hour)
		defer giveUp()

		body(t, s)
	})
}

// plainAndCached runs the body twice: with nothing cached, and with all kinds of the shop cached.
func plainAndCached(t *testing.T, body func(*testing.T, *stage)) {
	t.Run("plain", func(t *testing.T) { onStage(t, body) })
	t.Run("cached", func(t *testing.T) { onStage(t, body, shopCached()...) })
}

func shopCached() []options.Option {
	return []options.Option{
		safe.WithResourceCache[*order](), safe.WithResourceCache[*parcel](),
		safe.WithResourceCache[*stamp](), safe.WithResourceCache[*sticker](),
	}
}

// settle returns when nothing is left to do until a timer fires.
func (s *stage) settle() { synctest.Wait() }

// pass lets virtual time go by, with all that is due in it.
func (s *stage) pass(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C

	synctest.Wait()
}

func (s *stage) register(t *testing.T, ctrl any) {
	switch ctrl := ctrl.(type) {
	case controller.Controller:
		require.NoError(t, s.rt.RegisterController(ctrl))
	case controller.QController:
		require.NoError(t, s.rt.RegisterQController(ctrl))
	default:
		require.Failf(t, "not a controller", "%T", ctrl)
	}
}

func (s *stage) create(t *testing.T, all ...resource.Resource) {
	for _, res := range all {
		require.NoError(t, s.state.Create(s.ctx, res))
	}
}

// tearDown marks a resource as being destroyed, once the engine has come to rest: the caches of several kinds do not come
// up together, and the contract's controllers, which look at them all before they let go of it, know no barrier.
func (s *stage) tearDown(t *testing.T, ptr resource.Pointer) {
	s.settle()

	_, err := s.state.Teardown(s.ctx, ptr)
	require.NoError(t, err)
}

func (s *stage) destroy(t *testing.T, ptr resource.Pointer) {
	require.NoError(t, s.state.Destroy(s.ctx, ptr))
}

func (s *stage) unpin(t *testing.T, ptr resource.Pointer, fin resource.Finalizer) {
	require.NoError(t, s.state.RemoveFinalizer(s.ctx, ptr, fin))
}

func (s *stage) pin(t *testing.T, ptr resource.Pointer, fin resource.Finalizer) {
	require.NoError(t, s.state.AddFinalizer(s.ctx, ptr, fin))
}

func change[R resource.Resource](t *testing.T, s *stage, ptr resource.Pointer, update func(R)) {
	_, err := safe.StateUpdateWithConflicts(s.ctx, s.state, ptr, func(res R) error {
		update(res)

		return nil
	})
	require.NoError(t, err)
}

// reword updates the text of an order or a stamp.
func reword[E typed.Extension](t *testing.T, s *stage, id resource.ID, text string) {
	change(t, s, article[E](id, "").Metadata(), func(res *typed.Resource[wording, E]) { res.TypedSpec().Text = text })
}

// present returns a resource, which is to be there.
func present[R generic.ResourceWithRD](t *testing.T, s *stage, id resource.ID) R {
	res, err := safe.StateGetByID[R](s.ctx, s.state, id)
	require.NoError(t, err)

	return res
}

// healthy asserts that nothing is left to do and no controller is failing or stuck.
func (s *stage) healthy(t *testing.T) {
	s.settle()
	require.Empty(t, s.rt.Health().Problems())
}

// says is an assertion about the text of a resource, for rtestutils.
func says[E typed.Extension](text string) func(*typed.Resource[wording, E], *assert.Assertions) {
	return func(res *typed.Resource[wording, E], asserts *assert.Assertions) {
		asserts.Equal(text, res.TypedSpec().Text)
	}
}
