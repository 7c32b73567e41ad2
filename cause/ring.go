package cause

import "sync"

// ring holds the passes that were made last, up to a number. One that runs keeps its place.
type ring struct {
	tracer *Tracer
	// most is how many there are at most.
	most int

	// mu guards the fields below, what is in the passes, and who is at which. What a pass does beside calling the state is to
	// begin and to end, and it takes this lock once for each and nothing else that several goroutines would have to agree on: a
	// controller that does nothing makes millions of passes in a second.
	mu      sync.Mutex
	passes  []*Open
	next    int
	timings Timings // of passes that have ended
}

// slotLocked returns the place of the oldest pass, or a new one.
func (r *ring) slotLocked() *Open {
	for range r.passes {
		if len(r.passes) < r.most {
			break
		}

		o := r.passes[r.next]

		if r.next++; r.next == len(r.passes) {
			r.next = 0
		}

		if o.outcome != Running {
			return o
		}
	}

	o := &Open{ring: r}
	r.passes = append(r.passes, o)

	return o
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
