package queue

// hashOf returns the hash by which a key is found. It is good in its first and in its last bits where what the owner
// returns is not, such as a number that counts.
func (t *table[K, V]) hashOf(key K) uint32 {
	if t.hash == nil {
		return 0
	}

	hash := t.hash(key)

	return uint32((hash ^ hash>>32) * 0x9e3779b97f4a7c15 >> 32)
}

// find returns the entry of a key, or none.
func (t *table[K, V]) find(key K, hash uint32) ref {
	if t.hash == nil {
		return t.plain[key]
	}

	s := t.index.segment(hash)
	if s == nil {
		return 0
	}

	for at := s.home(hash); s.cells[at] != 0; at = s.next(at) {
		if c := s.cells[at]; c.hash() == hash && t.entries.at(c.ref()).key == key {
			return c.ref()
		}
	}

	return 0
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
		t.index.add(e.hash, r)
	case t.plain == nil:
		t.plain = map[K]ref{e.key: r}
	default:
		t.plain[e.key] = r
	}
}

// leave has an entry be found no more.
func (t *table[K, V]) leave(r ref) {
	if e := t.entries.at(r); t.hash != nil {
		t.index.remove(e.hash, r)
	} else {
		delete(t.plain, e.key)
	}
}

// pack moves all that is in the lists and in the heap into new memory, as much as it needs. It takes time with what is
// there, not with what once was.
func (t *table[K, V]) pack() {
	old := t.entries

	t.entries, t.index, t.plain = slab[K, V]{spare: old.spare}, index{}, nil

	move := func(from ref) (to ref) {
		to = t.entries.take()
		*t.entries.at(to) = *old.at(from)
		t.enter(to)

		return to
	}

	for _, l := range []*list{&t.ready[Live], &t.ready[Fill], &t.out, &t.idle} {
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
