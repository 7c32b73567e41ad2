package runtime

import (
	"context"
	"sync"

	"github.com/switchyard-run/switchyard/reduced"
)

// keepPending is the size of a pending set up to which its memory is kept for the next one.
const keepPending = 4096

// intake is the first stage of the pipeline: the set of changed resources that nobody has been told of yet, in the
// order in which they first became dirty. Watches put changes into it, the delivery takes all of it at once.
type intake struct {
	// mu guards pending and index, which hold the same keys.
	mu      sync.Mutex
	pending []reduced.Metadata
	index   map[reduced.Key]int

	// dirty holds one signal while pending is not empty and was not taken yet. Nobody waits to send on it.
	dirty chan struct{}
}

func newIntake() *intake {
	return &intake{index: map[reduced.Key]int{}, dirty: make(chan struct{}, 1)}
}

// put adds changes, merging those of one resource.
func (in *intake) put(changes []reduced.Metadata) {
	if len(changes) == 0 {
		return
	}

	in.mu.Lock()

	for i := range changes {
		key := changes[i].Key()

		if at, ok := in.index[key]; ok {
			in.pending[at] = reduced.Merge(in.pending[at], changes[i])

			continue
		}

		in.index[key] = len(in.pending)
		in.pending = append(in.pending, changes[i])
	}

	in.mu.Unlock()

	select {
	case in.dirty <- struct{}{}:
	default:
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

// deliver is the second stage: it hands changes to route until the context ends.
func (in *intake) deliver(ctx context.Context, route func(*reduced.Metadata)) {
	var batch []reduced.Metadata

	for {
		select {
		case <-ctx.Done():
			return
		case <-in.dirty:
		}

		batch = in.take(batch)

		for i := range batch {
			route(&batch[i])
		}
	}
}
