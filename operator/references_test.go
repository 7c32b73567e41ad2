package operator

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/reduced"
)

func TestFormerReferencesAreWoken(t *testing.T) {
	t.Parallel()

	var refs references

	source := reduced.Key{Kind: reduced.Kind{Namespace: "ns", Type: "Secrets"}, ID: "s"}

	require.Equal(t, []resource.ID{"p1"}, refs.wake(source, []resource.ID{"p1", "p1"}))
	require.Equal(t, []resource.ID{"p1", "p2"}, refs.wake(source, []resource.ID{"p2"}))
	require.Equal(t, []resource.ID{"p2"}, refs.wake(source, nil))
	require.Empty(t, refs.wake(source, nil))
	require.Empty(t, refs.last)
}

// Whatever a source is mapped to, one after the other, everybody is woken who has it or has lost it.
func TestReferencesWakeTheUnionOfOldAndNew(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		var refs references

		before := map[resource.ID][]resource.ID{}
		ids := rapid.SampledFrom([]resource.ID{"a", "b", "c", "d"})

		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			id := ids.Draw(t, "source")
			now := rapid.SliceOfN(ids, 0, 3).Draw(t, "mapped to")

			woken := refs.wake(reduced.Key{Kind: reduced.Kind{Namespace: "ns", Type: "T"}, ID: id}, now)
			require.Equal(t, sorted(append(append([]resource.ID(nil), before[id]...), now...)), woken)

			before[id] = now
		}
	})
}
