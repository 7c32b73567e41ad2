package queue_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-run/switchyard/queue"
)

var sizes = []int{100, 20_000, 1_000_000}

// engineKey and engineValue are what an engine queues: a resource of one of its kinds and what is to be done with it, and
// for some what has happened to it.
type engineKey struct {
	id   string
	kind uint16
	job  byte
}

type engineValue *[6]uint64

var engineConfig = queue.KeyedConfig[engineKey, engineValue]{Hash: func(key engineKey) uint64 { return hashOf(key.id) }}

// hashOf is FNV-1a.
func hashOf(s string) uint64 {
	hash := uint64(14695981039346656037)

	for i := range len(s) {
		hash = (hash ^ uint64(s[i])) * 1099511628211
	}

	return hash
}

func engineKeys(n int) []engineKey {
	keys := make([]engineKey, n)

	for i := range keys {
		keys[i] = engineKey{id: fmt.Sprintf("resource-%07d", i), kind: 1, job: byte(i % 2)}
	}

	return keys
}

// BenchmarkKeyed puts the given number of keys, then takes and finishes them all.
func BenchmarkKeyed(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			keys := engineKeys(n)
			q := queue.NewKeyed(nil, engineConfig)

			defer q.Stop()

			for b.Loop() {
				for _, key := range keys {
					q.Put(key, nil, queue.Live)
				}

				for key, _, ok := q.Take(); ok; key, _, ok = q.Take() {
					q.Done(key)
				}
			}

			perItem(b, n)
		})
	}
}

// BenchmarkKeyedBatches puts the given number of keys, some at a time, then takes each as it finishes the one before.
func BenchmarkKeyedBatches(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			keys := engineKeys(n)
			q := queue.NewKeyed(nil, engineConfig)

			defer q.Stop()

			for b.Loop() {
				for part := range slices.Chunk(keys, 512) {
					q.PutAll(func(yield func(engineKey, engineValue) bool) {
						for _, key := range part {
							if !yield(key, nil) {
								return
							}
						}
					}, queue.Live)
				}

				for key, _, ok := q.Take(); ok; {
					key, _, ok = q.TakeNext(key)
				}
			}

			perItem(b, n)
		})
	}
}

// BenchmarkKeyedBacklog puts, takes and finishes one key after the other while the given number waits.
func BenchmarkKeyedBacklog(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			keys := engineKeys(n)
			q := queue.NewKeyed(nil, engineConfig)

			defer q.Stop()

			for _, key := range keys {
				q.Put(key, nil, queue.Live)
			}

			b.ReportAllocs()

			for b.Loop() {
				key, value, _ := q.Take()
				q.Done(key)
				q.Put(key, value, queue.Live)
			}
		})
	}
}

// BenchmarkQueue adds the given number of items, then gets and finishes them all.
func BenchmarkQueue(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			keys := engineKeys(n)
			q := queue.NewQueue[engineKey](nil)

			defer q.ShutDown()

			for b.Loop() {
				for _, key := range keys {
					q.Add(key)
				}

				for range keys {
					key, _ := q.Get()
					q.Done(key)
				}
			}

			perItem(b, n)
		})
	}
}

// BenchmarkRetry delays a key anew while 20,000 others are delayed.
func BenchmarkRetry(b *testing.B) {
	const delayed = 20_000

	keys := engineKeys(delayed)
	q := queue.NewKeyed(nil, engineConfig)

	defer q.Stop()

	for i, key := range keys {
		q.Put(key, nil, queue.Live)
		q.Take()
		q.Retry(key, nil, time.Hour+time.Duration(i*7919%delayed)*time.Second)
	}

	b.ReportAllocs()

	for i := 0; b.Loop(); i++ {
		q.Put(keys[i*6151%delayed], nil, queue.Live)
		key, value, _ := q.Take()
		q.Retry(key, value, time.Hour+time.Duration(i*7919%delayed)*time.Second)
	}
}

// BenchmarkAddAfter measures 20,000 delayed adds that all come due.
func BenchmarkAddAfter(b *testing.B) {
	const delayed = 20_000

	keys := engineKeys(delayed)
	clk := newHandClock()
	q := queue.NewQueue[engineKey](clk)

	defer q.ShutDown()

	for b.Loop() {
		for i, key := range keys {
			q.AddAfter(key, time.Duration(1+i*7919%delayed)*time.Second)
		}

		clk.advance(delayed * time.Second)

		for range keys {
			key, _ := q.Get()
			q.Done(key)
		}
	}

	perItem(b, delayed)
}

// BenchmarkKeyedMemory reports the heap bytes that a waiting key costs.
func BenchmarkKeyedMemory(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			keys := engineKeys(n)

			for b.Loop() {
				before := heapInUse()
				q := queue.NewKeyed(nil, engineConfig)

				for _, key := range keys {
					q.Put(key, nil, queue.Live)
				}

				b.ReportMetric(float64(heapInUse()-before)/float64(n), "B/item")
				q.Stop()
			}
		})
	}
}

// BenchmarkQueueMemory reports the heap bytes that a waiting item costs.
func BenchmarkQueueMemory(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			keys := engineKeys(n)

			for b.Loop() {
				before := heapInUse()
				q := queue.NewQueue[engineKey](nil)

				for _, key := range keys {
					q.Add(key)
				}

				b.ReportMetric(float64(heapInUse()-before)/float64(n), "B/item")
				q.ShutDown()
			}
		})
	}
}

func perItem(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
	b.ReportMetric(0, "ns/op")
}

// heapInUse returns the bytes of live objects.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()

	var stats runtime.MemStats

	runtime.ReadMemStats(&stats)

	return stats.HeapAlloc
}
