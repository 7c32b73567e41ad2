package queue_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/queue"
)

const (
	raceKeys      = 50
	raceProducers = 4
	raceWorkers   = 4
	raceChanges   = 3000
)

// subject is a thing that changes and is worked on.
type subject struct {
	// changed is how often it was changed, seen up to which change it was worked on.
	changed, seen atomic.Int64
	// hands is how many workers hold it.
	hands atomic.Int32
}

// work is one pass over a subject by the worker that took it. It returns false if another holds it, too.
func (s *subject) work() bool {
	alone := s.hands.Add(1) == 1
	s.seen.Store(s.changed.Load())

	return alone && s.hands.Add(-1) == 0
}

// produce changes subjects at random on several goroutines, and calls put after each change.
func produce(put func(random *rand.Rand, key int), subjects []subject) {
	var producers sync.WaitGroup

	for p := range raceProducers {
		producers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(p), 0))

			for range raceChanges {
				key := random.IntN(len(subjects))
				subjects[key].changed.Add(1)
				put(random, key)
			}
		})
	}

	producers.Wait()
}

func TestQueueManyProducersAndWorkers(t *testing.T) {
	t.Parallel()

	q := queue.NewQueue[int](nil, queue.WithBackoff(backoff.Policy{Base: time.Microsecond, Factor: 1, Max: time.Microsecond}))
	subjects := make([]subject, raceKeys)

	var (
		workers sync.WaitGroup
		shared  atomic.Int64
	)

	for range raceWorkers {
		workers.Go(func() {
			for i := 0; ; i++ {
				key, shutdown := q.Get()
				if shutdown {
					return
				}

				if !subjects[key].work() {
					shared.Add(1)
				}

				if i%10 == 0 {
					q.AddRateLimited(key)
				} else {
					q.Forget(key)
				}

				q.Done(key)
			}
		})
	}

	produce(func(random *rand.Rand, key int) {
		if random.IntN(3) == 0 {
			q.AddAfter(key, time.Duration(random.IntN(100))*time.Microsecond)
		} else {
			q.Add(key)
		}
	}, subjects)

	require.Eventually(t, func() bool { return q.Stats() == queue.Stats{} }, time.Minute, time.Millisecond)
	q.ShutDown()
	workers.Wait()

	assert.Zero(t, shared.Load(), "an item was in two hands")

	for key := range subjects {
		assert.Equal(t, subjects[key].changed.Load(), subjects[key].seen.Load(), "a change of %d was lost", key)
	}
}

func TestKeyedManyProducersAndWorkers(t *testing.T) {
	t.Parallel()

	wake := make(chan struct{}, 1)
	poke := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}

	q := queue.NewKeyed(nil, queue.KeyedConfig[int, int]{
		Merge: func(older, newer int) int { return older + newer },
		Ready: poke,
	})
	subjects := make([]subject, raceKeys)
	stop := make(chan struct{})

	var (
		workers             sync.WaitGroup
		shared, put, worked atomic.Int64
	)

	work := func(i int) bool {
		key, value, ok := q.Take()
		if !ok {
			return false
		}

		if q.HasReady() {
			poke()
		}

		if !subjects[key].work() {
			shared.Add(1)
		}

		switch {
		case i%10 == 0:
			q.Fail(key)
			q.Retry(key, value, time.Duration(i%3)*20*time.Microsecond)
		default:
			worked.Add(int64(value))
			q.Forget(key)
			q.Done(key)
		}

		return true
	}

	for range raceWorkers {
		workers.Go(func() {
			for i := 0; ; {
				select {
				case <-stop:
					return
				case <-wake:
				}

				for work(i) {
					i++
				}
			}
		})
	}

	produce(func(random *rand.Rand, key int) {
		put.Add(1)

		switch random.IntN(3) {
		case 0:
			q.PutAll(all(item[int, int]{key, 1}), queue.Fill)
		case 1:
			q.Put(key, 1, queue.Fill)
		default:
			q.Put(key, 1, queue.Live)
		}
	}, subjects)

	require.Eventually(t, func() bool { return q.Stats() == queue.Stats{} }, time.Minute, time.Millisecond)
	close(stop)
	workers.Wait()
	q.Stop()

	assert.Zero(t, shared.Load(), "a key was in two hands")
	assert.Equal(t, put.Load(), worked.Load(), "a value was lost or handed out twice")

	for key := range subjects {
		assert.Equal(t, subjects[key].changed.Load(), subjects[key].seen.Load(), "a change of %d was lost", key)
	}
}

// Everything is called by everybody while the queues end.
func TestEndingWhileInUse(t *testing.T) {
	t.Parallel()

	for range 50 {
		plain := queue.NewQueue[int](nil)
		keyed := queue.NewKeyed(nil, queue.KeyedConfig[int, int]{Ready: func() {}})

		var users sync.WaitGroup

		for u := range raceWorkers {
			users.Go(func() {
				for i := range 100 {
					plain.AddAfter(i, time.Duration(i%7)*time.Microsecond)
					plain.AddRateLimited(i)
					plain.Add(u)

					item, _ := plain.Get()
					plain.DoneAfter(item, time.Duration(i%3)*time.Microsecond)

					item, _ = plain.Get()
					plain.DoneRateLimited(item)
					plain.Stats()

					keyed.Put(i, i, queue.Lane(i%2))

					if key, value, ok := keyed.Take(); ok {
						keyed.Retry(key, value, time.Duration(i%7)*time.Microsecond)
					}

					keyed.Pending()
				}
			})
		}

		for range 2 {
			users.Go(func() {
				plain.ShutDown()
				keyed.Stop()
			})
		}

		users.Wait()
		assert.Zero(t, plain.Stats().Delayed)
		assert.Equal(t, keyed.Stats().Processing, len(keyed.Pending()))
	}
}
