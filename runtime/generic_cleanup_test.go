package runtime_test

import (
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/generic/cleanup"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/rtestutils"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const cleaner = "cleaner"

// ofOrder selects what is labelled with the id of the order.
func ofOrder(o *order) state.ListOption {
	return state.WithLabelQuery(resource.LabelEqual("order", o.Metadata().ID()))
}

// held asserts that the cleaner has its finalizer on the order, and released that it has none.
func held(o *order, asserts *assert.Assertions) {
	asserts.True(o.Metadata().Finalizers().Has(cleaner))
}

func released(o *order, asserts *assert.Assertions) {
	asserts.False(o.Metadata().Finalizers().Has(cleaner))
}

func TestCleanupWaitsForOutputsToGo(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		s.register(t, cleanup.NewController(cleanup.Settings[*order]{
			Name:    cleaner,
			Handler: cleanup.HasNoOutputs[*parcel](ofOrder),
		}))
		s.create(t, newOrder("o", "tea"), newOrder("other", "cake"))
		s.create(t, labelled(newParcel("p1", ""), "order", "o"), labelled(newParcel("p2", ""), "order", "other"))
		rtestutils.AssertResources(s.ctx, t, s.state, []resource.ID{"o", "other"}, held)

		s.tearDown(t, newOrder("o", "").Metadata())
		s.pass(10 * time.Minute)
		require.True(t, present[*order](t, s, "o").Metadata().Finalizers().Has(cleaner))
		s.healthy(t)

		s.destroy(t, newParcel("p1", "").Metadata())
		rtestutils.AssertResource(s.ctx, t, s.state, "o", released)
		rtestutils.AssertResource(s.ctx, t, s.state, "other", held)
		s.destroy(t, newOrder("o", "").Metadata())
		s.healthy(t)
	})
}

func TestCleanupRemovesOutputs(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		s.register(t, cleanup.NewController(cleanup.Settings[*order]{
			Name:    cleaner,
			Handler: cleanup.RemoveOutputs[*parcel](ofOrder, cleanup.WithExtraOwners("importer")),
		}))
		s.create(t, newOrder("o", "tea"))

		require.NoError(t, s.state.Create(s.ctx, labelled(newParcel("foreign", ""), "order", "o"), state.WithCreateOwner("somebody")))
		require.NoError(t, s.state.Create(s.ctx, labelled(newParcel("imported", ""), "order", "o"), state.WithCreateOwner("importer")))
		s.create(t,
			labelled(newParcel("free", ""), "order", "o"),
			pinned(labelled(newParcel("pinned", ""), "order", "o"), "courier"),
			labelled(newParcel("unrelated", ""), "order", "other"),
		)
		rtestutils.AssertResource(s.ctx, t, s.state, "o", held)

		s.tearDown(t, newOrder("o", "").Metadata())
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "free")
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "imported")
		s.pass(10 * time.Minute)
		require.Equal(t, resource.PhaseTearingDown, present[*parcel](t, s, "pinned").Metadata().Phase())
		require.True(t, present[*order](t, s, "o").Metadata().Finalizers().Has(cleaner))
		s.healthy(t)

		// It is woken by the parcel being ready to be destroyed, and by nothing else.
		s.unpin(t, newParcel("pinned", "").Metadata(), "courier")
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "pinned")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", released)
		s.healthy(t)
		require.Equal(t, []resource.ID{"foreign", "unrelated"}, rtestutils.ResourceIDs[*parcel](s.ctx, t, s.state))
	})
}

// Handlers that are combined run in order, and the finalizer goes when the last one has nothing against it.
func TestCleanupCombined(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		s.register(t, cleanup.NewController(cleanup.Settings[*order]{
			Name: cleaner,
			Handler: cleanup.Combine(
				cleanup.HasNoOutputs[*stamp](ofOrder),
				cleanup.RemoveOutputs[*parcel](ofOrder),
				cleanup.RemoveOutputs[*sticker](ofOrder),
			),
		}))
		s.create(t, newOrder("o", "tea"),
			labelled(newStamp("s", ""), "order", "o"),
			labelled(newParcel("p", ""), "order", "o"),
			labelled(newSticker("k", ""), "order", "o"),
		)
		rtestutils.AssertResource(s.ctx, t, s.state, "o", held)

		s.tearDown(t, newOrder("o", "").Metadata())
		s.pass(time.Minute)
		require.Equal(t, resource.PhaseRunning, present[*parcel](t, s, "p").Metadata().Phase())
		require.Equal(t, resource.PhaseRunning, present[*sticker](t, s, "k").Metadata().Phase())

		s.destroy(t, newStamp("s", "").Metadata())
		rtestutils.AssertNoResource[*parcel](s.ctx, t, s.state, "p")
		rtestutils.AssertNoResource[*sticker](s.ctx, t, s.state, "k")
		rtestutils.AssertResource(s.ctx, t, s.state, "o", released)
		s.healthy(t)
	})
}
