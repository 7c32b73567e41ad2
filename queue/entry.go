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
	// firm keys are delayed, and what is put into Own does not change that.
	firm
	// resting and lingering keys wait for nothing, and are remembered until a time: if something is put for them
	// before, it goes on from where they were. What is put into Own for a resting key waits for that time.
	resting
	lingering
)

// String returns the state in lower case: "ready", "delayed", "processing".
func (s State) String() string {
	switch s {
	case Ready:
		return "ready"
	case Delayed, firm:
		return "delayed"
	case Processing:
		return "processing"
	default:
		return "idle"
	}
}

// Lane says how urgent it is what is put. Ready keys wait in one of two lines, that of Live and that of Fill.
type Lane uint8

// The lanes, the more urgent one first. Any other value counts as Fill.
const (
	// Live is for changes: somebody has just done something.
	Live Lane = iota
	// Own is for changes that were made by whoever works on the keys. They wait in the line of Live, but do not shorten
	// a delay that is to stand: else work that fails, and changes something on the way, would never wait.
	Own
	// Fill is for what is put wholesale and is in no hurry: the initial listing, a resync.
	Fill
)

// String returns the lane in lower case: "live", "own", "fill".
func (l Lane) String() string {
	switch l {
	case Live:
		return "live"
	case Own:
		return "own"
	default:
		return "fill"
	}
}

// line is where ready keys wait that were put into the lane.
func (l Lane) line() Lane {
	if l == Own {
		return Live
	}

	return l
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
	// lane is where a ready key waits, where a delayed one will, and where a processing one was taken from: Live or Fill.
	lane Lane
	// again is one more than the lane into which a processing key was put meanwhile, with value; 0 is that it was not.
	again Lane
	// streak counts how often the key was worked on in a row for no other reason than what is put into Own.
	streak uint8
}

// putAgain returns into which lane a processing key was put meanwhile, if it was.
func (e *entry[K, V]) putAgain() (lane Lane, again bool) { return e.again - 1, e.again != 0 }

// waits tells whether the key is there for something to be done.
func (e *entry[K, V]) waits() bool {
	return e.state != idle && e.state != resting && e.state != lingering
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
