package main

import (
	"errors"
	"math/rand/v2"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"
)

// fault is a kind of thing that goes wrong.
type fault int

// Kinds of faults.
const (
	// before and after are calls that fail without having been made, and after having been made.
	before fault = iota
	after
	conflict
	slow
	// broken, stalled and refused are watches that end with an error, send nothing for a while, and do not open;
	// forgotten are bookmarks that are too old. Overrun are watches for which the history of the state was too short,
	// which happens by itself.
	broken
	stalled
	refused
	forgotten
	overrun
	// failed, panicked and exited are passes; exited ones end their goroutine.
	failed
	panicked
	exited
	// unregistered are controllers that are unregistered and registered again.
	unregistered

	faultKinds
)

// faultNames are what the table calls them.
var faultNames = [faultKinds]string{
	"before", "after", "conflict", "slow", "broken", "stalled", "refused", "forgotten", "overrun", "failed", "panicked", "exited", "unregistered",
}

// odds are how probable faults are each time there is an occasion: a call, the turn of a watch, its opening, the
// begin and the end of a pass, a write of a source.
var odds = [faultKinds]float64{
	before: 0.004, after: 0.004, conflict: 0.004, slow: 0.004,
	broken: 0.4, stalled: 0.3, refused: 0.1, forgotten: 0.3,
	failed: 0.002, panicked: 0.001, exited: 0.001,
	unregistered: 0.001,
}

// How long a slow call, a watch that is stalled, and the time between two turns of a watch take at most.
const (
	longestCall  = 50 * time.Millisecond
	longestStall = 3 * time.Second
	longestTurn  = 40 * time.Second
)

// ledger counts what happens in all groups.
type ledger struct {
	faults         [faultKinds]atomic.Int64
	passes, writes atomic.Int64
	checked, lost  atomic.Int64 // groups, and updates
}

// faults has things go wrong in one group, by chance, while it is on.
type faults struct {
	ledger  *ledger
	allowed bool // ever

	// mu guards the fields below.
	mu   sync.Mutex
	on   bool
	dice *rand.Rand
}

// set switches faults on, if they are allowed, or off.
func (f *faults) set(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.on = on && f.allowed
}

// happened counts a fault that was not drawn.
func (f *faults) happened(kind fault) { f.ledger.faults[kind].Add(1) }

// strikes tells whether the fault happens now, and counts it.
func (f *faults) strikes(kind fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.on || f.dice.Float64() >= odds[kind] {
		return false
	}

	f.happened(kind)

	return true
}

// draw tells whether something of the probability happens, whether faults are on or not.
func (f *faults) draw(probability float64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.dice.Float64() < probability
}

// upTo draws a duration.
func (f *faults) upTo(most time.Duration) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()

	return time.Duration(f.dice.Int64N(int64(most)))
}

var errFailed = errors.New("this pass was to fail")

// pass counts a pass and runs it, unless it is to go wrong; it may go wrong after it, too.
func (f *faults) pass(run func() error) error {
	f.ledger.passes.Add(1)

	if err := f.trip(); err != nil {
		return err
	}

	if err := run(); err != nil {
		return err
	}

	return f.trip()
}

// trip fails, panics, ends the goroutine, or does nothing.
func (f *faults) trip() error {
	switch {
	case f.strikes(failed):
		return errFailed
	case f.strikes(panicked):
		panic("this pass was to panic")
	case f.strikes(exited):
		goruntime.Goexit()
	}

	return nil
}
