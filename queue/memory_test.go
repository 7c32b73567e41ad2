package queue_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/queue"
)

// These tests measure, so none of them is parallel to any other.

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	clk := newHandClock()
	plain := queue.NewQueue[int](clk)
	keyed := queue.NewKeyed(clk, queue.KeyedConfig[int, int]{
		Merge: func(older, newer int) int { return older + newer },
		Ready: func() {},
	})

	defer plain.ShutDown()
	defer keyed.Stop()

	next := 0
	items := make([]item[int, int], 10)
	batch := all(items...)

	for name, operation := range map[string]func(){
		"Queue: add, get, done": func() {
			plain.Add(next % 1000)

			item, _ := plain.Get()
			plain.Done(item)
		},
		"Queue: add while out": func() {
			plain.Add(1)

			item, _ := plain.Get()
			plain.Add(item)
			plain.Done(item)

			item, _ = plain.Get()
			plain.Done(item)
		},
		"Queue: add later": func() {
			plain.AddAfter(next%1000, time.Second)
			plain.AddAfter(next%1000, 2*time.Second)
			clk.advance(2 * time.Second)

			item, _ := plain.Get()
			plain.Done(item)
		},
		"Queue: wait": func() {
			plain.Add(1)

			item, _ := plain.Get()
			plain.DoneAfter(item, time.Second)
			clk.advance(time.Second)

			item, _ = plain.Get()
			plain.Done(item)
		},
		"Queue: back off": func() {
			plain.AddRateLimited(1)
			clk.advance(time.Minute)

			item, _ := plain.Get()
			plain.Forget(item)
			plain.Done(item)
		},
		"Keyed: put, take, done": func() {
			keyed.Put(next%1000, 1, queue.Live)

			key, _, _ := keyed.Take()
			keyed.Done(key)
		},
		"Keyed: keys never seen before": func() {
			keyed.Put(next, 1, queue.Live)

			key, _, _ := keyed.Take()
			keyed.Done(key)
		},
		"Keyed: put in every state": func() {
			keyed.Put(1, 1, queue.Fill)
			keyed.Put(1, 1, queue.Live)

			key, value, _ := keyed.Take()
			keyed.Put(key, 1, queue.Fill)
			keyed.Fail(key)
			keyed.Retry(key, value, time.Hour)
			keyed.Put(key, 1, queue.Live)

			key, _, _ = keyed.Take()
			keyed.Forget(key)
			keyed.Done(key)
		},
		"Keyed: retry later": func() {
			keyed.Put(next%1000, 1, queue.Live)

			key, value, _ := keyed.Take()
			keyed.Retry(key, value, time.Second)
			clk.advance(time.Second)

			key, _, _ = keyed.Take()
			keyed.Done(key)
		},
		"Keyed: batches": func() {
			for i := range items {
				items[i] = item[int, int]{i, next}
			}

			keyed.PutAll(batch, queue.Fill)

			for key, _, ok := keyed.Take(); ok; key, _, ok = keyed.Take() {
				keyed.Done(key)
			}
		},
		"looking": func() {
			keyed.Stats()
			keyed.HasReady()
			keyed.Failures(1)
			plain.Stats()
			plain.NumRequeues(1)
		},
	} {
		allocations := testing.AllocsPerRun(5000, func() {
			operation()

			next++
		})

		want := 0.0
		if name == "Keyed: batches" {
			want = 3 // for the loop over the iterator, however many keys there are
		}

		assert.LessOrEqual(t, allocations, want, name)
	}
}

func TestMemoryFollowsTheBacklogDown(t *testing.T) {
	const (
		n    = 50_000
		left = 32 << 10
	)

	keys := engineKeys(n)
	clk := newHandClock()

	t.Run("Keyed", func(t *testing.T) {
		q := queue.NewKeyed(clk, engineConfig)
		defer q.Stop()

		before := heapInUse()

		// One key each stays behind as failed, processing, and delayed.
		for _, key := range keys[:3] {
			q.Put(key, nil, queue.Live)
			q.Take()
		}

		q.Retry(keys[2], nil, 1000*time.Hour)
		q.Fail(keys[0])
		q.Done(keys[0])

		for _, key := range keys[3:] {
			q.Put(key, nil, queue.Live)
			q.Take()
			q.Retry(key, nil, time.Hour)
		}

		full := heapInUse()

		clk.advance(time.Hour)

		for key, _, ok := q.Take(); ok; key, _, ok = q.Take() {
			q.Done(key)
		}

		drained := heapInUse()

		assert.Less(t, int64(full-before)/n, int64(150), "bytes a delayed key")
		assert.Less(t, int64(drained-before), int64(left), "a small heap stays")
		assert.Equal(t, queue.Stats{Delayed: 1, Processing: 1}, q.Stats())
		assert.Equal(t, 1, q.Failures(keys[0]))

		q.Done(keys[1])
		clk.advance(1000 * time.Hour)

		key, _, _ := q.Take()
		assert.Equal(t, keys[2], key)
	})

	t.Run("Queue", func(t *testing.T) {
		q := queue.NewQueue[engineKey](clk)
		defer q.ShutDown()

		before := heapInUse()

		for _, key := range keys {
			q.AddAfter(key, time.Hour)
		}

		clk.advance(time.Hour)

		for range keys {
			item, _ := q.Get()
			q.Done(item)
		}

		assert.Less(t, int64(heapInUse()-before), int64(left))
		assert.Zero(t, q.Stats())
	})

	// What stays is not next to each other.
	t.Run("but for some", func(t *testing.T) {
		q := queue.NewKeyed(clk, engineConfig)
		defer q.Stop()

		before := heapInUse()

		for _, key := range keys {
			q.Put(key, nil, queue.Live)
		}

		for i := range keys {
			if key, _, _ := q.Take(); i%100 == 0 {
				q.Retry(key, nil, time.Hour)
			} else {
				q.Done(key)
			}
		}

		assert.Less(t, int64(heapInUse()-before), int64(left+n/100*1000))
		assert.Equal(t, queue.Stats{Delayed: n / 100}, q.Stats())
	})
}

