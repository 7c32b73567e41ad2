package reduced_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/reduced"
)

func TestOfTellsWhatTheResourceShows(t *testing.T) {
	t.Parallel()

	res := at(1, 7)
	res.md.Labels().Set("colour", "red")
	res.md.Finalizers().Add("holder")
	res.md.SetPhase(resource.PhaseTearingDown)

	md := reduced.Of(res, false)

	assert.Equal(t, reduced.KeyOf(res.Metadata()), md.Key())
	assert.Equal(t, md.Key(), reduced.KeyOf(&md))
	assert.Equal(t, resource.PhaseTearingDown, md.Phase())
	assert.Equal(t, uint64(7), md.Version())
	assert.False(t, md.FinalizersEmpty())
	assert.False(t, md.Destroyed())
	assert.Equal(t, reduced.Causes{Events: 1, FirstVersion: 7}, md.Causes())

	colour, _ := md.Labels().Get("colour")
	assert.Equal(t, "red", colour)

	gone := reduced.Of(res, true)
	assert.True(t, gone.Destroyed())
	assert.Equal(t, resource.PhaseTearingDown, gone.Phase())
}

// A state that can not show a destroyed resource any more shows a tombstone.
func TestOfATombstone(t *testing.T) {
	t.Parallel()

	md := reduced.Of(resource.NewTombstone(at(1, 3).Metadata()), true)

	assert.True(t, md.Destroyed())
	assert.True(t, md.DestroyReady())
	assert.Equal(t, resource.PhaseRunning, md.Phase())
	assert.Equal(t, "T(n/a)", md.Key().String())
}

// Labels are shared until somebody writes: neither side sees what the other sets.
func TestLabelsOfResourceAndMetadataAreApart(t *testing.T) {
	t.Parallel()

	res := at(1, 1)
	res.md.Labels().Set("colour", "red")

	md := reduced.Of(res, false)
	copied := md

	res.md.Labels().Set("colour", "blue")
	copied.Labels().Set("colour", "green")

	colour, _ := md.Labels().Get("colour")
	assert.Equal(t, "red", colour)

	colour, _ = res.md.Labels().Get("colour")
	assert.Equal(t, "blue", colour)
}

func TestDestroyReady(t *testing.T) {
	t.Parallel()

	running, held, ready := at(1, 1), at(1, 2), at(1, 3)
	held.md.SetPhase(resource.PhaseTearingDown)
	held.md.Finalizers().Add("holder")
	ready.md.SetPhase(resource.PhaseTearingDown)

	r, h, d := reduced.Of(running, false), reduced.Of(held, false), reduced.Of(ready, false)

	for name, test := range map[string]struct {
		md   reduced.Metadata
		want bool
	}{
		"running":                    {r, false},
		"held":                       {h, false},
		"ready":                      {d, true},
		"destroyed":                  {reduced.Of(running, true), true},
		"known to be gone":           {h.Gone(), true},
		"created again":              {r.Recreated(), true},
		"destroyed, then created":    {reduced.Merge(reduced.Of(ready, true), r), true},
		"ready, then held again":     {reduced.Merge(d, h), false},
		"held, then ready":           {reduced.Merge(h, d), true},
		"running after created anew": {reduced.Merge(r.Recreated(), r), true},
	} {
		assert.Equal(t, test.want, test.md.DestroyReady(), name)
	}
}

// What was put without metadata, to be looked at again, hides nothing of what is known.
func TestMergeWithNoMetadata(t *testing.T) {
	t.Parallel()

	some := reduced.Of(at(1, 1), true)

	require.Equal(t, some, reduced.Merge(some, reduced.Metadata{}))
	require.Equal(t, some, reduced.Merge(reduced.Metadata{}, some))
}

// However events are merged, the last state stands, and a destroy on the way is not hidden by what came later.
func TestMerge(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "events")
		events := make([]reduced.Metadata, n)
		sawDestroy := false

		for i := range events {
			res := at(1, uint64(i+1))

			if rapid.Bool().Draw(t, "tearing down") {
				res.md.SetPhase(resource.PhaseTearingDown)
			}

			if rapid.Bool().Draw(t, "held") {
				res.md.Finalizers().Add("holder")
			}

			gone := rapid.Bool().Draw(t, "gone")
			sawDestroy = sawDestroy || gone
			events[i] = reduced.Of(res, gone)
		}

		merged := fold(events)
		last := events[n-1]

		require.Equal(t, last.Version(), merged.Version())
		require.Equal(t, last.Phase(), merged.Phase())
		require.Equal(t, last.FinalizersEmpty(), merged.FinalizersEmpty())
		require.Equal(t, last.Destroyed(), merged.Destroyed())
		require.Equal(t, sawDestroy || last.DestroyReady(), merged.DestroyReady())
		require.Equal(t, reduced.Causes{Events: uint32(n), FirstVersion: 1}, merged.Causes())

		if cut := rapid.IntRange(0, n).Draw(t, "cut"); cut > 0 && cut < n {
			require.Equal(t, merged, reduced.Merge(fold(events[:cut]), fold(events[cut:])), "in whatever order they are merged")
		}
	})
}

func fold(events []reduced.Metadata) reduced.Metadata {
	merged := events[0]
	for _, event := range events[1:] {
		merged = reduced.Merge(merged, event)
	}

	return merged
}

// What a re-list concludes is a single event, whatever the metadata had been through before.
func TestGoneBeginsAnew(t *testing.T) {
	t.Parallel()

	merged := reduced.Merge(reduced.Of(at(1, 1), false), reduced.Of(at(1, 2), false))
	gone := merged.Gone()

	assert.True(t, gone.Destroyed())
	assert.Equal(t, reduced.Causes{Events: 1, FirstVersion: 2}, gone.Causes())
	assert.False(t, merged.Destroyed(), "the original is left alone")
}

func TestStatesAndIncarnations(t *testing.T) {
	t.Parallel()

	first := reduced.Of(at(1, 2), false)
	same := reduced.Of(at(1, 2), false)
	newer := reduced.Of(at(1, 3), false)
	again := reduced.Of(at(2, 2), false)
	gone := first.Gone()

	assert.True(t, first.SameState(&same.Facts))
	assert.False(t, first.SameState(&newer.Facts))
	assert.False(t, first.SameState(&again.Facts), "versions start again, so the creation counts too")
	assert.False(t, first.SameState(&gone.Facts))

	for name, change := range map[string]func(*resource.Metadata){
		"labels":     func(md *resource.Metadata) { md.Labels().Set("a", "b") },
		"phase":      func(md *resource.Metadata) { md.SetPhase(resource.PhaseTearingDown) },
		"finalizers": func(md *resource.Metadata) { md.Finalizers().Add("f") },
	} {
		res := at(1, 2)
		change(res.Metadata())

		other := reduced.Of(res, false)
		assert.False(t, first.SameState(&other.Facts), "created in the same tick, with other %s", name)
	}

	recreated := first.Recreated()
	assert.True(t, first.SameState(&recreated.Facts), "that it was destroyed before is not part of its state")

	assert.True(t, first.SameIncarnation(&newer.Facts))
	assert.True(t, first.SameIncarnation(&gone.Facts))
	assert.False(t, first.SameIncarnation(&again.Facts))
}
