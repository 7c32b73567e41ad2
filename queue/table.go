package queue

import (
	"math"
	"time"
)

const (
	// liveRun is how many Live keys in a row are taken while a Fill key waits. Large enough that changes hardly notice
	// an initial fill, small enough that a fill moves on under a steady stream of changes.
	liveRun = 16

	// maxFree is how many unused entries are kept for later.
	maxFree = 1024

	// A table that has held at least largeTable keys is replaced when no more than one in shrinkRatio is left. A map
	// of the runtime never gives memory back by itself.
	largeTable  = 4096
	shrinkRatio = 32
)

// table is the mechanism behind both front ends: a state machine over keys, without lock and without clock. Times are
// handed in, as durations since whatever the owner counts from, and must not decrease.
//
// Invariant: an entry is in index, and in exactly one of the lists and the heap, the one that its state names. A
// processing entry that was not put again holds no value. An idle entry has failures.
type table[K comparable, V any] struct {
	// merge combines two values for one key; nil takes the newer one.
	merge func(older, newer V) V

	index map[K]*entry[K, V]
	// peak is the largest size of index since index was made.
	peak int

	ready   [laneCount]list[K, V]
	delayed deadlines[*entry[K, V]]
	out     list[K, V]
	idle    list[K, V]

	// run counts the Live keys taken in a row while a Fill key was waiting.
	run int

	free      *entry[K, V]
	freeCount int
}

func newTable[K comparable, V any](merge func(older, newer V) V) table[K, V] {
	return table[K, V]{
		merge:   merge,
		index:   map[K]*entry[K, V]{},
		delayed: deadlines[*entry[K, V]]{moved: func(e *entry[K, V], pos int) { e.pos = int32(pos) }},
	}
}

// put adds a key, or merges the value into what waits under the key. It tells whether the key became ready by it.
func (t *table[K, V]) put(key K, value V, lane Lane, now time.Duration) bool {
	lane = min(lane, Fill)

	e := t.index[key]
	if e == nil {
		e = t.create(key)
		e.value = value
		t.makeReady(e, lane, now)

		return true
	}

	switch e.state {
	case Ready:
		e.value = t.merged(e.value, value)

		if lane < e.lane {
			t.detach(e)
			t.makeReady(e, lane, now)
		}

		return false
	case Delayed:
		e.value = t.merged(e.value, value)

		if lane != Live {
			return false
		}

		t.detach(e)
		t.makeReady(e, Live, now)

		return true
	case Processing:
		if e.again {
			e.value, e.againLane = t.merged(e.value, value), min(e.againLane, lane)
		} else {
			e.value, e.againLane, e.again = value, lane, true
		}

		return false
	default:
		t.detach(e)
		e.value = value
		t.makeReady(e, lane, now)

		return true
	}
}

// take marks the next ready key as processing and returns it with its value, which leaves the table.
func (t *table[K, V]) take() (key K, value V, ok bool) {
	lane := Live

	switch {
	case t.ready[Fill].count == 0:
		t.run = 0
	case t.ready[Live].count == 0 || t.run >= liveRun:
		lane, t.run = Fill, 0
	default:
		t.run++
	}

	e := t.ready[lane].head
	if e == nil {
		return key, value, false
	}

	t.detach(e)
	e.value, value = value, e.value
	e.state = Processing
	t.out.append(e)

	return e.key, value, true
}

// done ends the processing of a key. If the key was put meanwhile, it returns the entry, which the caller must hand to
// makeReady: when that is the case is seldom, and not known before, and only then does a caller need the time.
func (t *table[K, V]) done(key K) (again *entry[K, V]) {
	e := t.index[key]
	if e == nil || e.state != Processing {
		return nil
	}

	t.detach(e)

	if !e.again {
		t.settle(e)

		return nil
	}

	e.again, e.lane = false, e.againLane

	return e
}

// retry ends the processing of a key and puts it again, to be ready at due. It tells whether the key is ready at once.
func (t *table[K, V]) retry(key K, value V, due, now time.Duration) bool {
	e := t.index[key]
	if e == nil || e.state != Processing {
		return false
	}

	lane := e.lane

	if e.again {
		value, lane = t.merged(value, e.value), min(lane, e.againLane)

		if e.againLane == Live {
			due = now
		}
	}

	t.detach(e)
	e.value, e.again = value, false

	if due <= now {
		t.makeReady(e, lane, now)

		return true
	}

	e.state, e.lane, e.at = Delayed, lane, due
	t.delayed.push(due, e)

	return false
}

