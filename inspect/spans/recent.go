package spans

// recent is a map that forgets: it holds at least the last entries, up to a number, and at most twice as many.
type recent[K comparable, V any] struct {
	most     int
	now, old map[K]V
	// forgot tells that entries were forgotten.
	forgot bool
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, now: map[K]V{}}
}

func (r *recent[K, V]) get(key K) V {
	v, ok := r.now[key]
	if !ok {
		v = r.old[key]
	}

	return v
}

func (r *recent[K, V]) set(key K, v V) {
	if _, ok := r.now[key]; !ok && len(r.now) == r.most {
		r.forgot = r.forgot || len(r.old) > 0
		r.now, r.old = map[K]V{}, r.now
	}

	r.now[key] = v
}

func (r *recent[K, V]) len() int { return len(r.now) + len(r.old) }
