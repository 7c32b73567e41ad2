package index

import (
	"cmp"
	"iter"
	"slices"
)

// blockSize is how many entries of a map are allocated at once.
const blockSize = 64

// Map holds a value for each of many strings, which may be millions. Entries lie in blocks, one after the other, and are
// found by an [Index]: that takes two thirds of the memory of Go's map or less, nothing is copied when it grows, and what is
// put in a row waits for memory less. It gives memory back when it is empty. It is not safe for concurrent use. The zero
// value is empty.
type Map[V any] struct {
	index  Index
	blocks []*[blockSize]entry[V]
	// used counts the places that were ever used, and free names those of them that are not any more.
	used int
	free []Ref
}

type entry[V any] struct {
	key   string
	value V
}

// Len returns how many keys there are.
func (m *Map[V]) Len() int { return m.used - len(m.free) }

// Get returns the value of a key, or false if there is none.
func (m *Map[V]) Get(key string) (value V, ok bool) {
	if at := m.At(key); at != nil {
		return *at, true
	}

	return value, false
}

// At returns where the value of a key is, or nil if there is none. It is there until the map is changed.
func (m *Map[V]) At(key string) *V {
	r := m.find(key, Spread(Hash(key, 0)))
	if r == 0 {
		return nil
	}

	return &m.at(r).value
}

// Put sets the value of a key.
func (m *Map[V]) Put(key string, value V) {
	hash := Spread(Hash(key, 0))

	r := m.find(key, hash)
	if r == 0 {
		r = m.place()
		m.index.Add(hash, r)
	}

	*m.at(r) = entry[V]{key, value}
}

// Delete takes out a key, if it is there.
func (m *Map[V]) Delete(key string) {
	hash := Spread(Hash(key, 0))

	r := m.find(key, hash)
	if r == 0 {
		return
	}

	m.index.Remove(hash, r)
	*m.at(r) = entry[V]{}
	m.free = append(m.free, r)

	if m.Len() == 0 {
		*m = Map[V]{}
	}
}

// All yields all keys in order, with their values. The map must not be changed meanwhile.
func (m *Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		free := make(map[Ref]bool, len(m.free))
		for _, r := range m.free {
			free[r] = true
		}

		sorted := make([]*entry[V], 0, m.Len())

		for i := range m.used {
			if r := Ref(i + 1); !free[r] {
				sorted = append(sorted, m.at(r))
			}
		}

		slices.SortFunc(sorted, func(a, b *entry[V]) int { return cmp.Compare(a.key, b.key) })

		for _, e := range sorted {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

func (m *Map[V]) at(r Ref) *entry[V] { return &m.blocks[(r-1)/blockSize][(r-1)%blockSize] }

func (m *Map[V]) find(key string, hash uint32) Ref {
	return m.index.Find(hash, func(r Ref) bool { return m.at(r).key == key })
}

// place returns a place that is not used.
func (m *Map[V]) place() Ref {
	if last := len(m.free) - 1; last >= 0 {
		r := m.free[last]
		m.free = m.free[:last]

		return r
	}

	if m.used == len(m.blocks)*blockSize {
		m.blocks = append(m.blocks, new([blockSize]entry[V]))
	}

	m.used++

	return Ref(m.used)
}