func TestMemoryOfAWaitingKey(t *testing.T) {
	const n = 100_000

	keys := engineKeys(n)
	q := queue.NewKeyed(nil, engineConfig)

	defer q.Stop()

	before := heapInUse()

	for _, key := range keys {
		q.Put(key, nil, queue.Live)
	}

	assert.LessOrEqual(t, int64(heapInUse()-before)/n, int64(100))
	assert.Equal(t, n, q.Len())
}

// What has left a queue is not kept alive by it, through free lists, the heap, or a value that was taken.
func TestWhatHasLeftIsNotKept(t *testing.T) {
	clk := newHandClock()
	plain := queue.NewQueue[*[64]byte](clk)
	keyed := queue.NewKeyed(clk, queue.KeyedConfig[*[64]byte, *[64]byte]{})

	var left []weak.Pointer[[64]byte]

	object := func() *[64]byte {
		o := new([64]byte)
		left = append(left, weak.Make(o))

		return o
	}

	for range 5 {
		plain.AddAfter(object(), time.Second)
		keyed.Put(object(), object(), queue.Fill)

		key, value, _ := keyed.Take()
		keyed.Retry(key, value, time.Second)
		keyed.Fail(object())
	}

	clk.advance(time.Second)

	for plain.Len() > 0 {
		item, _ := plain.Get()
		plain.Done(item)
	}

	for key, _, ok := keyed.Take(); ok; key, _, ok = keyed.Take() {
		keyed.Done(key)
	}

	for _, failed := range left {
		keyed.Forget(failed.Value())
	}

	// The value of a key that is out belongs to whoever took it.
	out := new([64]byte)
	keyed.Put(out, object(), queue.Live)
	keyed.Take()
	heapInUse()
	assert.Nil(t, left[len(left)-1].Value(), "a value that was taken")

	// Nor does Stop leave the value of a key that was put while it was out.
	again := new([64]byte)
	keyed.Put(again, nil, queue.Live)
	keyed.Take()
	keyed.Put(again, object(), queue.Live)
	keyed.Stop()

	heapInUse()

	for i, o := range left {
		assert.Nil(t, o.Value(), "object %d", i)
	}

	assert.Equal(t, 2, keyed.Stats().Processing)
	plain.ShutDown()
}

// A table that has grown and shrunk still knows every key, wherever it is, and however it finds it.
func TestNothingIsForgottenWhenTablesShrink(t *testing.T) {
	for name, hash := range map[string]func(int) uint64{
		"no hash":   nil,
		"good hash": func(key int) uint64 { return hashOf(strconv.Itoa(key)) },
		"poor hash": func(key int) uint64 { return hashOf(strconv.Itoa(key / 16)) },
		"counting":  func(key int) uint64 { return uint64(key) },
	} {
		t.Run(name, func(t *testing.T) { growAndShrink(t, hash) })
	}
}

func growAndShrink(t *testing.T, hash func(int) uint64) {
	const n = 50_000

	clk := newHandClock()
	q := queue.NewKeyed(clk, queue.KeyedConfig[int, int]{Hash: hash})

	defer q.Stop()

	for _, key := range []int{-1, -2} {
		q.Put(key, key, queue.Live)
		q.Take()
		q.Retry(key, key, time.Hour)
	}

	q.Fail(-3)
	q.Put(-4, -4, queue.Live)
	q.Take()

	// One in 14 is Fill, so that both lanes hold keys when the table shrinks. Some come one by one, the others together.
	var together []item[int, int]

	for key := range n {
		switch {
		case key%14 == 0:
			q.Put(key, key, queue.Fill)
		case key%2 == 0:
			q.Put(key, key, queue.Live)
		default:
			together = append(together, item[int, int]{key, key})
		}
	}

	q.PutAll(all(together...), queue.Live)
	require.Equal(t, n, q.Len())

	random := rand.New(rand.NewPCG(1, 1))
	out := []int{}
	seen := map[int]bool{}

	for len(seen) < n {
		if key, value, ok := q.Take(); ok {
			require.Equal(t, key, value)
			require.False(t, seen[key], "handed out twice")

			seen[key] = true
			out = append(out, key)
		}

		// They are done in another order than that in which they were taken.
		if len(out) == 1000 {
			for _, i := range random.Perm(len(out)) {
				q.Done(out[i])
			}

			out = out[:0]
		}
	}

	require.Empty(t, out)
	assert.Equal(t, 1, q.Failures(-3))
	q.Put(-1, -1, queue.Live)
	q.Put(-2, -2, queue.Fill)
	q.Put(-4, -4, queue.Live)
	assert.Equal(t, queue.Stats{Ready: 1, Delayed: 1, Processing: 1}, q.Stats())
}
