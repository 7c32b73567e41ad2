package runtime

import (
	"slices"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// mostDeparted is how many controllers that are gone are told apart.
const mostDeparted = 1000

// departed is what is known of controllers that were unregistered after they had written something. What they have written is forgotten
// together with them, and was not made from outside all the same.
type departed struct {
	// mu guards what is below.
	mu  sync.Mutex
	all map[string]departure
}

// departure is a controller that is gone. One that stands for many has any outputs.
type departure struct {
	// wrote is when it had written last.
	wrote time.Time
	// writes are the types of its outputs, and reads those of its inputs.
	writes, reads []resource.Type
	any           bool
}

// anybody is the name of all controllers that are gone and are not told apart. Controllers have names.
const anybody = ""

// note notes that a controller is about to be forgotten.
func (d *departed) note(e *entry) {
	gone := departure{wrote: e.trace.Lost()}

	for _, p := range e.trace.Passes() {
		if len(p.Writes) > 0 && p.Ended.After(gone.wrote) {
			gone.wrote = p.Ended
		}
	}

	if gone.wrote.IsZero() {
		return
	}

	gone.writes = e.node.Outputs()

	for _, in := range e.node.Inputs() {
		gone.reads = append(gone.reads, in.Type)
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	if before, ok := d.all[e.name()]; ok {
		gone.writes, gone.reads = union(gone.writes, before.writes), union(gone.reads, before.reads)
	}

	if d.all == nil {
		d.all = map[string]departure{}
	}

	d.all[e.name()] = gone

	if len(d.all) > mostDeparted {
		many := departure{any: true}

		for _, one := range d.all {
			if one.wrote.After(many.wrote) {
				many.wrote = one.wrote
			}
		}

		d.all = map[string]departure{anybody: many}
	}
}

func union(a, b []resource.Type) []resource.Type {
	all := slices.Concat(a, b)
	slices.Sort(all)

	return slices.Compact(all)
}

// into adds to when controllers have forgotten something that those did who are gone.
func (d *departed) into(lost map[string]time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()

	for name, gone := range d.all {
		if gone.wrote.After(lost[name]) {
			lost[name] = gone.wrote
		}
	}
}

// mayHaveMade tells whether a controller that is gone may have made a change.
func (d *departed) mayHaveMade(name string, key reduced.Key, changed reduced.Change) bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	gone := d.all[name]

	return gone.any || slices.Contains(gone.writes, key.Type) || changed&reduced.ChangeFinalizers != 0 && slices.Contains(gone.reads, key.Type)
}
