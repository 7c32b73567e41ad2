package dependency

import (
	"maps"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// However often it is cloned and changed, a layered map finds what is in it, and what it was cloned from finds what it did.
func TestLayeredMapIsAMap(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		var (
			m, before      layered[string, dependent[int]]
			want, wantThen = map[string]*dependent[int]{}, map[string]*dependent[int]{}
			size           = rapid.SampledFrom([]int{3, 30, 300}).Draw(t, "size")
			sameAsExpected = func(m *layered[string, dependent[int]], want map[string]*dependent[int]) {
				require.Equal(t, len(want), m.count)

				for id := range size {
					require.Same(t, want[strconv.Itoa(id)], m.find(strconv.Itoa(id)))
				}
			}
		)

		for range rapid.IntRange(1, 30).Draw(t, "updates") {
			before, wantThen = m, maps.Clone(want)
			m = m.clone()

			for _, number := range rapid.SliceOfN(rapid.IntRange(0, 2*size-1), 0, size/2).Draw(t, "changes") {
				id := strconv.Itoa(number / 2)

				if there := want[id]; number%2 == 0 && there != nil {
					m.remove(id, &dependent[int]{}) // another one
					m.remove(id, there)
					delete(want, id)
				} else {
					want[id] = &dependent[int]{}
					m.put(id, want[id])
				}
			}

			m.settle()

			sameAsExpected(&m, want)
			sameAsExpected(&before, wantThen)
		}
	})
}
