package queue_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/queue"
)

// get takes an item that must be ready.
func get[T comparable](t *testing.T, q *queue.Queue[T]) T {
	t.Helper()

	require.Positive(t, q.Len(), "nothing is ready")

	item, shutdown := q.Get()
	require.False(t, shutdown)

	return item
}

func TestQueueStartsEmpty(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	assert.Zero(t, q.Len())
	assert.Zero(t, q.Stats())
	assert.Zero(t, q.NumRequeues("a"))
	assert.Zero(t, clk.running(), "a queue without delays has no timer")
	q.ShutDown()
}

func TestQueueAddsCollapseWhileAnItemWaits(t *testing.T) {
	t.Parallel()

	q := queue.NewQueue[string](newHandClock())
	defer q.ShutDown()

	for range 5 {
		q.Add("a")
	}

	assert.Equal(t, 1, q.Len())
	assert.Equal(t, "a", get(t, q))
	q.Done("a")
	assert.Zero(t, q.Stats())
}

func TestQueueHandsOutInTheOrderOfAdding(t *testing.T) {
	t.Parallel()

	q := queue.NewQueue[int](newHandClock())
	defer q.ShutDown()

	for _, item := range []int{3, 1, 2, 3, 1, 5} {
		q.Add(item)
	}

	for _, want := range []int{3, 1, 2, 5} {
		assert.Equal(t, want, get(t, q))
	}
}

func TestQueueReAddWhileProcessingComesBackOnceAtDone(t *testing.T) {
	t.Parallel()

	q := queue.NewQueue[string](newHandClock())
	defer q.ShutDown()

	q.Add("a")
	get(t, q)

	for range 3 {
		q.Add("a")
		assert.Zero(t, q.Len(), "not before Done")
	}

	q.Done("a")
	assert.Equal(t, 1, q.Len(), "exactly once")

	get(t, q)
	q.Done("a")
	assert.Zero(t, q.Stats())
}

func TestQueueWithoutDoneAnItemIsNotHandedOutAgain(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	q.Add("a")
	get(t, q)
	q.Add("a")
	q.AddAfter("a", time.Second)
	q.AddRateLimited("a")
	clk.advance(time.Hour)

	assert.Equal(t, queue.Stats{Processing: 1}, q.Stats())
}

func TestQueueDoneForAnItemThatIsNotOutDoesNothing(t *testing.T) {
	t.Parallel()

	q := queue.NewQueue[string](newHandClock())
	defer q.ShutDown()

	q.Done("a")
	q.Add("a")
	q.Done("a")
	assert.Equal(t, 1, q.Len())

	get(t, q)
	q.Done("a")
	q.Done("a")
	assert.Zero(t, q.Stats())
}

func TestQueueAddAfterIsReadyOnceTheDelayHasPassed(t *testing.T) {
	t.Parallel()

	clk := clockwork.NewFakeClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	q.AddAfter("a", time.Second)

	clk.Advance(time.Second - 1)
	assert.Zero(t, q.Len())
	assert.Equal(t, 1, q.Stats().Delayed)

	clk.Advance(1)
	assert.Equal(t, 1, q.Len(), "seen at once, whether the timer has come round or not")
	assert.Equal(t, "a", get(t, q))
}

func TestQueueAddAfterWithoutDelayAddsNow(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	q.AddAfter("a", 0)
	q.AddAfter("b", -time.Second)

	assert.Equal(t, "a", get(t, q))
	assert.Equal(t, "b", get(t, q))
	assert.Zero(t, clk.running())
}

func TestQueueAddAfterRegistersItsTimerBeforeItReturns(t *testing.T) {
	t.Parallel()

	clk := clockwork.NewFakeClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	for _, delay := range []time.Duration{time.Minute, time.Second, time.Hour} {
		q.AddAfter("a", delay)
		require.NoError(t, clk.BlockUntilContext(t.Context(), 1))
	}

	clk.Advance(time.Second)

	// Get blocks if the timer does not fire.
	item, _ := q.Get()
	assert.Equal(t, "a", item)
}

func TestQueueEachAddAfterFiresItsOwnAdd(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	q.AddAfter("a", time.Second)
	q.AddAfter("a", time.Second)
	q.AddAfter("a", 3*time.Second)
	q.AddAfter("a", 2*time.Second)
	assert.Equal(t, 4, q.Stats().Delayed)

	clk.advance(time.Second)
	assert.Equal(t, queue.Stats{Ready: 1, Delayed: 2}, q.Stats(), "two adds made one")

	get(t, q)
	q.Done("a")
	clk.advance(time.Second)
	assert.Equal(t, "a", get(t, q))
	clk.advance(time.Second)
	assert.Zero(t, q.Len(), "it is out")
	q.Done("a")
	assert.Equal(t, 1, q.Len())
}

func TestQueueAddDoesNotTouchADelayedAdd(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	q.AddAfter("a", time.Second)
	q.Add("a")
	get(t, q)
	q.Done("a")
	clk.advance(time.Second)
	assert.Equal(t, 1, q.Len())
}

