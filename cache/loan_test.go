package cache_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
)

// detecting returns a collection of resources with the values 1, of which changes are detected, and what was found.
func detecting(t *testing.T, ids ...resource.ID) (*cache.Collection, *[]*cache.MutationError) {
	var (
		mu    sync.Mutex
		found []*cache.MutationError
	)

	c := cache.New(cache.Config{Kinds: []reduced.Kind{ints}, Detect: func(err *cache.MutationError) {
		mu.Lock()
		defer mu.Unlock()

		found = append(found, err)
	}}).Collection(ints)
	c.Start()

	for _, id := range ids {
		c.Put(labelled(id, 1, "colour", "red"))
	}

	c.Complete()
	t.Cleanup(c.Stop)

	return c, &found
}

// as returns the view of a reader.
func as(t *testing.T, c *cache.Collection, reader string) cache.View {
	v, ok, err := c.View(t.Context(), reader)
	require.NoError(t, err)
	require.True(t, ok)

	return v
}

// spoil changes a resource as nobody may who was lent it.
func spoil(res resource.Resource) { res.(*conformance.IntResource).SetValue(99) }

// Whoever changes what it was lent in the body of a loop is found when the body returns, and named for certain.
func TestChangeInALoopIsFoundAtOnce(t *testing.T) {
	t.Parallel()

	red, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelEqual("colour", "red"))})

	for name, loop := range map[string]func(v cache.View, body func(resource.Resource) bool){
		"all":     func(v cache.View, body func(resource.Resource) bool) { v.All()(body) },
		"prefix":  func(v cache.View, body func(resource.Resource) bool) { v.Prefix("b")(body) },
		"match":   func(v cache.View, body func(resource.Resource) bool) { v.Match(red)(body) },
		"patched": func(v cache.View, body func(resource.Resource) bool) { v.With(shows("a", 7)).All()(body) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, found := detecting(t, "a", "b", "c")

			for range as(t, c, "innocent").All() {
			}

			loop(as(t, c, "culprit"), func(res resource.Resource) bool {
				require.Empty(t, *found)

				if res.Metadata().ID() == "b" {
					spoil(res)

					return false
				}

				return true
			})

			require.Len(t, *found, 1)

			err := (*found)[0]
			require.Equal(t, reduced.Key{Kind: ints, ID: "b"}, err.Key)
			require.Equal(t, []string{"culprit"}, err.Readers)
			require.Equal(t, []string{"innocent"}, err.Earlier)
			require.Equal(t, []pair{{"b", 1}, {"b", 99}}, values(resource.List{Items: []resource.Resource{err.Before, err.After}}))
			require.ErrorContains(t, err, "test/int(n/b)")
			require.ErrorContains(t, err, "lent to culprit:")
		})
	}
}

// A loop over a patch tells, too; the one who has put it there does not see the change.
func TestChangeOfAPatchIsFound(t *testing.T) {
	t.Parallel()

	c, found := detecting(t, "a")
	mine := number("b", 2)

	for res := range as(t, c, "culprit").With(cache.Patch{ID: "b", Resource: mine}).Prefix("b") {
		spoil(res)
	}

	require.Len(t, *found, 1)
	require.Equal(t, []string{"culprit"}, (*found)[0].Readers)
	require.Equal(t, 2, mine.Value())

	res, ok := as(t, c, "test").With(cache.Patch{ID: "b", Resource: mine}).Lend("b")
	require.True(t, ok)
	require.True(t, resource.Equal(mine, res))
}

// What is changed outside of a loop is found later, once, and all are named whom it was lent to.
func TestChangeIsFoundLater(t *testing.T) {
	t.Parallel()

	for name, later := range map[string]func(c *cache.Collection, v cache.View){
		"when it is lent again": func(_ *cache.Collection, v cache.View) { v.Lend("a") },
		"in somebody's loop": func(_ *cache.Collection, v cache.View) {
			for range v.All() {
			}
		},
		"when it is replaced": func(c *cache.Collection, _ cache.View) { c.Put(number("a", 2)) },
		"when it is deleted":  func(c *cache.Collection, _ cache.View) { c.Delete("a") },
		"at the end":          func(c *cache.Collection, _ cache.View) { c.Stop() },
		"when asked for":      func(c *cache.Collection, _ cache.View) { c.Check() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, found := detecting(t, "a", "b")
			v := as(t, c, "first")
			res, _ := v.Lend("a")

			c.Check()
			as(t, c, "second").Lend("a")
			as(t, c, "third").Lend("a")
			as(t, c, "third").Lend("b")
			spoil(res)

			require.Empty(t, *found)
			later(c, as(t, c, "finder"))
			require.Len(t, *found, 1)

			err := (*found)[0]
			require.Equal(t, []string{"third"}, err.Readers, "after each time it was lent it was looked at")
			require.Equal(t, []string{"first", "second"}, err.Earlier)

			spoil(res)
			c.Check()
			v.Lend("a")
			require.Len(t, *found, 1, "nobody else is lent that one any more")
		})
	}
}

