package queue_test

import (
	"iter"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// item is a key with its value.
type item[K, V any] struct {
	key   K
	value V
}

func all[K, V any](items ...item[K, V]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, i := range items {
			if !yield(i.key, i.value) {
				return
			}
		}
	}
}
