package prom

// rest sums up what has grown of the controllers that have no label of their own. What those have done that have gone stays in
// the sum, since a count that goes back is taken for one that has begun anew.
type rest struct {
	now, before map[string]*grown
	gone        grown
	// ever tells whether there has been one, since the sum does not go when the last one does.
	ever bool
}

func (r *rest) begin() { r.now, r.before = map[string]*grown{}, r.now }

func (r *rest) add(name string, g *grown) {
	r.now[name], r.ever = g, true
}

// end returns the sum.
func (r *rest) end() *grown {
	for name, before := range r.before {
		if now := r.now[name]; now == nil || now.durations.count < before.durations.count {
			gone := *before

			// The counts of the contract outlive their controllers: one that has come back goes on with them.
			if now != nil {
				gone.calls = [len(calls)]float64{}
			}

			r.gone.add(&gone)
		}
	}

	r.before = nil

	sum := r.gone
	for _, g := range r.now {
		sum.add(g)
	}

	return &sum
}
