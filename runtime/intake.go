package runtime

import (
	"context"
	"sync"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

const (
	// keepPending is the size of a pending set up to which its memory is kept for the next one.
	keepPending = 4096
	// fewDependents is up to how many a watch delivers a change to itself, if nobody else is delivering.
	fewDependents = 32
)

// intake is what lies between the two stages of the pipeline: the set of changed resources that nobody has been told of
// yet, in the order in which they first became dirty. Watches put changes into it, the delivery takes all of it at once.
//
// A watch that finds the pipeline idle delivers a single change for a few dependents itself, which saves an idle system a
// change of goroutines on every wakeup. Any more would keep it from reading what the state has next.
type intake struct {
	router *dependency.Router[*entry]

	// routing is held by whoever delivers; it guards batch, the buffer that was delivered last.
	routing sync.Mutex
	batch   []reduced.Metadata

	// mu guards pending and index, which hold the same keys.
	mu      sync.Mutex
	pending []reduced.Metadata
	index   map[reduced.Key]int

	// dirty holds one signal while pending is not empty and was not taken yet. Nobody waits to send on it.
	dirty chan struct{}
}

func newIntake(router *dependency.Router[*entry]) *intake {
	return &intake{router: router, index: map[reduced.Key]int{}, dirty: make(chan struct{}, 1)}
}

// put adds changes of one kind, which go that way, merging those of one resource.
func (in *intake) put(way *dependency.Way[*entry], changes []reduced.Metadata) {
	if len(changes) == 0 {
		return
	}

	if len(changes) == 1 && in.deliverNow(way, changes) {
		return
	}

	in.add(changes)

	select {
	case in.dirty <- struct{}{}:
	default:
	}
}

// putThen delivers changes, with all that are pending, and calls then before anything else is delivered.
func (in *intake) putThen(changes []reduced.Metadata, then func()) {
	in.routing.Lock()
	defer in.routing.Unlock()

	in.add(changes)
	in.deliver()
	then()
}

// deliverNow delivers a change past the set, if that is empty and nobody is delivering.
func (in *intake) deliverNow(way *dependency.Way[*entry], change []reduced.Metadata) bool {
	if !in.routing.TryLock() {
		return false
	}
	defer in.routing.Unlock()

	return in.len() == 0 && in.router.RouteFew(way, change, fewDependents)
}

func (in *intake) add(changes []reduced.Metadata) {
	in.mu.Lock()
	defer in.mu.Unlock()

	for i := range changes {
		key := changes[i].Key()

		if at, ok := in.index[key]; ok {
			in.pending[at] = reduced.Merge(in.pending[at], changes[i])

			continue
		}

		in.index[key] = len(in.pending)
		in.pending = append(in.pending, changes[i])
	}
}

// take empties the set into the buffer that the caller has done with, and returns the changes.
func (in *intake) take(done []reduced.Metadata) []reduced.Metadata {
	if cap(done) > keepPending {
		done = nil
	}

	clear(done)

	in.mu.Lock()
	defer in.mu.Unlock()

	taken := in.pending
	in.pending = done[:0]

	if len(taken) > keepPending {
		in.index = map[reduced.Key]int{} // a map that was large never gives its memory back
	} else {
		clear(in.index)
	}

	return taken
}

// len returns the number of pending changes.
func (in *intake) len() int {
	in.mu.Lock()
	defer in.mu.Unlock()

	return len(in.pending)
}

// deliver hands over what is pending. Routing is held by the caller.
func (in *intake) deliver() {
	in.batch = in.take(in.batch)
	in.router.Route(in.batch)
}

// run is the second stage: it delivers until the context ends.
func (in *intake) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in.dirty:
		}

		in.routing.Lock()
		in.deliver()
		in.routing.Unlock()
	}
}
