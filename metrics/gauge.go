package metrics

import (
	"expvar"
	"slices"
	"strconv"
	"sync"
)

// Gauge is a value that is read on demand, until it is removed or its engine closed. Gauges of one map and key are shown
// as their sum.
type Gauge struct {
	engine *Engine
	in     *expvar.Map
	key    string
	read   func() int
	sum    *sum
}

// Remove takes the gauge away, and the entry with the last one. Further calls, and calls on nil, do nothing.
func (g *Gauge) Remove() {
	if g == nil {
		return
	}

	g.engine.forget(g)
	g.leave()
}

// sum is the entry of a map: what the gauges of the engines of a process come to.
type sum struct {
	// mu guards parts.
	mu    sync.Mutex
	parts []*Gauge
}

// String implements [expvar.Var].
func (s *sum) String() string { return strconv.FormatInt(s.Value(), 10) }

// Value returns the sum of the parts.
func (s *sum) Value() int64 {
	s.mu.Lock()
	parts := slices.Clone(s.parts)
	s.mu.Unlock()

	var value int64

	for _, g := range parts {
		value += int64(g.read())
	}

	return value
}

// gaugesMu makes finding, adding and deleting an entry of an expvar map one step.
var gaugesMu sync.Mutex

// enter adds the gauge to the entry of its key.
func (g *Gauge) enter() {
	gaugesMu.Lock()
	defer gaugesMu.Unlock()

	s, ok := g.in.Get(g.key).(*sum)
	if !ok {
		s = &sum{}
		g.in.Set(g.key, s)
	}

	g.sum = s

	s.mu.Lock()
	defer s.mu.Unlock()

	s.parts = append(s.parts, g)
}

// leave takes the gauge out of its entry, and an empty entry out of the map.
func (g *Gauge) leave() {
	gaugesMu.Lock()
	defer gaugesMu.Unlock()

	if g.sum.without(g) && g.in.Get(g.key) == expvar.Var(g.sum) {
		g.in.Delete(g.key)
	}
}

// without removes a part, and tells whether none is left.
func (s *sum) without(g *Gauge) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.parts = slices.DeleteFunc(s.parts, func(other *Gauge) bool { return other == g })

	return len(s.parts) == 0
}
