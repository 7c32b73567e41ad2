package queue

import "time"

// State tells where a key is.
type State uint8

// The states of a key. A key that is in none of them is not in the queue.
const (
	// Ready keys can be taken now.
	Ready State = iota + 1
	// Delayed keys become ready at their due time.
	Delayed
	// Processing keys are out: taken, and neither done nor retried.
	Processing

	// idle keys are remembered for their failures alone.
	idle
)

// String returns the state in lower case: "ready", "delayed", "processing".
func (s State) String() string {
	switch s {
	case Ready:
		return "ready"
	case Delayed:
		return "delayed"
	case Processing:
		return "processing"
	default:
		return "idle"
	}
}

// Lane is one of the two lines in which ready keys wait.
type Lane uint8

// The lanes, the more urgent one first. Any other value counts as Fill.
const (
	// Live is for changes: somebody has just done something.
	Live Lane = iota
	// Fill is for what is put wholesale and is in no hurry: the initial listing, a resync.
	Fill

	laneCount
)

// String returns the lane in lower case: "live", "fill".
func (l Lane) String() string {
	if l == Live {
		return "live"
	}

	return "fill"
}

// entry is all that is known about one key. For keys and values of the size of a pointer or two, it fills a line of the
// processor's cache.
type entry[K comparable, V any] struct {
	key K
	// value is what was put and not yet taken. Zero when nothing was.
	value V

	// at is since when a ready key waits in its lane, and when a delayed key is due.
	at time.Duration
	// prev and next are the neighbours in the list of the entry's state.
	prev, next ref

	// hash is that of the key, zero where keys have none.
	hash uint32
	// failures counts up to Forget.
	failures int32
	// pos is where a delayed key is in the heap.
	pos int32

	// state says which list, or that the heap, holds the entry.
	state State
	// lane is where a ready key waits, where a delayed one will, and where a processing one was taken from.
	lane Lane
	// again tells that a processing key was put meanwhile, with value, and into the lane againLane.
	again     bool
	againLane Lane
}

// list is a doubly linked list of entries. The zero value is empty.
type list struct {
	head, tail ref
	count      int
}

func (s *slab[K, V]) append(l *list, r ref) {
	e := s.at(r)
	e.prev, e.next = l.tail, 0

	if l.tail == 0 {
		l.head = r
	} else {
		s.at(l.tail).next = r
	}

	l.tail = r
	l.count++
}

func (s *slab[K, V]) remove(l *list, r ref) {
	e := s.at(r)

	if e.prev == 0 {
		l.head = e.next
	} else {
		s.at(e.prev).next = e.next
	}

	if e.next == 0 {
		l.tail = e.prev
	} else {
		s.at(e.next).prev = e.prev
	}

	l.count--
}

// join appends another list, which is no list any more then.
func (s *slab[K, V]) join(l *list, behind list) {
	switch {
	case l.count == 0:
		*l = behind
	case behind.count > 0:
		s.at(l.tail).next = behind.head
		s.at(behind.head).prev = l.tail
		l.tail = behind.tail
		l.count += behind.count
	}
}

// each calls visit for every entry from head to tail.
func (s *slab[K, V]) each(l *list, visit func(*entry[K, V])) {
	for r := l.head; r != 0; r = s.at(r).next {
		visit(s.at(r))
	}
}
