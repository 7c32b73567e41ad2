package runtime

import (
	"time"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/reduced"
)

// Passes returns the last passes of a controller, the latest first: what has caused each, what it has read and written, and
// what has come of it. Of one that runs it is what is known so far. See [Config] for how many are remembered.
func (r *Runtime) Passes(name string) ([]cause.Pass, error) {
	e, err := r.find(name)
	if err != nil {
		return nil, err
	}

	return e.trace.Passes(), nil
}

// PassesSince is [Runtime.Passes] for those numbered above a number, for whoever follows what a controller does: cause.Follow says
// from where to ask next. Numbers begin with 1. Where nothing is new, it costs a comparison. What was made and forgotten since
// is missing among the numbers.
func (r *Runtime) PassesSince(name string, number uint64) ([]cause.Pass, error) {
	e, err := r.find(name)
	if err != nil {
		return nil, err
	}

	return e.trace.PassesSince(number), nil
}

// Timings returns how long the passes of a controller have taken and waited, and what has come of them. All are zero where
// passes are not remembered.
func (r *Runtime) Timings(name string) (cause.Timings, error) {
	e, err := r.find(name)
	if err != nil {
		return cause.Timings{}, err
	}

	return e.trace.Timings(), nil
}

// Book returns the last passes of all controllers as they are now, to be asked who has made a change.
func (r *Runtime) Book() *cause.Book {
	passes, lost := map[string][]cause.Pass{}, map[string]time.Time{}

	for _, node := range r.db.Nodes() {
		e := node.Target()
		passes[e.name()] = e.trace.Passes()

		// What is forgotten meanwhile is said to be forgotten, and not to be from outside.
		if at := e.trace.Lost(); !at.IsZero() {
			lost[e.name()] = at
		}
	}

	r.departed.into(lost)

	return cause.NewBook(passes, lost, r.mayHaveMade)
}

// mayHaveMade tells whether a controller may have made a change: it declares the type as an output, or may put finalizers on
// the resource. So may one of the name that is gone.
func (r *Runtime) mayHaveMade(name string, key reduced.Key, changed reduced.Change) bool {
	node, ok := r.db.Get(name)

	if ok && (node.Writes(key.Type) || changed&reduced.ChangeFinalizers != 0 && node.Holds(key)) {
		return true
	}

	return r.departed.mayHaveMade(name, key, changed)
}
