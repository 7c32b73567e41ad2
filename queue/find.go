package queue

import "github.com/switchyard-run/switchyard/internal/index"

// hashOf returns the hash by which a key is found.
func (t *table[K, V]) hashOf(key K) uint32 {
	if t.hash == nil {
		return 0
	}

	return index.Spread(t.hash(key))
}

// find returns the entry of a key, or none.
func (t *table[K, V]) find(key K, hash uint32) ref {
	if t.hash == nil {
		return t.plain[key]
	}

	return t.index.Find(hash, func(r ref) bool { return t.entries.at(r).key == key })
}

// create returns a detached entry for a key that has none.
func (t *table[K, V]) create(key K, hash uint32) ref {
	r := t.entries.take()
	e := t.entries.at(r)
	e.key, e.hash = key, hash
	t.enter(r)

	return r
}

// enter has an entry be found.
func (t *table[K, V]) enter(r ref) {
	e := t.entries.at(r)

	switch {
	case t.hash != nil:
		t.index.Add(e.hash, r)
	case t.plain == nil:
		t.plain = map[K]ref{e.key: r}
	default:
		t.plain[e.key] = r
	}
}

// leave has an entry be found no more.
func (t *table[K, V]) leave(r ref) {
	if e := t.entries.at(r); t.hash != nil {
		t.index.Remove(e.hash, r)
	} else {
		delete(t.plain, e.key)
	}
}

// pack moves all that is in the lists and in the heap into new memory, as much as it needs. It takes time with what is
// there, not with what once was.
func (t *table[K, V]) pack() {
	old := t.entries

	t.entries, t.index, t.plain = slab[K, V]{spare: old.spare}, index.Index{}, nil

	move := func(from ref) (to ref) {
		to = t.entries.take()
		*t.entries.at(to) = *old.at(from)
		t.enter(to)

		return to
	}

	for _, l := range []*list{t.line(Live), t.line(Fill), &t.out, &t.idle} {
		var moved list

		for r := l.head; r != 0; r = old.at(r).next {
			t.entries.append(&moved, move(r))
		}

		*l = moved
	}

	for i := range t.delayed.slots {
		t.delayed.slots[i].element = move(t.delayed.slots[i].element)
	}
}
