package reduced_test

import (
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/reduced"
)

// coloured is what a version of a resource shows that has a colour, or no label for the empty one.
func coloured(version uint64, colour string) reduced.Metadata {
	res := at(1, version)
	if colour != "" {
		res.md.Labels().Set("colour", colour)
	}

	return reduced.Of(res, false)
}

// formerColours returns the colours among the former labels.
func formerColours(md reduced.Metadata) (colours []string, all bool) {
	sets, all := md.FormerLabels()

	for i := range sets {
		colour, _ := sets[i].Get("colour")
		colours = append(colours, colour)
	}

	return colours, all
}

func requireFormer(t *testing.T, md reduced.Metadata, want ...string) {
	t.Helper()

	colours, all := formerColours(md)
	require.Equal(t, want, colours)
	require.True(t, all)
}

// Whatever happens to a resource after it was relabelled, the labels it had are remembered, until it has them again.
func TestFormerLabels(t *testing.T) {
	t.Parallel()

	red, green, none := coloured(1, "red"), coloured(2, "green"), coloured(3, "")
	both := reduced.Merge(red, green)

	requireFormer(t, red)
	requireFormer(t, both, "red")
	requireFormer(t, green.Remembering(&red.Facts), "red")
	requireFormer(t, none.Remembering(&red.Facts), "red")
	requireFormer(t, red.Remembering(&none.Facts), "")
	requireFormer(t, reduced.Merge(both, coloured(3, "green")), "red")
	requireFormer(t, reduced.Merge(both, coloured(3, "red")), "green")
	requireFormer(t, reduced.Merge(reduced.Merge(both, coloured(3, "red")), coloured(4, "blue")), "green", "red")
	requireFormer(t, both.Gone(), "red")
	requireFormer(t, both.Recreated(), "red")
	requireFormer(t, reduced.Merge(both.Gone(), none.Recreated()), "red", "green")
	requireFormer(t, reduced.Merge(both, reduced.Metadata{}), "red")

	again := reduced.About(both.Key(), both.WithLabels(*red.Labels()))
	requireFormer(t, again)

	colour, _ := again.Labels().Get("colour")
	assert.Equal(t, "red", colour)
	requireFormer(t, both, "red")
}

func TestTooManyFormerLabels(t *testing.T) {
	t.Parallel()

	md := coloured(1, "0")

	for i := 1; i <= reduced.MaxFormer; i++ {
		md = reduced.Merge(md, coloured(uint64(i), strconv.Itoa(i)))
	}

	colours, all := formerColours(md)
	require.Len(t, colours, reduced.MaxFormer)
	require.True(t, all)

	next := coloured(100, "next")
	lost := reduced.Merge(md, next)

	for name, md := range map[string]reduced.Metadata{
		"one more":             lost,
		"at once":              reduced.Merge(coloured(1, "first"), next.Remembering(&md.Facts)),
		"and gone":             lost.Gone(),
		"and merged as older":  reduced.Merge(lost, coloured(101, "next")),
		"and merged as newer":  reduced.Merge(next, lost),
		"and relabelled again": reduced.Merge(lost, md),
	} {
		colours, all := formerColours(md)
		assert.Empty(t, colours, name)
		assert.False(t, all, name)
	}
}

// However changes are merged, all label sets are remembered that the resource had and has no more.
func TestMergeKeepsFormerLabels(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		colours := rapid.SliceOfN(rapid.SampledFrom([]string{"", "red", "green", "blue", "black"}), 2, 12).Draw(t, "colours")
		events := make([]reduced.Metadata, len(colours))
		want := map[string]bool{}

		for i, colour := range colours {
			events[i] = coloured(uint64(i+1), colour)
			want[colour] = true

			// An event may know what was before, or not.
			if i > 0 && rapid.Bool().Draw(t, "known") {
				events[i] = events[i].Remembering(&events[i-1].Facts)
			}
		}

		delete(want, colours[len(colours)-1])

		merged := fold(events)
		former, all := formerColours(merged)
		got := map[string]bool{}

		for _, colour := range former {
			got[colour] = true
		}

		require.True(t, all)
		require.Equal(t, want, got)
		require.Len(t, former, len(want), "each once")

		cut := rapid.IntRange(1, len(events)-1).Draw(t, "cut")
		require.Equal(t, merged, reduced.Merge(fold(events[:cut]), fold(events[cut:])), "in whatever order they are merged")
	})
}

// Not parallel: it counts allocations. Of millions of changes, next to none is of labels.
func TestUnchangedLabelsCostNothing(t *testing.T) {
	red, alike := coloured(1, "red"), coloured(2, "red")
	shared := red

	var merged reduced.Metadata

	require.Zero(t, testing.AllocsPerRun(100, func() {
		merged = reduced.Merge(red, alike.Remembering(&shared.Facts))
		merged = reduced.Merge(merged, alike)
	}))
	requireFormer(t, merged)
	require.LessOrEqual(t, unsafe.Sizeof(merged), uintptr(96), "a table holds one for each resource")
}
