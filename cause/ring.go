package cause

import (
	"sync"
	"time"
)

// ring holds the passes that were made last, up to a number. Half of the places are kept for those that have written something: who
// makes many passes that come to nothing is not to forget over them what he has done. One that runs has its place beside
// them.
type ring struct {
	tracer *Tracer
	// most is how many that have ended there are at most.
	most int

	// mu guards the fields below, what is in the passes, and who is at which. What a pass does beside calling the state is to
	// begin and to end, and it takes this lock once for each and nothing else that several goroutines would have to agree on: a
	// controller that does nothing makes millions of passes in a second.
	mu sync.Mutex
	// passes are all places. Each is free, or the pass in it runs, or it has ended and has written something, or it has not.
	passes       []*Open
	free         line
	wrote, quiet line
	// ended counts those that have ended.
	ended uint64
	// lost is when the last pass that is forgotten and has written something has ended; 0 is that there was none.
	lost    time.Duration
	timings Timings // of passes that have ended
}

// line is passes in the order in which they have ended.
type line struct {
	first, last *Open
	n           int
}

func (l *line) put(o *Open) {
	if l.last == nil {
		l.first = o
	} else {
		l.last.next = o
	}

	l.last = o
	l.n++
}

func (l *line) take() *Open {
	o := l.first

	if l.first = o.next; l.first == nil {
		l.last = nil
	}

	o.next = nil
	l.n--

	return o
}

// slotLocked returns a place for a pass.
func (r *ring) slotLocked() *Open {
	if r.free.n > 0 {
		return r.free.take()
	}

	o := &Open{ring: r}
	r.passes = append(r.passes, o)

	return o
}

// keepLocked keeps a pass that has ended, and forgets another one if there are too many.
func (r *ring) keepLocked(o *Open) {
	r.ended++
	o.order = r.ended

	if len(o.writes) > 0 {
		r.wrote.put(o)
	} else {
		r.quiet.put(o)
	}

	if r.wrote.n+r.quiet.n <= r.most {
		return
	}

	quiet, wrote := r.quiet.first, r.wrote.first

	if wrote == nil || quiet != nil && (quiet.order < wrote.order || r.wrote.n <= r.most/2) {
		o = r.quiet.take()
	} else {
		o = r.wrote.take()
		r.lost = max(r.lost, o.end)
	}

	o.number = 0
	r.free.put(o)
}

// seat is where somebody makes passes, one at a time.
type seat struct {
	ring *ring
	// at is the pass that runs, or nil. The lock of the ring guards it.
	at *Open
}

func (s *seat) begin(b *Begin) *Open {
	r := s.ring

	r.mu.Lock()
	o := r.slotLocked()
	o.beginLocked(s, r.tracer.count.Add(1), b)
	s.at = o
	r.mu.Unlock()

	return o
}

// in returns the pass that runs, or nil.
func (s *seat) in() *Open {
	if s == nil {
		return nil
	}

	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()

	return s.at
}
