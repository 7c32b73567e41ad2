package cache_test

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
)

type answer struct {
	view cache.View
	ok   bool
	err  error
}

// read asks for a view in another goroutine.
func read(ctx context.Context, c *cache.Collection, name string) <-chan answer {
	answers := make(chan answer, 1)

	go func() {
		v, ok, err := c.View(ctx, name)
		answers <- answer{v, ok, err}
	}()

	return answers
}

func TestReadsWaitForTheFirstContents(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config{Kinds: []reduced.Kind{ints}}).Collection(ints)
		c.Start()

		first, second, third := read(t.Context(), c, "b"), read(t.Context(), c, "a"), read(t.Context(), c, "b")

		synctest.Wait()
		require.Equal(t, []string{"a", "b"}, c.Waiting(), "in order, and each once")
		require.False(t, c.Synced())

		// Parts of the contents are not enough.
		c.Put(number("one", 1))
		c.Publish()
		synctest.Wait()
		require.Len(t, c.Waiting(), 2)
		require.Empty(t, first)

		c.Put(number("two", 2))
		c.Complete()
		c.Complete()

		for _, answers := range []<-chan answer{first, second, third} {
			got := <-answers
			require.NoError(t, got.err)
			require.True(t, got.ok)
			require.Equal(t, []pair{{"one", 1}, {"two", 2}}, all(got.view))
		}

		require.Empty(t, c.Waiting())
		require.True(t, c.Synced())
	})
}

func TestWaitingReadsRespectTheirContext(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config{Kinds: []reduced.Kind{ints}}).Collection(ints)
		c.Start()

		ctx, cancel := context.WithCancel(t.Context())
		impatient, patient := read(ctx, c, "same name"), read(t.Context(), c, "same name")

		synctest.Wait()
		cancel()

		got := <-impatient
		require.ErrorIs(t, got.err, context.Canceled)
		require.False(t, got.ok)
		require.Equal(t, []string{"same name"}, c.Waiting(), "the other one still waits")

		_, ok, err := c.ContextWithTeardown(ctx, "late", "one")
		require.ErrorIs(t, err, context.Canceled)
		require.False(t, ok)

		c.Complete()
		require.True(t, (<-patient).ok)
	})
}

// While no engine runs, nobody waits and the caller is sent to the state.
func TestCollectionServesFromStartToStop(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config{Kinds: []reduced.Kind{ints}}).Collection(ints)

		silent := func() {
			t.Helper()

			got := <-read(t.Context(), c, "test")
			require.NoError(t, got.err)
			require.False(t, got.ok)

			_, ok, err := c.ContextWithTeardown(t.Context(), "test", "one")
			require.NoError(t, err)
			require.False(t, ok)
			require.Zero(t, c.Len())
			require.False(t, c.Synced())
		}

		silent()

		c.Start()

		waiting := read(t.Context(), c, "test")
		synctest.Wait()
		c.Stop()

		got := <-waiting
		require.NoError(t, got.err)
		require.False(t, got.ok, "the engine has ended before the first contents came")
		silent()

		c.Start()
		c.Put(number("one", 1))
		c.Complete()
		require.Equal(t, 1, c.Len())
		c.Stop()
		c.Stop()
		silent()

		// The next run begins with nothing.
		c.Start()
		require.False(t, c.Synced())
		c.Complete()
		require.Empty(t, all(view(t, c)))
	})
}

// A writer that has not noticed yet that the run is over writes to nowhere.
func TestLateWriterIsHarmless(t *testing.T) {
	t.Parallel()

	c := started(number("a", 1))
	c.Stop()

	c.Put(number("a", 2))
	c.Delete("a")
	c.Publish("a")
	c.Complete()

	_, found := c.Lookup("a")
	require.False(t, found)
	require.Empty(t, maps.Collect(c.All()))

	_, ok, err := c.View(t.Context(), "test")
	require.NoError(t, err)
	require.False(t, ok)
}

func TestCacheIsASetOfKinds(t *testing.T) {
	t.Parallel()

	other := reduced.Kind{Namespace: "m", Type: ints.Type}
	c := cache.New(cache.Config{Kinds: []reduced.Kind{other, ints, other}})

	assert.Equal(t, []reduced.Kind{other, ints}, c.Kinds())
	assert.Equal(t, other, c.Collection(other).Kind())
	assert.NotSame(t, c.Collection(ints), c.Collection(other))
	assert.Nil(t, c.Collection(reduced.Kind{Namespace: "n", Type: "other"}))
	assert.Empty(t, cache.New(cache.Config{}).Kinds())
}
