package queue

import (
	"iter"
	"slices"
	"time"
)

// series is how keys wait that have come in ascending order: as they came, without an entry for each and without a place
// in the index. They are found by their order. All of them were put into Fill, with no value, before any of the entries
// that wait there, and none of them has an entry.
//
// It is for the initial listing, which is large and mostly comes in order: a key that waits takes a quarter of the memory of
// an entry, and it and its place in the index are made only when it is taken, so that both stay in the processor's cache.
//
// Nil is an empty one.
type series[K comparable] struct {
	compare func(a, b K) int
	// stretches are in ascending order, too. Of each there is a key left.
	stretches []stretch[K]
	left      int
}

// stretch is what has come at once.
type stretch[K comparable] struct {
	keys []K
	// next is the first that is left, and gone tells of those behind it which are not; nil is none.
	next  int
	gone  []bool
	since time.Duration
}

// advance skips the next key and those behind it that are gone, and tells whether there is another one.
func (s *stretch[K]) advance() bool {
	for s.next++; s.next < len(s.keys); s.next++ {
		if s.gone == nil || !s.gone[s.next] {
			return true
		}
	}

	return false
}

// count returns how many keys are in the series.
func (s *series[K]) count() int {
	if s == nil {
		return 0
	}

	return s.left
}

// oldest returns since when the first key waits. There must be one.
func (s *series[K]) oldest() time.Duration { return s.stretches[0].since }

// follows tells whether a key comes behind all that are in the series.
func (s *series[K]) follows(key K) bool {
	if s.count() == 0 {
		return true
	}

	keys := s.stretches[len(s.stretches)-1].keys

	return s.compare(keys[len(keys)-1], key) < 0
}

// add appends keys, which must be in ascending order and follow. It keeps the slice.
func (s *series[K]) add(keys []K, since time.Duration) {
	s.stretches = append(s.stretches, stretch[K]{keys: keys, since: since})
	s.left += len(keys)
}

// take removes and returns the first key. There must be one.
func (s *series[K]) take() K {
	first := &s.stretches[0]
	key := first.keys[first.next]
	s.left--

	if !first.advance() {
		*first = stretch[K]{}
		s.stretches = s.stretches[1:]
	}

	return key
}

// holds tells whether a key is in the series.
func (s *series[K]) holds(key K) bool {
	_, _, ok := s.find(key)

	return ok
}

// remove takes a key out, if it is in the series.
func (s *series[K]) remove(key K) (removed bool) {
	at, pos, ok := s.find(key)
	if !ok {
		return false
	}

	s.left--

	found := &s.stretches[at]
	if pos == found.next {
		if !found.advance() {
			s.stretches = slices.Delete(s.stretches, at, at+1)
		}

		return true
	}

	if found.gone == nil {
		found.gone = make([]bool, len(found.keys))
	}

	found.gone[pos] = true

	return true
}

func (s *series[K]) find(key K) (at, pos int, ok bool) {
	if s.count() == 0 {
		return 0, 0, false
	}

	at, first := slices.BinarySearchFunc(s.stretches, key, func(s2 stretch[K], key K) int { return s.compare(s2.keys[0], key) })
	if !first {
		at--
	}

	if at < 0 {
		return 0, 0, false
	}

	in := &s.stretches[at]
	pos, ok = slices.BinarySearchFunc(in.keys, key, s.compare)

	return at, pos, ok && pos >= in.next && (in.gone == nil || !in.gone[pos])
}

// all yields the keys in order, with since when they wait.
func (s *series[K]) all() iter.Seq2[K, time.Duration] {
	return func(yield func(K, time.Duration) bool) {
		if s == nil {
			return
		}

		for _, part := range s.stretches {
			for more := true; more; more = part.advance() {
				if !yield(part.keys[part.next], part.since) {
					return
				}
			}
		}
	}
}

// fewEntries is up to how many entries are compared with keys that come in order, in place of looking for each of the keys.
const fewEntries = 32

// ascend tells whether keys are in ascending order. It looks at nothing that changes.
func (t *table[K, V]) ascend(keys []K) bool {
	if t.compare == nil {
		return false
	}

	for i := 1; i < len(keys); i++ {
		if t.compare(keys[i-1], keys[i]) >= 0 {
			return false
		}
	}

	return true
}

// putSorted is put into Fill for each of the keys, without a value. It keeps the slice. It tells whether any key became
// ready by it. Keys that ascend are mostly none that is there, and behind all that wait: then nothing is done for each of them.
func (t *table[K, V]) putSorted(keys []K, ascend bool, now time.Duration) (ready bool) {
	if ascend && len(keys) > 0 && t.follows(nil, keys[0]) && t.knowsNone(keys) {
		return t.extend(keys, now)
	}

	var none V

	waiting := 0

	for at, key := range keys {
		r := t.find(key, t.hashOf(key))

		// A key that has an entry can not be in the series, and after one that is to wait in the list no other can.
		if r == 0 && !t.follows(keys[:waiting], key) || r != 0 && !t.entries.at(r).waits() {
			ready = t.extend(keys[:waiting:waiting], now)

			for _, key := range keys[at:] {
				ready = t.put(key, t.hashOf(key), none, Fill, now) || ready
			}

			return ready
		}

		if r != 0 {
			t.put(key, t.entries.at(r).hash, none, Fill, now)

			continue
		}

		keys[waiting] = key
		waiting++
	}

	return t.extend(keys[:waiting:waiting], now)
}

// knowsNone tells whether none of the keys, which ascend, has an entry. Where that would take long it is false.
func (t *table[K, V]) knowsNone(keys []K) bool {
	if t.entries.live > fewEntries {
		return false
	}

	known := false
	look := func(e *entry[K, V]) {
		if !known {
			_, known = slices.BinarySearchFunc(keys, e.key, t.compare)
		}
	}

	for _, l := range []*list{t.line(Live), t.line(Fill), &t.out, &t.idle} {
		t.entries.each(l, look)
	}

	for i := range t.delayed.slots {
		look(t.entries.at(t.delayed.slots[i].element))
	}

	return !known
}

// follows tells whether a key without an entry may be appended to the series, behind those that are about to be.
func (t *table[K, V]) follows(before []K, key K) bool {
	if last := len(before) - 1; last >= 0 {
		return t.compare(before[last], key) < 0
	}

	return t.compare != nil && t.line(Fill).count == 0 && t.series.follows(key)
}

// extend appends keys to the series, and tells whether there were any.
func (t *table[K, V]) extend(keys []K, now time.Duration) bool {
	if len(keys) == 0 {
		return false
	}

	if t.series == nil {
		t.series = &series[K]{compare: t.compare}
	}

	t.series.add(keys, now)

	return true
}

// takeFirst takes the first key of the series, which gets its entry only now, and returns since when it waits.
func (t *table[K, V]) takeFirst() (K, time.Duration) {
	since := t.series.oldest()
	key := t.series.take()
	if t.series.left == 0 {
		t.series = nil
	}

	r := t.create(key, t.hashOf(key))
	e := t.entries.at(r)
	e.state, e.lane = Processing, Fill
	t.entries.append(&t.out, r)

	return key, since
}

// unroll makes an entry of each key in the series, for the sake of one that has a value or a failure now.
func (t *table[K, V]) unroll() {
	behind := *t.line(Fill)
	*t.line(Fill) = list{}

	for key, since := range t.series.all() {
		t.makeReady(t.create(key, t.hashOf(key)), Fill, since)
	}

	t.entries.join(t.line(Fill), behind)

	t.series = nil
}
