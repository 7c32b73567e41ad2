package stateadapter

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/reduced"
)

// Whatever is touched, in whatever order and however often, is found, and nothing else, until tracking begins anew or ends.
func TestOutputsAreASet(t *testing.T) {
	t.Parallel()

	keys := rapid.Custom(func(t *rapid.T) reduced.Key {
		return reduced.Key{
			Kind: reduced.Kind{Namespace: "n", Type: rapid.SampledFrom([]string{"A", "B"}).Draw(t, "type")},
			ID:   rapid.StringMatching("[a-d]{1,3}").Draw(t, "id"),
		}
	})

	rapid.Check(t, func(t *rapid.T) {
		var o outputs

		tracking, touched := false, map[reduced.Key]bool{}

		t.Repeat(map[string]func(*rapid.T){
			"start": func(*rapid.T) {
				o.start()
				tracking, touched = true, map[reduced.Key]bool{}
			},
			"stop": func(*rapid.T) {
				o.stop()
				tracking, touched = false, map[reduced.Key]bool{}
			},
			"touch": func(t *rapid.T) {
				for _, key := range rapid.SliceOfN(keys, 1, 100).Draw(t, "keys") {
					o.touch(key)
					touched[key] = touched[key] || tracking
				}
			},
			"ask": func(t *rapid.T) {
				for _, key := range rapid.SliceOfN(keys, 1, 20).Draw(t, "keys") {
					require.Equal(t, touched[key], o.has(key), key)
				}
			},
			"": func(t *rapid.T) { require.Equal(t, tracking, o.tracking()) },
		})

		for key := range touched {
			require.Equal(t, touched[key], o.has(key), key)
		}
	})
}

// A controller that touches the same outputs again and again does not need more memory each time.
func TestOutputsTouchedAgainTakeNoRoom(t *testing.T) {
	t.Parallel()

	var o outputs

	o.start()

	for i := range 10_000 {
		o.touch(reduced.Key{ID: string(rune('a' + i%5))})
	}

	require.LessOrEqual(t, cap(o.touched.Load().keys), 4*handful)
}