// collect makes ready what has come due, and returns how many keys that were.
func (t *table[K, V]) collect(now time.Duration) int {
	count := 0

	for due, some := t.delayed.next(); some && due <= now; due, some = t.delayed.next() {
		_, e := t.delayed.pop()
		t.makeReady(e, e.lane, due)

		count++
	}

	return count
}

// fail counts a failure of a key, which need not be in the table, and returns the count.
func (t *table[K, V]) fail(key K) int {
	e := t.index[key]
	if e == nil {
		e = t.create(key)
		e.state = idle
		t.idle.append(e)
	}

	if e.failures < math.MaxInt32 {
		e.failures++
	}

	return int(e.failures)
}

// forget sets the failures of a key back to none.
func (t *table[K, V]) forget(key K) {
	e := t.index[key]
	if e == nil {
		return
	}

	e.failures = 0

	if e.state == idle {
		t.detach(e)
		t.settle(e)
	}
}

// failures returns how often a key has failed since it was last forgotten.
func (t *table[K, V]) failures(key K) int {
	if e := t.index[key]; e != nil {
		return int(e.failures)
	}

	return 0
}

// drop empties the backlog: what is ready and what is delayed goes, with its failures, and nothing is to be done again.
func (t *table[K, V]) drop() {
	t.ready = [laneCount]list[K, V]{}
	t.delayed = deadlines[*entry[K, V]]{moved: t.delayed.moved}

	t.out.each(func(e *entry[K, V]) {
		var none V

		e.value, e.again = none, false
	})

	t.rebuild(t.out.count + t.idle.count)
}

func (t *table[K, V]) readyCount() int { return t.ready[Live].count + t.ready[Fill].count }

// oldest returns since when the key waits that has been in its lane for longest.
func (t *table[K, V]) oldest() (since time.Duration, ok bool) {
	for lane := range t.ready {
		if e := t.ready[lane].head; e != nil && (!ok || e.at < since) {
			since, ok = e.at, true
		}
	}

	return since, ok
}

func (t *table[K, V]) merged(older, newer V) V {
	if t.merge == nil {
		return newer
	}

	return t.merge(older, newer)
}

// makeReady appends a detached entry to a lane.
func (t *table[K, V]) makeReady(e *entry[K, V], lane Lane, since time.Duration) {
	e.state, e.lane, e.at = Ready, lane, since
	t.ready[lane].append(e)
}

// settle keeps a detached entry if it has failures, and lets go of it otherwise.
func (t *table[K, V]) settle(e *entry[K, V]) {
	if e.failures > 0 {
		e.state = idle
		t.idle.append(e)

		return
	}

	delete(t.index, e.key)

	*e = entry[K, V]{}

	if t.freeCount < maxFree {
		e.next, t.free = t.free, e
		t.freeCount++
	}

	if left := len(t.index); t.peak >= largeTable && left <= t.peak/shrinkRatio {
		t.rebuild(left)
	}
}

// detach takes an entry out of the list or heap that holds it.
func (t *table[K, V]) detach(e *entry[K, V]) {
	switch e.state {
	case Ready:
		t.ready[e.lane].remove(e)
	case Delayed:
		t.delayed.remove(int(e.pos))
	case Processing:
		t.out.remove(e)
	default:
		t.idle.remove(e)
	}
}

// create returns a detached entry for a key that has none.
func (t *table[K, V]) create(key K) *entry[K, V] {
	e := t.free
	if e == nil {
		e = new(entry[K, V])
	} else {
		t.free, e.next = e.next, nil
		t.freeCount--
	}

	e.key = key
	t.index[key] = e
	t.peak = max(t.peak, len(t.index))

	return e
}

// rebuild replaces the index by one of the given size. It walks the lists, not the old index: that takes time with what
// is left instead of with what once was.
func (t *table[K, V]) rebuild(size int) {
	t.index, t.peak = make(map[K]*entry[K, V], size), size

	enter := func(e *entry[K, V]) { t.index[e.key] = e }

	t.ready[Live].each(enter)
	t.ready[Fill].each(enter)
	t.out.each(enter)
	t.idle.each(enter)

	for _, s := range t.delayed.slots {
		enter(s.element)
	}
}
