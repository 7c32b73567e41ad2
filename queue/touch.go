package queue

import (
	"iter"
	"time"
)

const (
	// ahead is how many keys are touched together.
	ahead = 16
	// farthest is the number of parts from which on an index is not in the processor's cache.
	farthest = 64
)

// far tells whether it is worth while to touch keys. The index of a large queue is not in the processor's cache, so each
// look-up waits for memory, which takes longer than all the rest. For keys that are touched one right after the other, it
// waits once.
func (t *table[K, V]) far() bool { return len(t.index.directory) >= farthest }

// touch reads where a key with the hash will be looked for.
func (t *table[K, V]) touch(hash uint32) {
	if s := t.index.segment(hash); s != nil {
		t.touched ^= s.cells[s.home(hash)]
	}
}

// touchNext touches the keys that will be taken after one in its lane: when they are done, they are looked for.
func (t *table[K, V]) touchNext(r ref) {
	if t.untouched--; t.untouched > 0 || !t.far() {
		return
	}

	for t.untouched = 0; t.untouched < ahead && r != 0; t.untouched++ {
		e := t.entries.at(r)
		t.touch(e.hash)
		r = e.next
	}
}

// putAll is put for each of the items, of which it touches some at a time. It tells whether any key became ready by it.
func (t *table[K, V]) putAll(items iter.Seq2[K, V], lane Lane, now time.Duration) (ready bool) {
	if !t.far() {
		for key, value := range items {
			ready = t.put(key, t.hashOf(key), value, lane, now) || ready
		}

		return ready
	}

	type item struct {
		key   K
		hash  uint32
		value V
	}

	batch := make([]item, 0, ahead)

	flush := func() {
		for i := range batch {
			t.touch(batch[i].hash)
		}

		for i := range batch {
			ready = t.put(batch[i].key, batch[i].hash, batch[i].value, lane, now) || ready
		}

		batch = batch[:0]
	}

	for key, value := range items {
		if batch = append(batch, item{key, t.hashOf(key), value}); len(batch) == ahead {
			flush()
		}
	}

	flush()

	return ready
}
