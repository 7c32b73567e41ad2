package runtime_test

import (
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/destroy"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/rtestutils"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"
)

func TestDestroyRemovesWhatIsTornDown(t *testing.T) {
	for name, ctrl := range map[string]func() controller.QController{
		"by type": func() controller.QController { return destroy.NewController[*order](optional.Some[uint](3)) },
		"by definition": func() controller.QController {
			return destroy.NewControllerForResource(orderDef{}.ResourceDefinition(), optional.None[uint]())
		},
	} {
		t.Run(name, func(t *testing.T) {
			plainAndCached(t, func(t *testing.T, s *stage) {
				s.create(t, newOrder("before", ""), newOrder("running", ""), pinned(newOrder("pinned", ""), "customer"))
				require.NoError(t, s.state.Create(s.ctx, newOrder("owned", ""), state.WithCreateOwner("somebody")))
				s.tearDown(t, newOrder("before", "").Metadata())

				s.register(t, ctrl())
				rtestutils.AssertNoResource[*order](s.ctx, t, s.state, "before")

				s.tearDown(t, newOrder("pinned", "").Metadata())
				_, err := s.state.Teardown(s.ctx, newOrder("owned", "").Metadata(), state.WithTeardownOwner("somebody"))
				require.NoError(t, err)

				s.pass(10 * time.Minute)
				require.Equal(t, []resource.ID{"owned", "pinned", "running"}, rtestutils.ResourceIDs[*order](s.ctx, t, s.state))
				s.healthy(t)

				s.unpin(t, newOrder("pinned", "").Metadata(), "customer")
				rtestutils.AssertNoResource[*order](s.ctx, t, s.state, "pinned")
				s.healthy(t)
				require.Equal(t, []resource.ID{"owned", "running"}, rtestutils.ResourceIDs[*order](s.ctx, t, s.state))
			})
		})
	}
}

// So many changes at once may outrun the history that the state keeps; nothing is left lying for that.
func TestDestroyTakesCareOfManyAtOnce(t *testing.T) {
	plainAndCached(t, func(t *testing.T, s *stage) {
		s.register(t, destroy.NewController[*order](optional.Some[uint](4)))

		const count = 200

		ids := make([]resource.ID, count)

		for i := range ids {
			ids[i] = string(rune('a'+i%26)) + string(rune('a'+i/26))
			s.create(t, newOrder(ids[i], ""))
		}

		for _, id := range ids {
			_, err := s.state.Teardown(s.ctx, newOrder(id, "").Metadata())
			require.NoError(t, err)
		}

		s.healthy(t)
		require.Empty(t, rtestutils.ResourceIDs[*order](s.ctx, t, s.state))
	})
}
