package operator

import (
	"slices"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/reduced"
)

// Whatever is noted and dropped, what is listed are the children that a plain set has, of one parent and one kind, in order.
func TestOffspringIsASetForEachParent(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		var o offspring

		model := map[resource.ID]map[reduced.Key]bool{"a": {}, "b": {}}
		parents := rapid.SampledFrom([]resource.ID{"a", "b"})
		kinds := rapid.SampledFrom([]reduced.Kind{{Namespace: "n", Type: "T"}, {Namespace: "n", Type: "U"}})
		ids := rapid.SampledFrom([]resource.ID{"1", "2", "3"})

		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			parent := parents.Draw(t, "parent")
			child := reduced.Key{Kind: kinds.Draw(t, "kind"), ID: ids.Draw(t, "id")}

			switch rapid.SampledFrom([]string{"add", "add", "remove", "forget"}).Draw(t, "step") {
			case "add":
				o.add(parent, child)
				model[parent][child] = true
			case "remove":
				o.remove(parent, child)
				delete(model[parent], child)
			default:
				o.forget(parent)
				clear(model[parent])
			}

			kind, keep := kinds.Draw(t, "listed"), rapid.SliceOf(ids).Draw(t, "keep")

			var want []reduced.Key

			for _, id := range []resource.ID{"1", "2", "3"} {
				if key := (reduced.Key{Kind: kind, ID: id}); model[parent][key] && !slices.Contains(keep, id) {
					want = append(want, key)
				}
			}

			require.Equal(t, want, o.list(parent, kind, keep))
		}
	})
}
