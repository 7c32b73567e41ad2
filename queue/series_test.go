package queue_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/queue"
)

// sortedQueue returns a queue of numbers that holds the ones below n, put in order, ten at a time.
func sortedQueue(n int) *queue.Keyed[int, string] {
	q := queue.NewKeyed(nil, queue.KeyedConfig[int, string]{
		Hash: func(key int) uint64 { return uint64(key) }, Compare: cmp.Compare[int],
		Merge: func(older, newer string) string { return older + "+" + newer },
	})

	for first := 0; first < n; first += 10 {
		keys := make([]int, 0, 10)
		for key := first; key < min(first+10, n); key++ {
			keys = append(keys, key)
		}

		q.PutSorted(keys)
	}

	return q
}

// A key that is put in order is like any other: it is there once, a live change takes it ahead, a value is kept for it.
func TestSortedKeysAreLikeOthers(t *testing.T) {
	t.Parallel()

	q := sortedQueue(25)
	defer q.Stop()

	first, _, ok := q.Take()
	require.True(t, ok)
	require.Zero(t, first)

	q.Put(24, "changed", queue.Live)
	q.Put(12, "changed", queue.Live)
	q.PutSorted([]int{0, 1, 12, 23})
	require.Equal(t, queue.Stats{Ready: 24, Processing: 1}, ready(q))

	for _, want := range []item[int, string]{{24, "+changed"}, {12, "+changed+"}} {
		key, value, ok := q.Take()
		require.Equal(t, item[int, string]{want.key, want.value}, item[int, string]{key, value})
		require.True(t, ok)
	}

	q.Done(0)

	var rest []int

	for key, _, ok := q.Take(); ok; key, _, ok = q.Take() {
		rest = append(rest, key)
	}

	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 0}, rest)
}

func ready(q *queue.Keyed[int, string]) queue.Stats {
	stats := q.Stats()
	stats.OldestWait = 0

	return stats
}

// What has come in order takes little more memory than the keys. It measures, so it is not parallel to any other.
func TestMemoryOfASortedKey(t *testing.T) {
	const n = 100_000

	before := heapInUse()
	q := sortedQueue(n)

	assert.Equal(t, n, q.Len())
	assert.LessOrEqual(t, (heapInUse()-before)/n, uint64(24), "bytes a key")

	q.Stop()
	assert.Less(t, heapInUse()-before, uint64(n))
}
