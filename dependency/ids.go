package dependency

import (
	"maps"

	"github.com/cosi-project/runtime/pkg/resource"
)

// idMap finds inputs by their id. It is not changed once others may be reading it: an update begins with a clone. So that it costs
// little to change one of many, a clone has most of them in common with the others, and only those of its own that were changed lately.
type idMap[T any] struct {
	settled map[resource.ID]*dependent[T]
	// changed goes before settled, where nil stands for what was removed.
	changed map[resource.ID]*dependent[T]
	count   int
}

func (m *idMap[T]) find(id resource.ID) *dependent[T] {
	if len(m.changed) > 0 {
		if d, ok := m.changed[id]; ok {
			return d
		}
	}

	return m.settled[id]
}

// clone returns a map with the same inputs, which may be changed.
func (m *idMap[T]) clone() idMap[T] {
	switch n := len(m.changed); {
	case len(m.settled) == 0:
		return idMap[T]{settled: m.changed, count: m.count}
	case n*n <= 4*len(m.settled): // a clone takes less than it does, on average, to put all into one map now and then
		return idMap[T]{m.settled, maps.Clone(m.changed), m.count}
	}

	all := make(map[resource.ID]*dependent[T], m.count)

	for id, d := range m.settled {
		if _, ok := m.changed[id]; !ok {
			all[id] = d
		}
	}

	for id, d := range m.changed {
		if d != nil {
			all[id] = d
		}
	}

	return idMap[T]{settled: all, count: m.count}
}

// put enters an input, in place of one with the same id.
func (m *idMap[T]) put(id resource.ID, d *dependent[T]) {
	if m.find(id) == nil {
		m.count++
	}

	if m.changed == nil {
		m.changed = map[resource.ID]*dependent[T]{}
	}

	m.changed[id] = d
}

// remove takes an input away, unless another one answers for its id by now.
func (m *idMap[T]) remove(id resource.ID, d *dependent[T]) {
	if m.find(id) != d {
		return
	}

	m.count--

	if _, ok := m.settled[id]; !ok {
		delete(m.changed, id)

		return
	}

	if m.changed == nil {
		m.changed = map[resource.ID]*dependent[T]{}
	}

	m.changed[id] = nil
}
