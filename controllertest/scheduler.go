package controllertest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
)

// class orders what can happen when a calm decision is made: first all are told what has happened, then the controllers do
// what is to be done, and only then something new comes from outside.
type class int

const (
	delivering class = iota
	resuming         // a call that was held up goes on
	passing
	acting // the script
)

// gate is where something waits for its turn.
type gate struct {
	class class
	name  string
	// by is the pass that waits, if it is one.
	by *actor
	// try starts what waits. It returns false if it can not be started at this moment; nil means that open is closed.
	try  func() bool
	open chan struct{}

	arrived int
	// barred is how far the world was when try has failed: it is not tried again before something else has happened.
	barred int
}

// let starts what waits, if it can be started.
func (g *gate) let() bool {
	if g.try != nil {
		return g.try()
	}

	close(g.open)

	return true
}

// scheduler holds the gates of a world.
type scheduler struct {
	draws *draws
	kick  chan struct{} // holds a signal when a gate has come

	// mu guards the fields below.
	mu      sync.Mutex
	gates   []*gate
	arrived int
	turn    int
	// calls counts the calls of the state in the turn.
	calls int
	// progress counts turns, and times that have passed.
	progress int
}

func newScheduler(d *draws) *scheduler {
	return &scheduler{draws: d, kick: make(chan struct{}, 1), progress: 1}
}

func (s *scheduler) add(g *gate) {
	g.open = make(chan struct{})

	s.mu.Lock()
	s.arrived++
	g.arrived = s.arrived
	s.gates = append(s.gates, g)
	s.mu.Unlock()

	s.nudge()
}

func (s *scheduler) nudge() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// remove takes the gate away, unless it has been opened.
func (s *scheduler) remove(g *gate) (removed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	at := slices.Index(s.gates, g)
	if at < 0 {
		return false
	}

	s.gates = slices.Delete(s.gates, at, at+1)

	return true
}

// wait returns nil when it is the caller's turn, or the error of a context that has ended before.
func (s *scheduler) wait(ctx context.Context, class class, name string, by *actor) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	g := &gate{class: class, name: name, by: by}
	s.add(g)

	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
	}

	if s.remove(g) {
		return ctx.Err()
	}

	return nil // it was opened at the same time
}

// choose takes the gate out that the schedule says.
func (s *scheduler) choose() *gate {
	s.mu.Lock()
	defer s.mu.Unlock()

	able := make([]*gate, 0, len(s.gates))

	for _, g := range s.gates {
		if g.barred != s.progress {
			able = append(able, g)
		}
	}

	if len(able) == 0 {
		return nil
	}

	slices.SortFunc(able, func(a, b *gate) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.name, b.name), cmp.Compare(a.arrived, b.arrived))
	})

	g := able[s.draws.pick(turning+strconv.Itoa(s.turn+1), len(able))]
	s.gates = slices.DeleteFunc(s.gates, func(other *gate) bool { return other == g })

	return g
}

// bar takes the turn of a gate back that could not be opened, and the gate itself.
func (s *scheduler) bar(g *gate) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.turn--
	s.progress--
	g.barred = s.progress
	s.gates = append(s.gates, g)
}

// turns returns the number of the next turn; taken counts one.
func (s *scheduler) turns() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.turn + 1
}

func (s *scheduler) taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.turn++
	s.progress++
	s.calls = 0

	return s.turn
}

// called counts a call of the state, and returns how many there were in the turn.
func (s *scheduler) called() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.calls++

	return s.calls
}

// waiting returns the names of what waits, in order.
func (s *scheduler) waiting() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	names := make([]string, 0, len(s.gates))
	for _, g := range s.gates {
		names = append(names, g.name)
	}

	slices.Sort(names)

	return names
}

// idle waits until something has come, or for the time. Some that wait can not be told from outside, so the time is passed
// in small steps where there are gates that could not be opened.
func (s *scheduler) idle(most time.Duration) {
	s.mu.Lock()
	if len(s.gates) > 0 {
		most = min(most, time.Second)
	}
	s.mu.Unlock()

	timer := time.NewTimer(most)
	defer timer.Stop()

	select {
	case <-s.kick:
	case <-timer.C:
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.progress++
}
