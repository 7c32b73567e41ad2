package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/queue"
)

// endings are the ways to end the processing of an item that has it wait for a second.
var endings = map[string]func(q *queue.Queue[string], item string){
	"DoneAfter":       func(q *queue.Queue[string], item string) { q.DoneAfter(item, time.Second) },
	"DoneRateLimited": func(q *queue.Queue[string], item string) { q.DoneRateLimited(item) },
}

func TestQueueDoneAfterMakesReadyOnceTheDelayHasPassed(t *testing.T) {
	t.Parallel()

	for how, end := range endings {
		clk := newHandClock()
		q := queue.NewQueue[string](clk)

		q.Add("a")
		end(q, get(t, q))
		assert.Equal(t, queue.Stats{Delayed: 1}, q.Stats(), how)
		clk.advance(time.Second - 1)
		assert.Zero(t, q.Len(), how)
		clk.advance(1)
		assert.Equal(t, "a", get(t, q), how)
		q.Done("a")
		assert.Zero(t, q.Stats(), how)
		q.ShutDown()
	}
}

// An add takes the place of the wait, whenever it comes, so that an item has one at most.
func TestQueueAddTakesThePlaceOfAWait(t *testing.T) {
	t.Parallel()

	for how, end := range endings {
		clk := newHandClock()
		q := queue.NewQueue[string](clk)

		for range 10 {
			q.Add("a")
			end(q, get(t, q))
		}

		assert.Equal(t, queue.Stats{Delayed: 1}, q.Stats(), how)

		q.Add("a")
		get(t, q)
		q.Add("a")
		end(q, "a")
		assert.Equal(t, queue.Stats{Ready: 1}, q.Stats(), "%s: it was added meanwhile", how)

		get(t, q)
		q.Done("a")
		clk.advance(time.Hour)
		assert.Zero(t, q.Stats(), how)
		q.ShutDown()
	}
}

func TestQueueDoneAfterWithoutDelayIsReadyNow(t *testing.T) {
	t.Parallel()

	q := queue.NewQueue[string](newHandClock())
	defer q.ShutDown()

	for _, delay := range []time.Duration{0, -time.Second} {
		q.Add("a")
		q.DoneAfter(get(t, q), delay)
		assert.Equal(t, "a", get(t, q))
		q.Done("a")
	}
}

func TestQueueDoneAfterForAnItemThatIsNotOutDoesNothing(t *testing.T) {
	t.Parallel()

	for how, end := range endings {
		q := queue.NewQueue[string](newHandClock())

		end(q, "a")
		assert.Zero(t, q.Stats(), how)
		q.Add("a")
		end(q, "a")
		assert.Equal(t, queue.Stats{Ready: 1}, q.Stats(), how)
		assert.Zero(t, q.NumRequeues("a"), how)
		q.ShutDown()
	}
}

func TestQueueDoneRateLimitedGrowsPerItemUntilForgotten(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk, queue.WithBackoff(backoff.Policy{Base: time.Second, Factor: 2, Max: 3 * time.Second}))

	defer q.ShutDown()

	wait := func(item string, want time.Duration) {
		t.Helper()

		q.Add(item)
		q.DoneRateLimited(get(t, q))
		clk.advance(want - 1)
		assert.Zero(t, q.Len(), "too soon")
		clk.advance(1)
		assert.Equal(t, item, get(t, q))
		q.Done(item)
	}

	wait("a", time.Second)
	wait("a", 2*time.Second)
	wait("a", 3*time.Second)
	wait("b", time.Second)
	assert.Equal(t, 3, q.NumRequeues("a"))

	q.Forget("a")
	wait("a", time.Second)
}

// Delayed adds and waits come in one order: that of their due times, and in that of the calls where these are equal.
func TestQueueWaitsAndDelayedAddsShareOneOrder(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	for _, item := range []string{"b", "d", "e"} {
		q.Add(item)
		get(t, q)
	}

	q.AddAfter("a", time.Second)
	q.DoneAfter("b", time.Second)
	q.AddAfter("c", time.Second)
	q.DoneAfter("d", time.Second)
	q.DoneAfter("e", time.Millisecond)
	assert.Equal(t, 1, clk.running())
	clk.advance(time.Second)

	for _, want := range []string{"e", "a", "b", "c", "d"} {
		assert.Equal(t, want, get(t, q))
	}
}

func TestQueueShutDownDropsWaits(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	for _, item := range []string{"waits", "failed", "out", "out, put again"} {
		q.Add(item)
		get(t, q)
	}

	q.DoneAfter("waits", time.Second)
	q.DoneRateLimited("failed")
	q.Add("out, put again")
	q.ShutDown()
	assert.Zero(t, clk.running())
	assert.Equal(t, queue.Stats{Processing: 2}, q.Stats())
	assert.Equal(t, 1, q.NumRequeues("failed"))

	q.DoneRateLimited("out")
	q.DoneAfter("out, put again", time.Second)
	assert.Zero(t, q.NumRequeues("out"))
	assert.Equal(t, "out, put again", get(t, q), "it was added before the end")

	_, shutdown := q.Get()
	assert.True(t, shutdown)
}

// Who waits in Get is told of the end of a wait, and of an add that takes its place.
func TestQueueGetWaitsForTheEndOfAWait(t *testing.T) {
	t.Parallel()

	for how, end := range endings {
		t.Run(how, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				q := queue.NewQueue[string](nil)
				defer q.ShutDown()

				start := time.Now()

				q.Add("a")
				end(q, get(t, q))

				item, _ := q.Get()
				assert.Equal(t, "a", item)
				assert.Equal(t, time.Second, time.Since(start))

				q.DoneAfter("a", time.Hour)

				got := make(chan string)

				go func() {
					item, _ := q.Get()
					got <- item
				}()

				synctest.Wait()
				q.Add("a")
				assert.Equal(t, "a", <-got)
				assert.Equal(t, time.Second, time.Since(start))
			})
		})
	}
}

// point is a key of several parts.
type point struct{ x, y string }

// An item is what it is equal to: nothing else tells two of them apart, and nothing travels with it.
func TestQueueItemsAreTheirOwnIdentity(t *testing.T) {
	t.Parallel()

	q := queue.NewQueue[any](newHandClock())
	defer q.ShutDown()

	one, other := new(int), new(int)

	for range 2 {
		for _, item := range []any{point{"a", "b"}, point{"ab", ""}, [2]int{1, 2}, "a", 'a', one, other} {
			q.Add(item)
		}
	}

	assert.Equal(t, 7, q.Len())
	q.AddRateLimited(point{"a", "b"})
	assert.Equal(t, 1, q.NumRequeues(point{"a", "b"}))
	assert.Zero(t, q.NumRequeues(point{"ab", ""}))
	assert.Equal(t, point{"a", "b"}, get(t, q))
}
