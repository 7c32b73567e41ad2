package metrics

import (
	"expvar"
	"slices"
	"strconv"
	"sync"
)

// gauge is a value read on demand: the sum of its sources, of which several engines of a process may each have one.
type gauge struct {
	// mu guards sources, and with them whether the gauge is still in its map.
	mu      sync.Mutex
	sources []*source
}

type source struct{ read func() int }

// String implements [expvar.Var].
func (g *gauge) String() string { return strconv.FormatInt(g.Value(), 10) }

// Value returns the sum of the sources.
func (g *gauge) Value() int64 {
	g.mu.Lock()
	sources := slices.Clone(g.sources)
	g.mu.Unlock()

	var sum int64

	for _, s := range sources {
		sum += int64(s.read())
	}

	return sum
}

// gaugesMu makes finding, adding and deleting an entry of an expvar map one step.
var gaugesMu sync.Mutex

// addGauge adds a source to the entry of the map and returns the function that takes it away again; the entry goes
// with its last source.
func addGauge(m *expvar.Map, key string, read func() int) (remove func()) {
	gaugesMu.Lock()
	defer gaugesMu.Unlock()

	g, ok := m.Get(key).(*gauge)
	if !ok {
		g = &gauge{}
		m.Set(key, g)
	}

	s := &source{read}

	g.mu.Lock()
	g.sources = append(g.sources, s)
	g.mu.Unlock()

	return func() {
		gaugesMu.Lock()
		defer gaugesMu.Unlock()

		g.mu.Lock()
		g.sources = slices.DeleteFunc(g.sources, func(other *source) bool { return other == s })
		empty := len(g.sources) == 0
		g.mu.Unlock()

		if empty && m.Get(key) == expvar.Var(g) {
			m.Delete(key)
		}
	}
}
