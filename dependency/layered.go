package dependency

import "maps"

// layered is a map that is not changed once others may be reading it: an update begins with a clone, and ends with settle. So that it
// costs little to change one of many, a clone has most of them in common with the others, and only those of its own that were changed
// lately. There are no nil values.
type layered[K comparable, V any] struct {
	settled map[K]*V
	// changed goes before settled, where nil stands for what was removed.
	changed map[K]*V
	count   int
}

func (m *layered[K, V]) find(key K) *V {
	if len(m.changed) > 0 {
		if v, ok := m.changed[key]; ok {
			return v
		}
	}

	return m.settled[key]
}

// clone returns a map with the same entries, which may be changed.
func (m *layered[K, V]) clone() layered[K, V] {
	return layered[K, V]{m.settled, maps.Clone(m.changed), m.count}
}

// put enters a value, in place of one with the same key.
func (m *layered[K, V]) put(key K, v *V) {
	if m.find(key) == nil {
		m.count++
	}

	if m.changed == nil {
		m.changed = map[K]*V{}
	}

	m.changed[key] = v
}

// remove takes a value away, unless another one answers for its key by now.
func (m *layered[K, V]) remove(key K, v *V) {
	if m.find(key) != v {
		return
	}

	m.count--

	if _, ok := m.settled[key]; !ok {
		delete(m.changed, key)

		return
	}

	if m.changed == nil {
		m.changed = map[K]*V{}
	}

	m.changed[key] = nil
}

// settle ends an update: it merges where the next clones would take more than that does, on average, where most of what is settled was
// removed, and where there is little. What was replaced or removed is kept by what is settled until then. It tells whether much was removed.
func (m *layered[K, V]) settle() (shrunk bool) {
	n := len(m.changed)
	shrunk = len(m.settled) > handful && 2*m.count < len(m.settled)

	if shrunk || n*n > 4*len(m.settled) || len(m.settled) <= handful {
		m.merge()
	}

	return shrunk
}

// merge puts all into one map.
func (m *layered[K, V]) merge() {
	switch {
	case len(m.changed) == 0:
		return
	case len(m.settled) == 0:
		m.settled, m.changed = m.changed, nil

		return
	}

	all := make(map[K]*V, m.count)

	for key, v := range m.settled {
		if _, ok := m.changed[key]; !ok {
			all[key] = v
		}
	}

	for key, v := range m.changed {
		if v != nil {
			all[key] = v
		}
	}

	m.settled, m.changed = all, nil
}
