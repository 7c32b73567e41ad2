package index_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/internal/index"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whatever the hashes are worth, what was added and not removed is found, and nothing else.
func TestIndexFindsWhatIsInIt(t *testing.T) {
	t.Parallel()

	for name, hash := range map[string]func(int) uint32{
		"good":    func(key int) uint32 { return index.Spread(uint64(key)) },
		"poor":    func(key int) uint32 { return index.Spread(uint64(key % 8)) },
		"useless": func(int) uint32 { return 1<<32 - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			rapid.Check(t, func(t *rapid.T) {
				var x index.Index

				there := map[int]bool{}
				size := rapid.SampledFrom([]int{10, 100, 3000}).Draw(t, "size")

				for _, key := range rapid.SliceOfN(rapid.IntRange(1, size), 0, size).Draw(t, "keys") {
					if there[key] {
						x.Remove(hash(key), index.Ref(key))
						delete(there, key)
					} else {
						x.Add(hash(key), index.Ref(key))
						there[key] = true
					}
				}

				for key := range size {
					key++
					found := x.Find(hash(key), func(r index.Ref) bool { return r == index.Ref(key) })
					require.Equal(t, there[key], found != 0, key)
				}
			})
		})
	}
}

// A map does what Go's does, and yields its keys in order.
func TestMapIsAMap(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		var m index.Map[int]

		want := map[string]int{}
		size := rapid.SampledFrom([]int{3, 30, 3000}).Draw(t, "size")

		for step, number := range rapid.SliceOfN(rapid.IntRange(0, size), 0, 2*size).Draw(t, "numbers") {
			key := ""
			if number > 0 {
				key = fmt.Sprint(number)
			}

			if value, ok := want[key]; ok && step%3 > 0 {
				m.Delete(key)
				delete(want, key)
				require.NotEqual(t, step, value)
			} else if at := m.At(key); at != nil && step%2 == 0 {
				*at, want[key] = step, step
			} else {
				m.Put(key, step)
				want[key] = step
			}

			value, ok := m.Get(key)
			wantValue, wantOK := want[key]
			require.Equal(t, wantValue, value)
			require.Equal(t, wantOK, ok)
		}

		m.Delete("not there")
		require.Equal(t, len(want), m.Len())

		var keys []string

		for key, value := range m.All() {
			require.Equal(t, want[key], value)
			keys = append(keys, key)
		}

		require.Equal(t, slices.Sorted(maps.Keys(want)), keys)
	})
}
