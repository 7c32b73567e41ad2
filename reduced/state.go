package reduced

import "github.com/cosi-project/runtime/pkg/resource"

// State is the last state seen of a resource: its facts without what was merged into them on the way, in half the memory.
// It is for whoever keeps one for each of many resources.
type State struct {
	labels  resource.Labels
	version uint64
	created int64
	phase   uint8
	flags   flags
}

// State returns the last state seen.
func (f *Facts) State() State { return State{f.labels, f.version, f.created, f.phase, f.flags} }

// Facts returns the facts that one event with this state shows.
func (s State) Facts() Facts {
	return Facts{
		labels: s.labels, version: s.version, created: s.created, firstVersion: s.version, events: 1, phase: s.phase, flags: s.flags,
	}
}
