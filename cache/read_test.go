package cache_test

import (
	"regexp"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
)

// What a reader does with what it got is its own affair.
func TestReadsAreDeepCopies(t *testing.T) {
	t.Parallel()

	c := started(number("one", 1))
	v := view(t, c)

	spoil := func(res resource.Resource) {
		res.(*conformance.IntResource).SetValue(99)
		res.Metadata().Labels().Set("spoilt", "")
		res.Metadata().Finalizers().Add("spoilt")
		res.Metadata().SetPhase(resource.PhaseTearingDown)
	}

	got, err := v.Get("one")
	require.NoError(t, err)
	spoil(got)
	spoil(v.List(state.ListOptions{}).Items[0])

	for _, v := range []cache.View{v, view(t, c)} {
		got, err = v.Get("one")
		require.NoError(t, err)
		assert.True(t, resource.Equal(number("one", 1), got))
		assert.True(t, resource.Equal(number("one", 1), v.List(state.ListOptions{}).Items[0]))
	}
}

func TestMissingResourceIsNotFound(t *testing.T) {
	t.Parallel()

	c := started(number("one", 1))

	_, err := view(t, c).Get("two")
	require.True(t, state.IsNotFoundError(err))
	require.ErrorContains(t, err, "test/int(n/two)")

	var missing *cache.NotFoundError

	require.ErrorAs(t, err, &missing)
	require.Equal(t, "two", missing.Key.ID)
}

func TestListsAreSortedAndFiltered(t *testing.T) {
	t.Parallel()

	c := started(
		labelled("c", 3, "colour", "red", "size", "s"), labelled("a", 1, "colour", "blue"), labelled("d", 4), labelled("b", 2, "colour", "red"),
	)

	for name, test := range map[string]struct {
		opts []state.ListOption
		want []pair
	}{
		"all":   {nil, []pair{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}}},
		"label": {[]state.ListOption{state.WithLabelQuery(resource.LabelEqual("colour", "red"))}, []pair{{"b", 2}, {"c", 3}}},
		"two terms of one query": {
			[]state.ListOption{state.WithLabelQuery(resource.LabelEqual("colour", "red"), resource.LabelExists("size"))}, []pair{{"c", 3}},
		},
		"one of two queries": {
			[]state.ListOption{
				state.WithLabelQuery(resource.LabelEqual("colour", "blue")), state.WithLabelQuery(resource.LabelExists("size")),
			}, []pair{{"a", 1}, {"c", 3}},
		},
		"id": {[]state.ListOption{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^[cd]$")))}, []pair{{"c", 3}, {"d", 4}}},
		"id and label": {
			[]state.ListOption{
				state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^[cd]$"))), state.WithLabelQuery(resource.LabelExists("colour")),
			}, []pair{{"c", 3}},
		},
		"none": {[]state.ListOption{state.WithLabelQuery(resource.LabelExists("other"))}, []pair{}},
	} {
		opts, served := cache.ServesList(test.opts)
		require.True(t, served, name)

		list := view(t, c).List(opts)
		assert.Equal(t, test.want, values(list), name)
		assert.NotNil(t, list.Items, name)
	}
}

// Options that ask for another form of the resource are for the state.
func TestOptionsThatACacheCanNotServe(t *testing.T) {
	t.Parallel()

	assert.True(t, cache.ServesGet(nil))
	assert.True(t, cache.ServesGet([]state.GetOption{state.WithGetUnmarshalOptions()}))
	assert.False(t, cache.ServesGet([]state.GetOption{state.WithGetUnmarshalOptions(state.WithSkipProtobufUnmarshal())}))

	_, served := cache.ServesList([]state.ListOption{state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal())})
	assert.False(t, served)
}
