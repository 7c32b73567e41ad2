package cause

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-run/switchyard/reduced"
)

// ring holds the passes that were made last, up to a number. Half of the places are kept for those that have written something: who
// makes many passes that come to nothing is not to forget over them what he has done. One that runs has its place beside
// them.
type ring struct {
	tracer *Tracer
	// most is how many that have ended there are at most.
	most int

	// mu guards the fields below, what is in the passes, and who is at which. It is own, or that of whoever makes the passes. What a pass does
	// beside calling the state is to begin and to end, which takes this lock at most once each, and nothing else that several
	// goroutines would have to agree on: a controller that does nothing makes millions of passes in a second.
	mu  *sync.Mutex
	own sync.Mutex
	// passes are all places. Each is free, or the pass in it runs, or it has ended and has written something, or it has not.
	passes       []*Open
	free         line
	wrote, quiet line
	// begun counts those that have begun, where there is one ring only, and ended those that have ended.
	begun, ended uint64
	// lost is when the last pass that is forgotten and has written something has ended; 0 is that there was none.
	lost    time.Duration
	timings Timings // of passes that have ended
}

// line is places in the order in which their passes have ended. It holds no pointers, as the collector has to be told of each that is
// written while it is at work.
type line struct{ first, last, n int }

// putLocked puts a place at the end of a line.
func (r *ring) putLocked(l *line, o *Open) {
	if l.n == 0 {
		l.first = o.place
	} else {
		r.passes[l.last].next = o.place
	}

	l.last = o.place
	l.n++
}

// takeLocked takes the first place of a line that has some.
func (r *ring) takeLocked(l *line) *Open {
	o := r.passes[l.first]
	l.first = o.next
	l.n--

	return o
}

// slotLocked returns a place for a pass.
func (r *ring) slotLocked() *Open {
	if r.free.n > 0 {
		return r.takeLocked(&r.free)
	}

	o := &Open{ring: r, place: len(r.passes)}
	r.passes = append(r.passes, o)

	return o
}

// freeLocked makes the place of a pass that is forgotten one for others. Nil is none.
func (r *ring) freeLocked(o *Open) {
	if o != nil {
		o.number = 0
		r.putLocked(&r.free, o)
	}
}

// keepLocked keeps a pass that has ended, and forgets another one if there are too many. It returns the place of that, or nil.
func (r *ring) keepLocked(o *Open) (free *Open) {
	r.ended++
	o.order = r.ended

	if o.noted && len(o.writes) > 0 {
		r.putLocked(&r.wrote, o)
	} else {
		r.putLocked(&r.quiet, o)
	}

	if r.wrote.n+r.quiet.n <= r.most {
		return nil
	}

	if r.quietGoesLocked() {
		return r.takeLocked(&r.quiet)
	}

	free = r.takeLocked(&r.wrote)
	r.lost = max(r.lost, free.end)

	return free
}

// quietGoesLocked tells whether the next pass to be forgotten is one that has written nothing.
func (r *ring) quietGoesLocked() bool {
	switch {
	case r.wrote.n == 0:
		return true
	case r.quiet.n == 0:
		return false
	default:
		return r.wrote.n <= r.most/2 || r.passes[r.quiet.first].order < r.passes[r.wrote.first].order
	}
}

// seat is where somebody makes passes, one at a time.
type seat struct {
	ring *ring
	// at is the pass that runs, or nil. The lock of the ring guards it.
	at *Open
	// full tells that the pass remembers no more reads, until the next one begins, and beyond counts those that came after that. Neither needs
	// the lock, for which several goroutines that read would wait.
	full   atomic.Bool
	beyond atomic.Int64
}

func (s *seat) begin(b *Begin) *Open {
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()

	return s.beginLocked(b)
}

func (s *seat) beginLocked(b *Begin) *Open {
	o := s.ring.slotLocked()
	o.beginLocked(s, b)

	return o
}

// numberLocked returns the number of the next pass.
func (r *ring) numberLocked() uint64 {
	if r.tracer.cfg.Workers > 1 {
		return r.tracer.count.Add(1)
	}

	r.begun++

	return r.begun
}

// in returns the pass that runs, or nil.
func (s *seat) in() *Open {
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()

	return s.at
}

// counts counts a read where the pass that runs remembers no more, and tells whether it has.
func (s *seat) counts() bool {
	if !s.full.Load() {
		return false
	}

	s.beyond.Add(1)

	return true
}

func (s *seat) read(key reduced.Key, version uint64) {
	s.ring.mu.Lock()

	if s.at != nil {
		s.at.readLocked(key, version)
	}

	s.ring.mu.Unlock()
}

// moreLocked is how many reads of the pass that runs are not remembered.
func (s *seat) moreLocked() int {
	if !s.full.Load() {
		return 0
	}

	return int(s.beyond.Load())
}