func TestQueueAllDelaysShareOneTimer(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[int](clk)

	for i := range 1000 {
		q.AddAfter(i, time.Duration(1+i*7%1000)*time.Second)
		require.Equal(t, 1, clk.running())
	}

	for left := 1000; left > 0; left-- {
		assert.Equal(t, left, q.Stats().Delayed)
		assert.Equal(t, 1, clk.running())
		clk.advance(time.Second)
	}

	assert.Equal(t, 1000, q.Len())
	assert.Zero(t, clk.running(), "nothing is delayed any more")
	q.ShutDown()
}

func TestQueueDelayedItemsComeInTheOrderOfTheirDueTimes(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	q.AddAfter("late", 2*time.Second)
	q.AddAfter("first of two", time.Second)
	q.AddAfter("second of two", time.Second)
	clk.move(3 * time.Second)
	q.Add("now")

	for _, want := range []string{"first of two", "second of two", "late", "now"} {
		assert.Equal(t, want, get(t, q))
	}
}

func TestQueueWhatIsDueGoesBeforeWhatBecomesReadyNow(t *testing.T) {
	t.Parallel()

	for how, makeReady := range map[string]func(*queue.Queue[string]){
		"Add":                    func(q *queue.Queue[string]) { q.Add("a") },
		"AddAfter without delay": func(q *queue.Queue[string]) { q.AddAfter("a", 0) },
		"Done":                   func(q *queue.Queue[string]) { q.Done("a") },
	} {
		clk := newHandClock()
		q := queue.NewQueue[string](clk)

		if how == "Done" {
			q.Add("a")
			get(t, q)
			q.Add("a")
		}

		q.AddAfter("due", time.Second)
		clk.move(2 * time.Second)
		makeReady(q)
		assert.Equal(t, time.Second, q.Stats().OldestWait)
		assert.Equal(t, "due", get(t, q), how)
		assert.Equal(t, "a", get(t, q), how)
		q.ShutDown()
	}
}

func TestQueueAddRateLimitedGrowsPerItemUntilForgotten(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk, queue.WithBackoff(backoff.Policy{Base: time.Second, Factor: 2, Max: 5 * time.Second}))

	defer q.ShutDown()

	wait := func(item string, want time.Duration) {
		t.Helper()

		q.AddRateLimited(item)
		clk.advance(want - 1)
		require.Zero(t, q.Len(), "too soon")
		clk.advance(1)
		require.Equal(t, item, get(t, q))
		q.Done(item)
	}

	for i, want := range []time.Duration{1, 2, 4, 5, 5} {
		wait("a", want*time.Second)
		assert.Equal(t, i+1, q.NumRequeues("a"))
	}

	wait("b", time.Second)
	assert.Equal(t, 1, q.NumRequeues("b"))
	assert.Equal(t, 5, q.NumRequeues("a"))

	q.Forget("a")
	assert.Zero(t, q.NumRequeues("a"))
	wait("a", time.Second)
}

func TestQueueForgetDoesNotCancelADelayedAdd(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	q.Forget("a")
	q.AddRateLimited("a")
	q.Forget("a")
	clk.advance(time.Second)
	assert.Equal(t, 1, q.Len())
}

func TestQueueJitterComesFromTheGivenSource(t *testing.T) {
	t.Parallel()

	for random, want := range map[float64]time.Duration{0: 900 * time.Millisecond, 0.5: time.Second} {
		clk := newHandClock()
		q := queue.NewQueue[string](clk, queue.WithRandom(func() float64 { return random }))

		q.AddRateLimited("a")
		clk.advance(want - 1)
		assert.Zero(t, q.Len())
		clk.advance(1)
		assert.Equal(t, 1, q.Len())
		q.ShutDown()
	}
}

func TestQueueRefusesAPolicyThatIsNotValid(t *testing.T) {
	t.Parallel()

	assert.PanicsWithValue(t, "queue: NewQueue with a policy that is not valid: backoff: Base is 0s, it must be above 0", func() {
		queue.NewQueue[string](nil, queue.WithBackoff(backoff.Policy{}))
	})
}

func TestQueueGetWaitsForAnItem(t *testing.T) {
	t.Parallel()

	for how, add := range map[string]func(*queue.Queue[string]){
		"added":          func(q *queue.Queue[string]) { q.Add("a") },
		"delayed":        func(q *queue.Queue[string]) { q.AddAfter("a", time.Hour) },
		"rate limited":   func(q *queue.Queue[string]) { q.AddRateLimited("a") },
		"put back":       func(q *queue.Queue[string]) { q.Add("x"); q.Done("x") },
		"shut down only": func(*queue.Queue[string]) {},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				q := queue.NewQueue[string](nil)

				if how == "put back" {
					q.Add("x")
					get(t, q)
				}

				got, shut := make(chan string), make(chan bool)

				for range 3 {
					go func() {
						item, shutdown := q.Get()
						if shutdown {
							shut <- true

							return
						}

						got <- item
					}()
				}

				synctest.Wait()
				add(q)

				left := 3

				if how != "shut down only" {
					<-got

					left--
				}

				synctest.Wait()
				q.ShutDown()

				for range left {
					assert.True(t, <-shut, "those who got nothing are told of the end")
				}
			})
		})
	}
}

