package cache_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
)

// spied is a resource that tells how often resources were looked at.
type spied struct {
	*conformance.IntResource

	looks *int
}

func (s spied) Metadata() *resource.Metadata {
	*s.looks++

	return s.IntResource.Metadata()
}

func (s spied) DeepCopy() resource.Resource { return s.IntResource.DeepCopy() }

// Queries that few resources match look at few.
func TestQueriesLookAtFewResources(t *testing.T) {
	t.Parallel()

	const n = 10_000

	var (
		looks     int
		resources []resource.Resource
	)

	for i := range n {
		res := labelled(fmt.Sprintf("%s-%05d", []string{"a", "b"}[i%2], i), i, "all", "", "group", fmt.Sprint(i/10), "half", fmt.Sprint(i%2))
		resources = append(resources, spied{res, &looks})
	}

	c := started(resources...)
	equal := func(key, value string) resource.LabelQueryOption { return resource.LabelEqual(key, value) }

	for name, test := range map[string]struct {
		want    int
		options []state.ListOption
	}{
		"label":                        {10, []state.ListOption{state.WithLabelQuery(equal("group", "77"))}},
		"the better of two labels":     {5, []state.ListOption{state.WithLabelQuery(equal("half", "1"), equal("group", "78"))}},
		"either of two":                {20, []state.ListOption{state.WithLabelQuery(equal("group", "1")), state.WithLabelQuery(equal("group", "2"))}},
		"set":                          {20, []state.ListOption{state.WithLabelQuery(resource.LabelIn("group", []string{"6", "5", "6"}))}},
		"less":                         {20, []state.ListOption{state.WithLabelQuery(resource.LabelLT("group", "10"))}},
		"not less":                     {10, []state.ListOption{state.WithLabelQuery(resource.LabelLTE("group", "998", resource.NotMatches))}},
		"label that nobody has":        {0, []state.ListOption{state.WithLabelQuery(resource.LabelExists("nobody"))}},
		"id":                           {1, []state.ListOption{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^a-00700$")))}},
		"beginning":                    {5, []state.ListOption{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^a-0070")))}},
		"one of two beginnings":        {10, []state.ListOption{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^(a|b)-0070")))}},
		"beginning, and a vague label": {5, []state.ListOption{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^a-0070"))), state.WithLabelQuery(equal("half", "0"))}},
		"label, and a vague beginning": {5, []state.ListOption{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^a-"))), state.WithLabelQuery(equal("group", "70"))}},
	} {
		opts, _ := cache.ServesList(test.options)

		// Each reads builds one index at most.
		for range 2 {
			require.Len(t, view(t, c).List(opts).Items, test.want, name)
		}

		looks = 0

		require.Len(t, view(t, c).List(opts).Items, test.want, name)
		require.LessOrEqual(t, looks, 2*test.want+10, name)
	}
}

// A value of a label that is a number can not be found by order, but among the values that there are.
func TestNumericTermsTryTheValues(t *testing.T) {
	t.Parallel()

	var (
		looks     int
		resources []resource.Resource
	)

	for i := range 10_000 {
		resources = append(resources, spied{labelled(fmt.Sprintf("%05d", i), i, "few", fmt.Sprint(i/100), "many", fmt.Sprint(i)), &looks})
	}

	c := started(resources...)

	list := func(key string) int {
		opts, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelLTNumeric(key, "2"))})
		view(t, c).List(opts)

		looks = 0

		return len(view(t, c).List(opts).Items)
	}

	require.Equal(t, 200, list("few"))
	require.Less(t, looks, 500)

	require.Equal(t, 2, list("many"))
	require.GreaterOrEqual(t, looks, 10_000, "there are too many values to try")
}

// A query is the caller's, and is not changed.
func TestQueriesAreLeftAsTheyAre(t *testing.T) {
	t.Parallel()

	var resources []resource.Resource
	for i := range 1_000 {
		resources = append(resources, labelled(fmt.Sprintf("%04d", i), i, "group", fmt.Sprint(i)))
	}

	values := []string{"7", "5", "6", "5"}
	opts, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelIn("group", slices.Clone(values)))})

	require.Len(t, view(t, started(resources...)).List(opts).Items, 3)
	require.Equal(t, values, opts.LabelQueries[0].Terms[0].Value)
}

// An id of several lines may match an expression where it does not begin as others do. While there is one, everything is
// looked at.
func TestIDsOfSeveralLines(t *testing.T) {
	t.Parallel()

	var (
		looks     int
		resources []resource.Resource
	)

	for i := range 1_000 {
		resources = append(resources, spied{number(fmt.Sprintf("%04d", i), i), &looks})
	}

	c := started(resources...)
	opts, _ := cache.ServesList([]state.ListOption{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompilePOSIX("^000")))})

	c.Put(number("b\n0005", 0))
	c.Publish()
	require.Len(t, view(t, c).List(opts).Items, 11)

	// It is no other where what a state has listed is looked at.
	of := cache.ViewOf(c.Kind(), view(t, c).List(state.ListOptions{}))
	require.Len(t, of.List(opts).Items, 11)

	c.Put(number("b\n0005", 1))
	c.Delete("b\n0005")
	c.Publish()

	looks = 0

	require.Len(t, view(t, c).List(opts).Items, 10)
	require.Less(t, looks, 30)
}

// Of several indexes the one is used that leaves the fewest.
func TestBestIndexIsUsed(t *testing.T) {
	t.Parallel()

	var (
		looks     int
		resources []resource.Resource
	)

	for i := range 10_000 {
		resources = append(resources, spied{labelled(fmt.Sprintf("%04d", i), i, "hundreds", fmt.Sprint(i/500), "tens", fmt.Sprint(i/10)), &looks})
	}

	c := started(resources...)

	for _, terms := range [][]resource.LabelQueryOption{
		{resource.LabelEqual("hundreds", "0"), resource.LabelEqual("tens", "1")},
		{resource.LabelEqual("tens", "1"), resource.LabelEqual("hundreds", "0")},
	} {
		opts, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(terms...)})

		for _, built := range []state.ListOptions{byLabel("tens", ""), byLabel("hundreds", "")} {
			view(t, c).List(built)
		}

		looks = 0

		require.Len(t, view(t, c).List(opts).Items, 10)
		require.Less(t, looks, 30)
	}
}
