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

	// ready are the lines of Live and of Fill.
	ready   [2]list
	series  *series[K]
	delayed deadlines[ref]
	out     list
	idle    list

	// remembered counts the entries in the heap that wait for nothing.
	remembered int32

	// touched is there so that reads are not left out by which keys are touched, and untouched counts down to when the next
	// ones are to be.
	touched   uint32
	untouched int8
	// run counts the Live keys taken in a row while a Fill key was waiting.
	run uint8
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
	if lane != Own {
		e.streak = 0
	}

	switch e.state {
	case Ready:
		e.value = t.merged(e.value, value)

		if lane.line() < e.lane {
			t.detach(r)
			t.makeReady(r, lane, now)
		}

		return false
	case Delayed, firm:
		e.value = t.merged(e.value, value)

		if lane == Fill || lane == Own && e.state == firm {
			return false
		}

		t.detach(r)
		t.makeReady(r, lane, now)

		return true
	case Processing:
		if meanwhile, again := e.putAgain(); again {
			e.value, lane = t.merged(e.value, value), min(meanwhile, lane)
		} else {
			e.value = value
		}

		e.again = lane + 1

		return false
	case resting:
		if lane == Own {
			e.value, e.state, e.lane = value, firm, Live
			t.remembered--

			return false
		}
	}

	t.detach(r)
	e.value = value
	t.makeReady(r, lane, now)

	return true
}

// take marks the next ready key as processing and returns it with its value, which leaves the table.
func (t *table[K, V]) take() (taken Taken[K, V], ok bool) {
	lane := Live

	switch {
	case t.fillCount() == 0:
		t.run = 0
	case t.line(Live).count == 0 || t.run >= liveRun:
		lane, t.run = Fill, 0
	default:
		t.run++
	}

	if lane == Fill && t.series.count() > 0 {
		taken.Key, taken.Since = t.takeFirst()

		return taken, true
	}

	r := t.line(lane).head
	if r == 0 {
		return taken, false
	}

	e := t.entries.at(r)

	t.touchNext(r)
	t.detach(r)
	taken.Key, taken.Value, taken.Since = e.key, e.value, e.at

	var none V

	e.value, e.state = none, Processing
	t.entries.append(&t.out, r)

	return taken, true
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

	lane, put := e.putAgain()
	e.again, e.streak = 0, 0

	if !put {
		t.settle(r)

		return 0, 0
	}

	return r, lane
}

// processing returns the entry of a key that is being processed, or nil. What is done for each item has it written out.
func (t *table[K, V]) processing(key K) (ref, *entry[K, V]) {
	r := t.find(key, t.hashOf(key))
	if r == 0 {
		return 0, nil
	}

	e := t.entries.at(r)
	if e.state != Processing {
		return 0, nil
	}

	return r, e
}

// retry ends the processing of a key and puts it again, to be ready at due, as Delayed or as firm. It tells whether the
// key is ready at once.
func (t *table[K, V]) retry(key K, value V, as State, due, now time.Duration) bool {
	r, e := t.processing(key)
	if e == nil {
		return false
	}

	lane := e.lane

	if put, again := e.putAgain(); again {
		value, lane = t.merged(value, e.value), min(lane, put.line())

		if put == Live || put == Own && as == Delayed {
			due = now
		}
	}

	t.detach(r)
	e.value, e.again = value, 0

	if due <= now {
		t.makeReady(r, lane, now)

		return true
	}

	e.lane = lane
	t.delay(r, as, due)

	return false
}

// rest ends the processing of a key and remembers it until due, as resting or as lingering. It tells whether the key is
// ready at once, because it was put meanwhile.
func (t *table[K, V]) rest(key K, as State, due, now time.Duration) bool {
	r, e := t.processing(key)
	if e == nil {
		return false
	}

	t.detach(r)

	put, again := e.putAgain()
	e.again = 0

	switch {
	case again && (put != Own || as == lingering || due <= now):
		t.makeReady(r, put, now)

		return true
	case again:
		e.lane = Live
		t.delay(r, firm, due)
	case due <= now:
		e.streak = 0
		t.settle(r)
	default:
		t.remembered++
		t.delay(r, as, due)
	}

	return false
}

// delay has a detached entry wait until due.
func (t *table[K, V]) delay(r ref, as State, due time.Duration) {
	if t.delayed.moved == nil {
		t.delayed.moved = func(r ref, pos int) { t.entries.at(r).pos = int32(pos) }
	}

	e := t.entries.at(r)
	e.state, e.at = as, due
	t.delayed.push(due, r)
}

// collect makes ready what has come due, and returns how many keys that were. It forgets what waits for nothing.
func (t *table[K, V]) collect(now time.Duration) int {
	count := 0

	for due, some := t.delayed.next(); some && due <= now; due, some = t.delayed.next() {
		if t.collectFirst() {
			count++
		}
	}

	return count
}

// collectFirst makes ready what is due next, of which there must be one, and tells whether it was a key that waits for something.
func (t *table[K, V]) collectFirst() bool {
	due, r := t.delayed.pop()

	e := t.entries.at(r)
	if !e.waits() {
		t.remembered--
		e.streak = 0
		t.settle(r)

		return false
	}

	if e.state == Delayed {
		e.streak = 0 // it was put into nothing meanwhile, and comes by itself
	}

	t.makeReady(r, e.lane, due)

	return true
}

// dropDelayed drops what is delayed, and keeps its failures.
func (t *table[K, V]) dropDelayed() {
	var none V

	for t.delayed.len() > 0 {
		_, r := t.delayed.pop()

		e := t.entries.at(r)
		if !e.waits() {
			t.remembered--
		}

		e.value = none
		t.settle(r)
	}
}

// goOn counts one more time in a row that a key was worked on because of what was put into Own, and returns the count.
func (t *table[K, V]) goOn(key K) int {
	_, e := t.processing(key)
	if e == nil {
		return 0
	}

	if e.streak < math.MaxUint8 {
		e.streak++
	}

	return int(e.streak)
}

// breakOff ends the streak of a key that is being processed.
func (t *table[K, V]) breakOff(key K) {
	if _, e := t.processing(key); e != nil {
		e.streak = 0
	}
}

// delayedCount returns how many keys become ready later.
func (t *table[K, V]) delayedCount() int { return t.delayed.len() - int(t.remembered) }

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
	t.ready = [2]list{}
	t.series = nil
	t.delayed = deadlines[ref]{moved: t.delayed.moved}
	t.remembered = 0

	t.entries.each(&t.out, func(e *entry[K, V]) {
		var none V

		e.value, e.again = none, 0
	})

	t.pack()
}

// line returns where ready keys wait that were put into the lane.
func (t *table[K, V]) line(lane Lane) *list { return &t.ready[lane/Fill] }

func (t *table[K, V]) readyCount() int { return t.line(Live).count + t.fillCount() }
func (t *table[K, V]) fillCount() int  { return t.line(Fill).count + t.series.count() }

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

// makeReady appends a detached entry to the line of a lane.
func (t *table[K, V]) makeReady(r ref, lane Lane, since time.Duration) {
	lane = lane.line()
	e := t.entries.at(r)
	e.state, e.lane, e.at = Ready, lane, since
	t.entries.append(t.line(lane), r)
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
		t.entries.remove(t.line(e.lane), r)
	case Delayed, firm:
		t.delayed.remove(int(e.pos))
	case resting, lingering:
		t.remembered--
		t.delayed.remove(int(e.pos))
	case Processing:
		t.entries.remove(&t.out, r)
	default:
		t.entries.remove(&t.idle, r)
	}
}