func TestQueueGetSeesWhatIsDueBeforeTheTimerDoes(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		clk := newHandClock()
		q := queue.NewQueue[string](clk)

		q.AddAfter("a", time.Second)
		clk.move(time.Second)

		item, _ := q.Get()
		assert.Equal(t, "a", item)
		q.ShutDown()
	})
}

func TestQueueShutDown(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	q.Add("out, put again")
	get(t, q)
	q.Add("out, put again")
	q.Add("ready")
	q.AddAfter("due", time.Second)
	q.AddAfter("delayed", time.Hour)
	clk.move(time.Second)

	q.ShutDown()
	assert.Zero(t, clk.running(), "the timer is stopped")

	q.Add("too late")
	q.AddAfter("too late", 0)
	q.AddAfter("too late", time.Second)
	q.AddRateLimited("too late")
	assert.Zero(t, q.NumRequeues("too late"))
	assert.Zero(t, clk.running())

	q.ShutDown()
	clk.advance(2 * time.Hour)
	assert.Equal(t, 2, q.Len(), "what was ready is still there, what was delayed is not")
	assert.Equal(t, "ready", get(t, q))
	assert.Equal(t, "due", get(t, q))

	_, shutdown := q.Get()
	assert.True(t, shutdown)

	q.Done("out, put again")
	assert.Equal(t, "out, put again", get(t, q), "it was added before the end")

	_, shutdown = q.Get()
	assert.True(t, shutdown)
}

func TestQueueShutDownWaitsForTheTimer(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		clk := &setClock{
			FakeClock: clockwork.NewFakeClock(),
			setting:   func() {},
			wrap:      func(f func()) { <-release; f() },
		}
		q := queue.NewQueue[string](clk)

		// The timer fires once and is over.
		q.AddAfter("a", time.Second)
		clk.Advance(time.Second)
		release <- struct{}{}
		synctest.Wait()

		// It fires again, and once more before that is over.
		for range 2 {
			q.AddAfter("a", time.Second)
			clk.Advance(time.Second)
		}

		over := make(chan struct{}, 2)

		for range 2 {
			go func() { q.ShutDown(); over <- struct{}{} }()
		}

		for range 2 {
			synctest.Wait()
			assert.Empty(t, over, "ShutDown returned while the timer was running")
			release <- struct{}{}
		}

		<-over
		<-over
	})
}

func TestQueueClockThatMovesWhileTheTimerIsSet(t *testing.T) {
	t.Parallel()

	for _, moved := range []time.Duration{time.Millisecond, 500 * time.Millisecond, time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			clk := &setClock{FakeClock: clockwork.NewFakeClock(), wrap: func(f func()) { f() }}
			left := 2
			clk.setting = func() {
				if left--; left >= 0 {
					clk.Advance(moved / 2)
				}
			}

			q := queue.NewQueue[string](clk)
			defer q.ShutDown()

			q.AddAfter("a", time.Second)

			if moved < time.Second {
				clk.Advance(time.Second - moved)
			}

			// If the timer were late, Get would wait for ever, and the bubble would fail.
			item, _ := q.Get()
			assert.Equal(t, "a", item)
		})
	}
}

func TestQueueDelayBeyondTheEndOfTime(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		q := queue.NewQueue[string](nil)

		<-time.After(time.Hour)
		q.AddAfter("a", math.MaxInt64)
		q.AddAfter("b", time.Hour)
		<-time.After(2 * time.Hour)
		assert.Equal(t, queue.Stats{Ready: 1, Delayed: 1, OldestWait: time.Hour}, q.Stats())
		q.ShutDown()
	})
}

func TestQueueStats(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	q.Add("a")
	clk.advance(time.Second)
	q.Add("b")
	q.Add("a")
	q.AddAfter("c", 3*time.Second)
	q.AddAfter("d", 30*time.Second)
	clk.advance(4 * time.Second)
	assert.Equal(t, queue.Stats{Ready: 3, Delayed: 1, OldestWait: 5 * time.Second}, q.Stats())

	get(t, q)
	get(t, q)
	assert.Equal(t, queue.Stats{Ready: 1, Delayed: 1, Processing: 2, OldestWait: time.Second}, q.Stats(),
		"a delayed item waits from its due time on")
}

func TestQueueHoursPassInAnInstant(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		q := queue.NewQueue[int](nil)
		start := time.Now()

		for i := range 100 {
			q.AddAfter(i, time.Duration(100-i)*time.Hour)
		}

		for i := range 100 {
			item, _ := q.Get()
			assert.Equal(t, 99-i, item)
			assert.Equal(t, time.Duration(i+1)*time.Hour, time.Since(start))
			q.Done(item)
		}

		q.AddAfter(1, time.Hour)
		q.ShutDown()
	})
}