// Whatever was done to what was lent, later readers, of old views too, are shown what the cache was given.
func TestOthersSeeNothingOfAChange(t *testing.T) {
	t.Parallel()

	c, found := detecting(t, "a")
	old := as(t, c, "old")
	res, _ := as(t, c, "culprit").Lend("a")

	spoil(res)
	res.Metadata().Labels().Set("colour", "green")
	res.Metadata().SetPhase(resource.PhaseTearingDown)

	red, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelEqual("colour", "red"))})

	for _, v := range []cache.View{old, as(t, c, "new")} {
		got, err := v.Get("a")
		require.NoError(t, err)
		require.True(t, resource.Equal(labelled("a", 1, "colour", "red"), got))
		require.Equal(t, []pair{{"a", 1}}, values(v.List(red)))

		again, ok := v.Lend("a")
		require.True(t, ok)
		require.True(t, resource.Equal(got, again))
	}

	require.Len(t, *found, 1)

	known, ok := c.Lookup("a")
	require.True(t, ok)
	require.Equal(t, resource.PhaseRunning, known.Metadata().Phase())

	ctx, _, err := c.ContextWithTeardown(t.Context(), "test", "a")
	require.NoError(t, err)
	require.NoError(t, ctx.Err())
}

// The one who has put a resource into the cache must not change it either.
func TestChangeByTheOneWhoPutIt(t *testing.T) {
	t.Parallel()

	c, found := detecting(t)
	mine := number("a", 1)

	c.Put(mine)
	c.Publish()
	spoil(mine)
	c.Check()

	require.Len(t, *found, 1)
	require.Empty(t, (*found)[0].Readers)
	require.ErrorContains(t, (*found)[0], "lent to nobody")
}

// Copies are the reader's, and to change them is no change.
func TestCopiesMayBeChanged(t *testing.T) {
	t.Parallel()

	c, found := detecting(t, "a", "b")
	v := as(t, c, "reader")

	for _, res := range v.List(state.ListOptions{}).Items {
		spoil(res)
	}

	for res := range v.All() {
		spoil(res.DeepCopy())
	}

	res, err := v.Get("a")
	require.NoError(t, err)
	spoil(res)

	c.Stop()
	require.Empty(t, *found)
}

// unequal is a resource that no copy of it equals.
type unequal struct{ *conformance.IntResource }

func (u unequal) Spec() any { return func() {} }

func (u unequal) DeepCopy() resource.Resource {
	return unequal{u.IntResource.DeepCopy().(*conformance.IntResource)}
}

// Where nothing can be told, nothing is said.
func TestResourceThatEqualsNoCopy(t *testing.T) {
	t.Parallel()

	c, found := detecting(t)
	c.Put(unequal{number("a", 1)})
	c.Publish()

	for range as(t, c, "reader").All() {
	}

	c.Check()
	require.Empty(t, *found)
}

func TestCheckOfAllKinds(t *testing.T) {
	t.Parallel()

	found := 0
	other := reduced.Kind{Namespace: "m", Type: ints.Type}
	c := cache.New(cache.Config{Kinds: []reduced.Kind{ints, other}, Detect: func(*cache.MutationError) { found++ }})

	c.Check()

	for _, kind := range c.Kinds() {
		mine := conformance.NewIntResource(kind.Namespace, "a", 1)

		c.Collection(kind).Start()
		c.Collection(kind).Put(mine)
		c.Collection(kind).Complete()
		mine.SetValue(2)
	}

	c.Check()
	require.Equal(t, 2, found)
}

// Loans are counted beside each other and beside the writer.
func TestDetectingBesideTheWriter(t *testing.T) {
	t.Parallel()

	c, found := detecting(t, "a", "b", "c")

	var readers sync.WaitGroup

	for reader := range 3 {
		readers.Go(func() {
			for i := range 200 {
				v, _, _ := c.View(t.Context(), strconv.Itoa(reader))
				v.Lend("a")

				for range v.All() {
				}

				if i%50 == 0 {
					c.Check()
				}
			}
		})
	}

	for i := range 200 {
		c.Put(number("a", i))
		c.Publish()
	}

	readers.Wait()
	c.Stop()
	require.Empty(t, *found)
}
