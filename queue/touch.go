package queue

import (
	"iter"
	"time"
)

// ahead is how many keys are touched together.
const ahead = 16

// far tells whether it is worth while to touch keys.
func (t *table[K, V]) far() bool { return t.index.Far() }

// touch reads where a key with the hash will be looked for.
func (t *table[K, V]) touch(hash uint32) { t.touched ^= t.index.Touch(hash) }

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
