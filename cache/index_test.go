package cache_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
)

// byLabel are the options of a query for a value of a label.
func byLabel(label, value string) state.ListOptions {
	return state.ListOptions{LabelQueries: resource.LabelQueries{{Terms: []resource.LabelTerm{{Key: label, Op: resource.LabelOpEqual, Value: []string{value}}}}}}
}

// hooked is a resource that calls a function the first time that it is looked at after that was set.
type hooked struct {
	*conformance.IntResource

	hook *func()
}

func (h hooked) Metadata() *resource.Metadata {
	if hook := *h.hook; hook != nil {
		*h.hook = nil

		hook()
	}

	return h.IntResource.Metadata()
}

// What the writer does while a reader builds an index is in it, once it is published, and is not in that of older
// contents.
func TestChangesWhileAnIndexIsBuilt(t *testing.T) {
	t.Parallel()

	const n = 1_000

	for name, test := range map[string]struct {
		change    func(c *cache.Collection)
		published bool
	}{
		"published":     {func(c *cache.Collection) { c.Publish() }, true},
		"not published": {func(*cache.Collection) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var hook func()

			c := started()

			for i := range n {
				c.Put(hooked{labelled(fmt.Sprintf("%04d", i), i, "group", fmt.Sprint(i/2)), &hook})
			}

			c.Publish()

			old := view(t, c)
			hook = func() {
				c.Put(labelled("0002", 1002, "group", "2"))
				c.Put(labelled("0004", 1004, "group", "2"))
				c.Put(labelled("0004", 1004, "group", "3"))
				c.Delete("0006")
				c.Put(labelled("new", 2000, "group", "1"))
				test.change(c)

				// Another reader who wants the same does without.
				require.Len(t, lent(old.Match(byLabel("group", "1"))), 2)
			}

			before := map[string][]pair{"1": {{"0002", 2}, {"0003", 3}}, "2": {{"0004", 4}, {"0005", 5}}, "3": {{"0006", 6}, {"0007", 7}}}
			after := map[string][]pair{"1": {{"0003", 3}, {"new", 2000}}, "2": {{"0002", 1002}, {"0005", 5}}, "3": {{"0004", 1004}, {"0007", 7}}}

			check := func(v cache.View, want map[string][]pair) {
				t.Helper()

				for value, want := range want {
					got := lent(v.Match(byLabel("group", value)))
					require.Equal(t, want, got, value)
				}
			}

			require.Empty(t, lent(old.Match(byLabel("group", "none"))))
			require.Nil(t, hook, "the index was built")
			check(old, before)

			if test.published {
				check(view(t, c), after)
			} else {
				check(view(t, c), before)
			}

			c.Publish()
			check(view(t, c), after)
			check(old, before)

			// The index goes on to follow.
			c.Put(labelled("0003", 3, "group", "x"))
			c.Publish()
			require.Equal(t, []pair{{"new", 2000}}, lent(view(t, c).Match(byLabel("group", "1"))))
			check(old, before)
		})
	}
}

// A resource that can not be looked at is a reader's trouble once, and no index is missing for it.
func TestIndexThatCanNotBeBuilt(t *testing.T) {
	t.Parallel()

	var hook func()

	looks := 0
	c := started()

	for i := range 1_000 {
		c.Put(spied{labelled(fmt.Sprintf("%04d", i), i, "group", fmt.Sprint(i)), &looks})
	}

	c.Put(hooked{labelled("x", 0, "group", "x"), &hook})
	c.Publish()

	hook = func() { panic("trouble") }

	require.Panics(t, func() { view(t, c).List(byLabel("group", "1")) })
	require.Len(t, view(t, c).List(byLabel("group", "1")).Items, 1)

	looks = 0

	require.Len(t, view(t, c).List(byLabel("group", "1")).Items, 1)
	require.Less(t, looks, 10)
}

// An index is of the newest contents, whoever wants it, and not before the writer has published what it is at.
func TestIndexIsOfTheNewestContents(t *testing.T) {
	t.Parallel()

	looks := 0
	c := started()

	for i := range 1_000 {
		c.Put(spied{labelled(fmt.Sprintf("%04d", i), i, "group", fmt.Sprint(i)), &looks})
	}

	c.Publish()

	// looked returns how many resources are looked at to find those of a group.
	looked := func(v cache.View, group string, want int) int {
		looks = 0

		require.Len(t, values(v.List(byLabel("group", group))), want)

		return looks
	}

	old := view(t, c)

	c.Put(labelled("0001", 1, "group", "2"))
	require.GreaterOrEqual(t, looked(old, "2", 1), 1_000)
	require.GreaterOrEqual(t, looked(old, "2", 1), 1_000, "the writer is at work")

	c.Publish()
	require.GreaterOrEqual(t, looked(old, "2", 1), 1_000, "the index is not of this view")
	require.Less(t, looked(view(t, c), "2", 2), 10)
	require.Less(t, looked(view(t, c), "1", 0), 10)
	require.GreaterOrEqual(t, looked(old, "1", 1), 999)
}

