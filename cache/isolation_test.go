package cache_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// versioned is a resource with a version, which the writer counts up.
func versioned(id resource.ID, version int) resource.Resource {
	res := number(id, version)

	v := resource.VersionUndefined
	for range version {
		v = v.Next()
	}

	res.Metadata().SetVersion(v)

	return res
}

// A view shows one moment of the writer, however long it is looked at, and what one reader is shown never goes back.
func TestViewsAreIsolatedAndNeverGoBack(t *testing.T) {
	t.Parallel()

	const (
		rounds    = 100
		resources = 70 // more than fit into one node of the tree
	)

	c := started()
	publish := func(round int) {
		for i := range resources {
			c.Put(versioned(strconv.Itoa(i), round))
		}

		// One of them is there in every other round only.
		if round%2 == 1 {
			c.Delete("0")
		}

		c.Publish()
	}

	publish(0)

	var readers sync.WaitGroup

	done := make(chan struct{})

	for range 3 {
		readers.Go(func() {
			last := 0

			for {
				select {
				case <-done:
					return
				default:
				}

				v := view(t, c)
				now := all(v)
				round := now[len(now)-1].value

				assert.GreaterOrEqual(t, round, last)
				assert.Len(t, now, resources-round%2)
				assert.Equal(t, len(now), v.Len())

				for _, p := range now {
					assert.Equal(t, round, p.value, "a mixture of two moments")
				}

				res, err := v.Get("7")
				assert.NoError(t, err)
				assert.Equal(t, uint64(round), res.Metadata().Version().Value())
				assert.Equal(t, now, all(v))

				last = round
			}
		})
	}

	for round := 1; round <= rounds; round++ {
		publish(round)
	}

	close(done)
	readers.Wait()
	require.Equal(t, rounds, all(view(t, c))[3].value)
}

// What was put is for the writer to look up at once, and for readers with the next Publish.
func TestWriterSeesItsOwnWork(t *testing.T) {
	t.Parallel()

	c := started(number("b", 1))

	c.Put(number("b", 2))
	c.Put(number("a", 1))

	res, ok := c.Lookup("b")
	require.True(t, ok)
	require.True(t, resource.Equal(number("b", 2), res))

	var ids []resource.ID
	for id := range c.All() {
		ids = append(ids, id)
	}

	require.Equal(t, []resource.ID{"a", "b"}, ids)
	require.Equal(t, []pair{{"b", 1}}, all(view(t, c)))

	c.Publish()
	require.Equal(t, []pair{{"a", 1}, {"b", 2}}, all(view(t, c)))

	c.Delete("b")
	c.Delete("never there")

	_, ok = c.Lookup("b")
	require.False(t, ok)

	for id := range c.All() {
		require.Equal(t, "a", id)

		break
	}
}
