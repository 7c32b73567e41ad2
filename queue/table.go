package queue

import (
	"math"
	"time"

	"github.com/switchyard-run/switchyard/internal/index"
)

// liveRun is how many Live keys in a row are taken while a Fill key waits. Large enough that changes hardly notice an
// initial fill, small enough that a fill moves on under a steady stream of changes.
const liveRun = 16

// table is the mechanism behind both front ends: a state machine over keys, without lock and without clock. Times are
// handed in, as durations since whatever the owner counts from, and must not decrease.
//
// Invariant: an entry can be found by its key, and is in exactly one of the lists and the heap, the one that its state
// names. A key in the series has no entry, and waits before the entries in Fill. A processing entry that was not put again holds no value. An idle entry has failures.
type table[K comparable, V any] struct {
	// merge combines two values for one key; nil takes the newer one.
	merge func(older, newer V) V
	// hash is that of a key; nil if the owner has none for its keys.
	hash func(K) uint64
	// compare orders keys; nil if the owner has no order.
	compare func(a, b K) int

	entries slab[K, V]
	// Keys are found by their hash, or where they have none, in a map, which takes several times the memory.
	index index.Index
	plain map[K]ref
	// untouched counts down to when the next keys are to be touched. Touched is there so that the reads are not left out.
	untouched int32
	touched   uint32

	ready   [laneCount]list
	series  *series[K]
	delayed deadlines[ref]
	out     list
	idle    list

	// run counts the Live keys taken in a row while a Fill key was waiting.
	run int32
}

// put adds a key with its hash, or merges the value into what waits under the key. It tells whether the key became ready by it.
func (t *table[K, V]) put(key K, hash uint32, value V, lane Lane, now time.Duration) bool {
	lane = min(lane, Fill)

	r := t.find(key, hash)
	if r == 0 && lane == Fill && t.series.holds(key) {
		t.unroll()

		r = t.find(key, hash)
	}

	if r == 0 {
		waited := t.series.remove(key)
		if waited {
			var none V

			value = t.merged(none, value)
		}

		r = t.create(key, hash)
		t.entries.at(r).value = value
		t.makeReady(r, lane, now)

		return !waited
	}

	e := t.entries.at(r)

	switch e.state {
	case Ready:
		e.value = t.merged(e.value, value)

		if lane < e.lane {
			t.detach(r)
			t.makeReady(r, lane, now)
		}

		return false
	case Delayed:
		e.value = t.merged(e.value, value)

		if lane != Live {
			return false
		}

		t.detach(r)
		t.makeReady(r, Live, now)

		return true
	case Processing:
		if e.again {
			e.value, e.againLane = t.merged(e.value, value), min(e.againLane, lane)
		} else {
			e.value, e.againLane, e.again = value, lane, true
		}

		return false
	default:
		t.detach(r)
		e.value = value
		t.makeReady(r, lane, now)

		return true
	}
}

// take marks the next ready key as processing and returns it with its value, which leaves the table.
func (t *table[K, V]) take() (key K, value V, ok bool) {
	lane := Live

	switch {
	case t.fillCount() == 0:
		t.run = 0
	case t.ready[Live].count == 0 || t.run >= liveRun:
		lane, t.run = Fill, 0
	default:
		t.run++
	}

	if lane == Fill && t.series.count() > 0 {
		return t.takeFirst(), value, true
	}

	r := t.ready[lane].head
	if r == 0 {
		return key, value, false
	}

	e := t.entries.at(r)

	t.touchNext(r)
	t.detach(r)
	e.value, value = value, e.value
	e.state = Processing
	t.entries.append(&t.out, r)

	return e.key, value, true
}

// done ends the processing of a key. If the key was put meanwhile, it returns the entry, which the caller must hand to
// makeReady, with the lane: when that is the case is seldom, and not known before, and only then does a caller need the
// time.
func (t *table[K, V]) done(key K) (again ref, lane Lane) {
	r := t.find(key, t.hashOf(key))
	if r == 0 {
		return 0, 0
	}

	e := t.entries.at(r)
	if e.state != Processing {
		return 0, 0
	}

	t.detach(r)

	if !e.again {
		t.settle(r)

		return 0, 0
	}

	e.again = false

	return r, e.againLane
}

