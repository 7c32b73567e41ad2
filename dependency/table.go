package dependency

import "slices"

// handful is how many entries are looked for one after the other. Most controllers have fewer inputs and outputs, for which a
// map is the larger part of the memory.
const handful = 8

// table is a map that is small while it has few entries.
type table[K comparable, V any] struct {
	few  []pair[K, V]
	many map[K]V
}

type pair[K comparable, V any] struct {
	key   K
	value V
}

// get returns the value of the key, or the zero value.
func (t *table[K, V]) get(key K) V {
	value, _ := t.lookup(key)

	return value
}

func (t *table[K, V]) lookup(key K) (V, bool) {
	if t.many != nil {
		value, ok := t.many[key]

		return value, ok
	}

	for i := range t.few {
		if t.few[i].key == key {
			return t.few[i].value, true
		}
	}

	var none V

	return none, false
}

func (t *table[K, V]) set(key K, value V) {
	if t.many == nil {
		for i := range t.few {
			if t.few[i].key == key {
				t.few[i].value = value

				return
			}
		}

		if len(t.few) < handful {
			t.few = append(t.few, pair[K, V]{key, value})

			return
		}

		t.many = make(map[K]V, 2*handful)

		for _, p := range t.few {
			t.many[p.key] = p.value
		}

		t.few = nil
	}

	t.many[key] = value
}

func (t *table[K, V]) remove(key K) {
	delete(t.many, key)
	t.few = slices.DeleteFunc(t.few, func(p pair[K, V]) bool { return p.key == key })

	if t.len() == 0 {
		*t = table[K, V]{} // a map that was large never gives its memory back
	}
}

func (t *table[K, V]) len() int { return len(t.few) + len(t.many) }

// keys returns the keys, in no order.
func (t *table[K, V]) keys() []K {
	keys := make([]K, 0, t.len())

	for _, p := range t.few {
		keys = append(keys, p.key)
	}

	for key := range t.many {
		keys = append(keys, key)
	}

	return keys
}
