package cache_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
)

// withTeardown returns a context that ends with the teardown of the resource.
func withTeardown(t require.TestingT, parent context.Context, c *cache.Collection, id resource.ID) context.Context {
	ctx, ok, err := c.ContextWithTeardown(parent, "test", id)
	require.NoError(t, err)
	require.True(t, ok)

	return ctx
}

func TestContextEndsAtOnceWhenThereIsNothingToWaitFor(t *testing.T) {
	t.Parallel()

	c := started(tearingDown("going"), number("here", 1))

	require.ErrorIs(t, withTeardown(t, t.Context(), c, "going").Err(), context.Canceled)
	require.ErrorIs(t, withTeardown(t, t.Context(), c, "absent").Err(), context.Canceled)
	require.NoError(t, withTeardown(t, t.Context(), c, "here").Err())
}

func TestContextEndsWithTheResource(t *testing.T) {
	t.Parallel()

	for name, end := range map[string]func(c *cache.Collection){
		"torn down": func(c *cache.Collection) {
			c.Put(tearingDown("a"))
			c.Publish("a")
		},
		"destroyed": func(c *cache.Collection) {
			c.Delete("a")
			c.Publish("a")
		},
		"destroyed, and created again before that was published": func(c *cache.Collection) {
			c.Delete("a")
			c.Put(number("a", 2))
			c.Publish("a")
		},
		"found to be another one, when all were listed anew": func(c *cache.Collection) {
			other := number("a", 2)
			other.Metadata().SetCreated(time.Unix(1, 0))

			c.Put(other)
			c.Publish()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := started(number("a", 1), number("b", 1))
			first, second := withTeardown(t, t.Context(), c, "a"), withTeardown(t, t.Context(), c, "a")
			other := withTeardown(t, t.Context(), c, "b")

			// Other changes of the resource are none of its business.
			c.Put(number("a", 2))
			c.Publish("a")
			require.NoError(t, first.Err())

			end(c)
			require.ErrorIs(t, first.Err(), context.Canceled)
			require.ErrorIs(t, second.Err(), context.Canceled)
			require.NoError(t, other.Err())
			require.NotErrorIs(t, context.Cause(first), cache.ErrStopped)
		})
	}
}

// A context for the next incarnation has nothing to do with the end of the former one.
func TestContextIsForOneIncarnation(t *testing.T) {
	t.Parallel()

	c := started(number("a", 1))
	former := withTeardown(t, t.Context(), c, "a")

	c.Delete("a")
	c.Put(number("a", 2))
	c.Publish("a")

	present := withTeardown(t, t.Context(), c, "a")

	require.Error(t, former.Err())

	c.Put(number("a", 3))
	c.Publish("a")
	require.NoError(t, present.Err())

	c.Put(tearingDown("a"))
	c.Publish("a")
	require.Error(t, present.Err())
}

func TestStopCancelsWithErrStopped(t *testing.T) {
	t.Parallel()

	c := started(number("a", 1), number("b", 1))
	a, b := withTeardown(t, t.Context(), c, "a"), withTeardown(t, t.Context(), c, "b")

	c.Stop()

	require.ErrorIs(t, context.Cause(a), cache.ErrStopped)
	require.ErrorIs(t, context.Cause(b), cache.ErrStopped)
}

// Who calls while the collection stops gets no context that nobody would cancel.
func TestNoContextOutlivesStop(t *testing.T) {
	t.Parallel()

	for range 200 {
		c := started(number("a", 1))

		var (
			callers sync.WaitGroup
			ready   = make(chan struct{})
		)

		for range 3 {
			callers.Go(func() {
				<-ready

				if ctx, ok, err := c.ContextWithTeardown(context.Background(), "test", "a"); assert.NoError(t, err) && ok {
					<-ctx.Done()
					assert.ErrorIs(t, context.Cause(ctx), cache.ErrStopped)
				}
			})
		}

		close(ready)
		c.Stop()
		callers.Wait()
	}
}

// Every context is cancelled by the end of its incarnation and none before, however calls and changes meet.
func TestContextsBesideChanges(t *testing.T) {
	t.Parallel()

	c := started(number("a", 0))

	var callers sync.WaitGroup

	// present returns which incarnation there is, -1 for none.
	present := func() int {
		for _, p := range all(view(t, c)) {
			return p.value
		}

		return -1
	}

	for range 3 {
		callers.Go(func() {
			for i := range 1_000 {
				parent, cancel := context.WithCancel(context.Background())
				before := present()
				ctx := withTeardown(t, parent, c, "a")
				after := present()

				// Some wait for the end; others do not, and so come at any moment, also while the end is being told.
				if i%10 == 0 {
					<-ctx.Done()
				}

				for n := 0; n < 50 && ctx.Err() == nil; n++ {
					runtime.Gosched()
				}

				if ctx.Err() != nil && before == after && before >= 0 {
					assert.NotEqual(t, before, present(), "what the context was for is still there")
				}

				cancel()
			}
		})
	}

	done := make(chan struct{})

	go func() {
		defer close(done)

		callers.Wait()
	}()

	for round := 1; ; round++ {
		select {
		case <-done:
			return
		default:
		}

		// Many others end as well, so that looking for who waits takes its time after the publication.
		for i := range 200 {
			id := fmt.Sprint("other ", i)

			c.Put(number(id, round))
			c.Delete(id)
		}

		// In every third round the resource is away for a while, in the others nobody is shown that it was.
		c.Delete("a")

		if round%3 == 0 {
			c.Publish("a")
		}

		c.Put(number("a", round))
		c.Publish("a")

		// This one has seen the new incarnation, whose end is yet to come.
		mine := withTeardown(t, context.Background(), c, "a")

		runtime.Gosched()
		require.NoError(t, mine.Err(), "round %d", round)
	}
}

// Not parallel: goroutines are counted in the whole process.
func TestContextsCostNoGoroutine(t *testing.T) {
	c := started()

	for i := range 1_000 {
		c.Put(number(fmt.Sprint(i), i))
	}

	c.Publish()

	parent, cancel := context.WithCancel(t.Context())
	defer cancel()

	before := runtime.NumGoroutine()

	for i := range 1_000 {
		require.NoError(t, withTeardown(t, parent, c, fmt.Sprint(i)).Err())
	}

	const others = 10 // there may be some of the test's own that come or go

	require.Less(t, runtime.NumGoroutine(), before+others)
	c.Stop()
	require.Less(t, runtime.NumGoroutine(), before+others, "what the contexts had started has ended with Stop")
}

// The end of the parent takes the context out of the collection: nothing of it is kept.
func TestParentThatEndsLeavesNothingBehind(t *testing.T) {
	t.Parallel()

	type name struct{}

	c := started(number("a", 1))
	parent, cancel := context.WithCancel(t.Context())
	kept := make([]weak.Pointer[[64]byte], 1_000)

	for i := range kept {
		value := new([64]byte)
		kept[i] = weak.Make(value)

		require.NoError(t, withTeardown(t, context.WithValue(parent, name{}, value), c, "a").Err())
	}

	runtime.GC()
	require.NotNil(t, kept[0].Value(), "the context waits")

	cancel()

	require.Eventually(t, func() bool {
		runtime.GC()

		for _, p := range kept {
			if p.Value() != nil {
				return false
			}
		}

		return true
	}, time.Minute, time.Millisecond)

	// The collection is as good as new.
	ctx := withTeardown(t, t.Context(), c, "a")

	c.Delete("a")
	c.Publish("a")
	require.Error(t, ctx.Err())
}
