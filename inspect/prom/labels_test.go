package prom_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/inspect/prom"
)

// Labels are valid and short, and different names have different ones.
func TestNamesHaveLabels(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.String(), func(s string) string { return prom.Label(strings.Repeat(s, 50)) }),
			rapid.Just(prom.Others),
		)

		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		require.Equal(t, a == b, prom.Label(a) == prom.Label(b))
		require.True(t, utf8.ValidString(prom.Label(a)))
		require.LessOrEqual(t, len(prom.Label(a)), 300)
		require.NotEqual(t, prom.Others, prom.Label(a))
	})
}