// An index holds what there is, and no more.
func TestIndexForgetsWhatHasGone(t *testing.T) {
	t.Parallel()

	const n = 1_000

	looks := 0
	c := started()
	put := func(i int, labels ...string) {
		c.Put(spied{labelled(fmt.Sprintf("%04d", i), i, labels...), &looks})
	}

	for i := range n {
		put(i, "colour", "red", "id", fmt.Sprint(i))
	}

	c.Publish()
	require.Len(t, lent(view(t, c).Match(byLabel("colour", "blue"))), 0)

	// They lose the label in three ways.
	for i := range n {
		switch i % 3 {
		case 0:
			c.Delete(fmt.Sprintf("%04d", i))
			put(i, "id", fmt.Sprint(i))
		case 1:
			put(i, "id", fmt.Sprint(i))
		case 2:
			put(i, "colour", "green")
		}
	}

	put(7, "colour", "red")
	c.Publish()

	looks = 0

	require.Equal(t, []pair{{"0007", 7}}, values(view(t, c).List(byLabel("colour", "red"))))
	require.Less(t, looks, 10)
}

// Readers that want indexes, and a writer that changes labels all the time, do not get into each other's way: every
// answer is that of the view it was asked of.
func TestIndexesAreBuiltBesideTheWriter(t *testing.T) {
	t.Parallel()

	const n = 1_000

	c := started()

	// In each round, all resources of a group have the same labels: those of the round.
	publish := func(round int) {
		for i := range n {
			group := i % 100
			c.Put(labelled(fmt.Sprintf("%04d", i), round, fmt.Sprint("key", group%40), fmt.Sprint(group, "-", round)))
		}

		c.Publish()
	}

	publish(0)

	var (
		readers sync.WaitGroup
		done    = make(chan struct{})
	)

	for reader := range 3 {
		readers.Go(func() {
			for i := reader; ; i++ {
				select {
				case <-done:
					return
				default:
				}

				v := view(t, c)
				first, _ := v.Lend("0000")
				round, group := first.(*conformance.IntResource).Value(), i%100

				opts, _ := cache.ServesList([]state.ListOption{
					state.WithLabelQuery(resource.LabelEqual(fmt.Sprint("key", group%40), fmt.Sprint(group, "-", round))),
				})

				assert.Len(t, slices.Collect(v.Match(opts)), n/100)
			}
		})
	}

	for round := 1; round <= 100; round++ {
		publish(round)
	}

	close(done)
	readers.Wait()
}

// Indexes of labels that nobody asks for any more make place for others, but not for each that is asked for once.
func TestIndexesThatAreUsedStay(t *testing.T) {
	t.Parallel()

	const (
		keys = 40
		n    = 1_000
	)

	var (
		looks     int
		resources []resource.Resource
	)

	for i := range n {
		res := number(fmt.Sprintf("%04d", i), i)

		for key := range keys {
			res.Metadata().Labels().Set(fmt.Sprint(key), fmt.Sprint(i/10))
		}

		resources = append(resources, spied{res, &looks})
	}

	c := started(resources...)

	// scanned tells whether a query by the label looked at everything; one that builds an index does, too.
	scanned := func(key int) bool {
		looks = 0

		opts, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelEqual(fmt.Sprint(key), "7"))})
		require.Len(t, view(t, c).List(opts).Items, 10)

		return looks >= n
	}

	for key := range 32 {
		require.True(t, scanned(key))
		require.False(t, scanned(key))
	}

	// There is no place for another one while all are used.
	for range 70 {
		require.True(t, scanned(32))

		for key := range 32 {
			require.False(t, scanned(key))
		}
	}

	// Then one is not used any more, and its place is taken.
	tries := 0
	for ; scanned(32); tries++ {
		for key := range 31 {
			require.False(t, scanned(key))
		}
	}

	require.Greater(t, tries, 10)
	require.Less(t, tries, 100)
	require.True(t, scanned(31))
	require.False(t, scanned(30))
}
