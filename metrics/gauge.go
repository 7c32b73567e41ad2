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

// source is one part of a gauge, and where the gauge is to be found.
type source struct {
	read  func() int
	gauge *gauge
	in    *expvar.Map
	key   string
}

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

// addGauge adds a source to the entry of the map.
func addGauge(m *expvar.Map, key string, read func() int) *source {
	gaugesMu.Lock()
	defer gaugesMu.Unlock()

	g, ok := m.Get(key).(*gauge)
	if !ok {
		g = &gauge{}
		m.Set(key, g)
	}

	s := &source{read: read, gauge: g, in: m, key: key}

	g.mu.Lock()
	defer g.mu.Unlock()

	g.sources = append(g.sources, s)

	return s
}

// remove takes the source away, and the entry with the last one. A second call does nothing.
func (s *source) remove() {
	gaugesMu.Lock()
	defer gaugesMu.Unlock()

	if s.gauge.without(s) && s.in.Get(s.key) == expvar.Var(s.gauge) {
		s.in.Delete(s.key)
	}
}

// without removes the source, and tells whether none is left.
func (g *gauge) without(s *source) bool {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.sources = slices.DeleteFunc(g.sources, func(other *source) bool { return other == s })

	return len(g.sources) == 0
}
