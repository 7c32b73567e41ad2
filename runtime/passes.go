package runtime

import "github.com/switchyard-run/switchyard/cause"

// Passes returns the last passes of a controller, the latest first: what has caused each, what it has read and written, and
// what has come of it. Of one that runs it is what is known so far. See [Config] for how many are remembered.
func (r *Runtime) Passes(name string) ([]cause.Pass, error) {
	e, err := r.find(name)
	if err != nil {
		return nil, err
	}

	return e.trace.Passes(), nil
}

// Book returns the last passes of all controllers as they are now, to be asked who has made a change.
func (r *Runtime) Book() *cause.Book {
	passes := map[string][]cause.Pass{}

	for _, node := range r.db.Nodes() {
		e := node.Target()
		passes[e.name()] = e.trace.Passes()
	}

	return cause.NewBook(passes)
}
