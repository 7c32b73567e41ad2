package rivalry

import (
	"slices"
	"time"

	"github.com/switchyard-run/switchyard/reduced"
)

const (
	// shortest is for how long changes are held back at first, and longest at most.
	shortest, longest = 500 * time.Millisecond, 30 * time.Second
	// mostVersions is how many versions that rivals have made are remembered, and were not told of yet.
	mostVersions = 64
)

// rivals is a rivalry that goes on. Time goes in intervals: at the end of each, what was held back in it is told, and if
// something was undone in it, the next one takes twice as long. Otherwise it is over.
type rivals struct {
	history

	since, interval time.Duration
	next            time.Duration // the end of the interval
	before          int           // what was undone before it
	over            bool          // nothing is held back any more

	// made are versions that rivals have made, or are about to make, and ended is how often they have destroyed the resource,
	// or are about to.
	made  []uint64
	ended int

	// held is what is held back; no facts at all are nothing.
	held reduced.Facts
}

// begin begins the next interval.
func (r *rivals) begin(now time.Duration) {
	r.next = now + r.interval
	r.before, r.muddled = r.undone, false
}

// quiet tells that nothing was undone in this interval.
func (r *rivals) quiet() bool {
	r.settle()

	return r.undone == r.before && !r.muddled
}

// expect notes that a rival is about to make a version, or 0, to destroy the resource.
func (r *rivals) expect(version uint64) {
	if version == 0 {
		r.ended++

		return
	}

	if len(r.made) == mostVersions {
		r.made = slices.Delete(r.made, 0, 1)
	}

	r.made = append(r.made, version)
}

// retract takes back what was expected.
func (r *rivals) retract(version uint64) {
	if version == 0 {
		r.ended = max(r.ended-1, 0)

		return
	}

	if at := slices.Index(r.made, version); at >= 0 {
		r.made = slices.Delete(r.made, at, at+1)
	}
}

// theirs tells whether rivals have made a change, and forgets what it was for. Where it is merged of several, and where the
// resource was destroyed in between, some of it may have been made by others, who wait for no longer than the interval.
func (r *rivals) theirs(md *reduced.Metadata) bool {
	if r.over || md.Missed() || md.SawDestroy() && r.ended == 0 {
		return false
	}

	first := md.Causes().FirstVersion
	if md.SawDestroy() {
		r.ended--
		first = md.Version() // versions begin again
	}

	if md.Destroyed() {
		return true
	}

	if first > md.Version() {
		return false
	}

	for version := first; version <= md.Version(); version++ {
		if !slices.Contains(r.made, version) {
			return false
		}
	}

	r.made = slices.DeleteFunc(r.made, func(version uint64) bool { return first <= version && version <= md.Version() })

	return true
}

// delay decides about a change that is about to be told: it is held back, or comes back with what was held before it.
func (r *rivals) delay(md *reduced.Metadata) *reduced.Metadata {
	held := r.theirs(md)
	merged := reduced.About(md.Key(), reduced.MergeFacts(r.held, md.Facts))

	if held {
		r.held = merged.Facts

		return nil
	}

	r.held = reduced.Facts{}

	return &merged
}
