package cache_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
)

// behind returns a collection that does not show yet what an owner has written.
func behind() (*cache.Collection, *cache.Writes) {
	c := started(versioned("a", 1))
	w := c.Writes()

	wr := w.Begin("a")
	wr.Wrote(versioned("a", 2))
	wr.End()

	return c, w
}

// An answer of the state that is newer than what the cache has come to show in the meantime is not taken back: the next read
// shows no less.
func TestAnswersAreNotTakenBack(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func() (resource.Resource, error){
		"newer": func() (resource.Resource, error) { return versioned("a", 4), nil },
		"gone":  func() (resource.Resource, error) { return nil, inmem.ErrNotFound(number("a", 0).Metadata()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, w := behind()

			view := func(get func() (resource.Resource, error)) (resource.Resource, bool) {
				view, ok, err := w.View(t.Context(), "owner", "a", func(resource.ID) (resource.Resource, error) { return get() })
				require.NoError(t, err)
				require.True(t, ok)

				return view.Lend("a")
			}

			answer, _ := end()

			first, there := view(func() (resource.Resource, error) {
				c.Put(versioned("a", 3))
				c.Publish("a")

				return end()
			})
			require.Equal(t, answer != nil, there)

			second, stays := view(func() (resource.Resource, error) {
				t.Error("the answer is known")

				return answer, nil
			})
			require.Equal(t, there, stays)

			if there {
				require.True(t, resource.Equal(answer, first))
				require.True(t, resource.Equal(answer, second))
			}

			// When the cache shows as much, nothing is kept any more.
			if answer != nil {
				c.Put(versioned("a", 4))
			} else {
				c.Delete("a")
			}

			c.Publish("a")
			require.False(t, w.Unseen("a"))
		})
	}
}

// A state that panics leaves nothing behind.
func TestQuestionsThatAreNotAnswered(t *testing.T) {
	t.Parallel()

	c, w := behind()

	require.Panics(t, func() {
		_, _, _ = w.View(t.Context(), "owner", "a", func(resource.ID) (resource.Resource, error) { panic("out of order") })
	})

	c.Put(versioned("a", 2))
	c.Publish("a")
	require.False(t, w.Unseen("a"))
}
