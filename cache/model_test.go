package cache_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/cache"
)

// Whatever is put, deleted and published: readers see what a map would hold, as of the last Publish, and views that
// were taken before stay as they were.
func TestCollectionFollowsAMap(t *testing.T) {
	t.Parallel()

	type taken struct {
		view cache.View
		want map[resource.ID]int
	}

	rapid.Check(t, func(t *rapid.T) {
		c := started()
		work, published := map[resource.ID]int{}, map[resource.ID]int{}

		var views []taken

		ids := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 1, 3, -1)

		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				id, value := ids.Draw(t, "id"), rapid.Int().Draw(t, "value")
				c.Put(number(id, value))
				work[id] = value
			},
			"delete": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				c.Delete(id)
				delete(work, id)
			},
			"publish": func(*rapid.T) {
				c.Publish()
				published = maps.Clone(work)
			},
			"take a view": func(*rapid.T) { views = append(views, taken{view(t, c), published}) },
			"": func(t *rapid.T) {
				for _, v := range append(views, taken{view(t, c), published}) {
					checkView(t, v.view, v.want)
				}

				require.Equal(t, len(published), c.Len())
			},
		})
	})
}

func checkView(t *rapid.T, v cache.View, want map[resource.ID]int) {
	pairs := make([]pair, 0, len(want))
	for _, id := range slices.Sorted(maps.Keys(want)) {
		pairs = append(pairs, pair{id, want[id]})
	}

	require.Equal(t, pairs, all(v))
	require.Equal(t, len(want), v.Len())

	for _, id := range []resource.ID{"a", "bb", "abc"} {
		res, err := v.Get(id)

		if value, there := want[id]; there {
			require.NoError(t, err)
			require.Equal(t, value, res.(*conformance.IntResource).Value())
		} else {
			require.True(t, state.IsNotFoundError(err))
		}
	}
}