// retry ends the processing of a key and puts it again, to be ready at due. It tells whether the key is ready at once.
func (t *table[K, V]) retry(key K, value V, due, now time.Duration) bool {
	r := t.find(key, t.hashOf(key))
	if r == 0 {
		return false
	}

	e := t.entries.at(r)
	if e.state != Processing {
		return false
	}

	lane := e.lane

	if e.again {
		value, lane = t.merged(value, e.value), min(lane, e.againLane)

		if e.againLane == Live {
			due = now
		}
	}

	t.detach(r)
	e.value, e.again = value, false

	if due <= now {
		t.makeReady(r, lane, now)

		return true
	}

	if t.delayed.moved == nil {
		t.delayed.moved = func(r ref, pos int) { t.entries.at(r).pos = int32(pos) }
	}

	e.state, e.lane, e.at = Delayed, lane, due
	t.delayed.push(due, r)

	return false
}

// collect makes ready what has come due, and returns how many keys that were.
func (t *table[K, V]) collect(now time.Duration) int {
	count := 0

	for due, some := t.delayed.next(); some && due <= now; due, some = t.delayed.next() {
		_, r := t.delayed.pop()
		t.makeReady(r, t.entries.at(r).lane, due)

		count++
	}

	return count
}

// fail counts a failure of a key, which need not be in the table, and returns the count.
func (t *table[K, V]) fail(key K) int {
	hash := t.hashOf(key)

	if t.series.holds(key) {
		t.unroll()
	}

	r := t.find(key, hash)
	if r == 0 {
		r = t.create(key, hash)
		t.entries.at(r).state = idle
		t.entries.append(&t.idle, r)
	}

	e := t.entries.at(r)
	if e.failures < math.MaxInt32 {
		e.failures++
	}

	return int(e.failures)
}

// forget sets the failures of a key back to none, and returns how many there were.
func (t *table[K, V]) forget(key K) int {
	r := t.find(key, t.hashOf(key))
	if r == 0 {
		return 0
	}

	e := t.entries.at(r)
	failures := e.failures
	e.failures = 0

	if e.state == idle {
		t.detach(r)
		t.settle(r)
	}

	return int(failures)
}

// failures returns how often a key has failed since it was last forgotten.
func (t *table[K, V]) failures(key K) int {
	if r := t.find(key, t.hashOf(key)); r != 0 {
		return int(t.entries.at(r).failures)
	}

	return 0
}

// drop empties the backlog: what is ready and what is delayed goes, with its failures, and nothing is to be done again.
func (t *table[K, V]) drop() {
	t.ready = [laneCount]list{}
	t.series = nil
	t.delayed = deadlines[ref]{moved: t.delayed.moved}

	t.entries.each(&t.out, func(e *entry[K, V]) {
		var none V

		e.value, e.again = none, false
	})

	t.pack()
}

func (t *table[K, V]) readyCount() int { return t.ready[Live].count + t.fillCount() }
func (t *table[K, V]) fillCount() int  { return t.ready[Fill].count + t.series.count() }

// oldest returns since when the key waits that has been in its lane for longest.
func (t *table[K, V]) oldest() (since time.Duration, ok bool) {
	for lane := range t.ready {
		if r := t.ready[lane].head; r != 0 {
			if e := t.entries.at(r); !ok || e.at < since {
				since, ok = e.at, true
			}
		}
	}

	if t.series.count() > 0 && (!ok || t.series.oldest() < since) {
		since, ok = t.series.oldest(), true
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
func (t *table[K, V]) makeReady(r ref, lane Lane, since time.Duration) {
	e := t.entries.at(r)
	e.state, e.lane, e.at = Ready, lane, since
	t.entries.append(&t.ready[lane], r)
}

// settle keeps a detached entry if it has failures, and lets go of it otherwise.
func (t *table[K, V]) settle(r ref) {
	e := t.entries.at(r)

	if e.failures > 0 {
		e.state = idle
		t.entries.append(&t.idle, r)

		return
	}

	t.leave(r)
	t.entries.free(r)

	if t.entries.loose() {
		t.pack()
	}
}

// detach takes an entry out of the list or heap that holds it.
func (t *table[K, V]) detach(r ref) {
	switch e := t.entries.at(r); e.state {
	case Ready:
		t.entries.remove(&t.ready[e.lane], r)
	case Delayed:
		t.delayed.remove(int(e.pos))
	case Processing:
		t.entries.remove(&t.out, r)
	default:
		t.entries.remove(&t.idle, r)
	}
}
