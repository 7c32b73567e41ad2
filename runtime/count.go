package runtime

import (
	"cmp"
	"slices"
)

// admittedAtOnce is of how many controllers the first wakeup is counted when they are registered before the engine runs.
const admittedAtOnce = 64

// count counts the first wakeups that were not counted when the controllers were registered. Whoever reads the metrics of a
// few controllers before the engine runs finds them. But to enter the names of many in any order takes time that grows
// with their square.
func (r *Runtime) count(registered []*entry) {
	for _, e := range byName(registered, func(e *entry) bool { return e.waits }) {
		e.waits = false
		e.classic.Admit()
	}
}

// byName returns some of the entries in the order of their names. The metrics are maps of sorted keys, which take many in their
// order at the least cost.
func byName(entries []*entry, wanted func(*entry) bool) []*entry {
	var found []*entry

	for _, e := range entries {
		if wanted(e) {
			found = append(found, e)
		}
	}

	slices.SortFunc(found, func(a, b *entry) int { return cmp.Compare(a.name(), b.name()) })

	return found
}
