package cache_test

import (
	"slices"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
)

func shows(id resource.ID, value int) cache.Patch {
	return cache.Patch{ID: id, Resource: number(id, value)}
}

func hides(id resource.ID) cache.Patch { return cache.Patch{ID: id} }

func TestPatchesTakeThePlaceOfContents(t *testing.T) {
	t.Parallel()

	c := started(number("b", 1), number("d", 1), number("f", 1))

	for name, test := range map[string]struct {
		patches []cache.Patch
		want    []pair
	}{
		"none":                     {nil, []pair{{"b", 1}, {"d", 1}, {"f", 1}}},
		"before, between, after":   {[]cache.Patch{shows("a", 2), shows("c", 2), shows("g", 2)}, []pair{{"a", 2}, {"b", 1}, {"c", 2}, {"d", 1}, {"f", 1}, {"g", 2}}},
		"replaced":                 {[]cache.Patch{shows("b", 2), shows("f", 2)}, []pair{{"b", 2}, {"d", 1}, {"f", 2}}},
		"hidden":                   {[]cache.Patch{hides("b"), hides("f")}, []pair{{"d", 1}}},
		"hidden that was not":      {[]cache.Patch{hides("a"), hides("e"), hides("g")}, []pair{{"b", 1}, {"d", 1}, {"f", 1}}},
		"in any order":             {[]cache.Patch{shows("g", 2), hides("d"), shows("a", 2)}, []pair{{"a", 2}, {"b", 1}, {"f", 1}, {"g", 2}}},
		"the last of each":         {[]cache.Patch{shows("a", 2), hides("d"), hides("a"), shows("d", 3)}, []pair{{"b", 1}, {"d", 3}, {"f", 1}}},
		"all":                      {[]cache.Patch{hides("b"), hides("d"), hides("f")}, []pair{}},
		"all, and others in place": {[]cache.Patch{hides("b"), shows("c", 2), hides("d"), hides("f")}, []pair{{"c", 2}}},
	} {
		given := slices.Clone(test.patches)
		v := view(t, c).With(test.patches...)

		require.Equal(t, test.want, all(v), name)
		require.Equal(t, test.want, lent(v.All()), name)
		require.Equal(t, len(test.want), v.Len(), name)
		require.Equal(t, given, test.patches, name)

		for _, id := range []resource.ID{"a", "b", "c", "d", "e", "f", "g", "h"} {
			at := slices.IndexFunc(test.want, func(p pair) bool { return p.id == id })
			res, there := v.Lend(id)
			got, err := v.Get(id)

			require.Equal(t, at >= 0, there, "%s: %s", name, id)

			if at < 0 {
				require.True(t, state.IsNotFoundError(err), "%s: %s", name, id)

				continue
			}

			require.NoError(t, err)
			require.Equal(t, test.want[at:at+1], values(resource.List{Items: []resource.Resource{res}}))
			require.True(t, resource.Equal(res, got))
			require.NotSame(t, res, got)
		}
	}

	require.Equal(t, []pair{{"b", 1}, {"d", 1}, {"f", 1}}, all(view(t, c)), "other views show nothing of it")
}

func TestPatchesOfPatches(t *testing.T) {
	t.Parallel()

	v := view(t, started(number("b", 1), number("d", 1)))
	once := v.With(shows("a", 2), hides("b"))
	twice := once.With(hides("a"), shows("b", 3), shows("c", 3))

	require.Equal(t, []pair{{"a", 2}, {"d", 1}}, all(once))
	require.Equal(t, []pair{{"b", 3}, {"c", 3}, {"d", 1}}, all(twice))
	require.Equal(t, []pair{{"b", 1}, {"d", 1}}, all(v))
	require.Equal(t, all(twice), all(twice.With()))
}

// A patch is found by what it is, not by what it takes the place of.
func TestPatchesAreMatchedThemselves(t *testing.T) {
	t.Parallel()

	c := started(labelled("a", 1, "colour", "red"), labelled("b", 1, "colour", "blue"), labelled("x-1", 1))
	v := view(t, c).With(
		cache.Patch{ID: "a", Resource: labelled("a", 2, "colour", "blue")},
		cache.Patch{ID: "b", Resource: labelled("b", 2, "colour", "red")},
		cache.Patch{ID: "x-0", Resource: labelled("x-0", 2, "colour", "red")},
		cache.Patch{ID: "y", Resource: labelled("y", 2)},
	)

	red, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelEqual("colour", "red"))})

	require.Equal(t, []pair{{"b", 2}, {"x-0", 2}}, lent(v.Match(red)))
	require.Equal(t, []pair{{"b", 2}, {"x-0", 2}}, values(v.List(red)))
	require.Equal(t, []pair{{"x-0", 2}, {"x-1", 1}}, lent(v.Prefix("x-")))
}
