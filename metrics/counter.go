package metrics

import (
	"expvar"
	"sync/atomic"
	"time"
)

// Counter is a count that only grows. It enters its map with the first count: an entry costs the map time that grows
// with the entries it has, and most counts of most controllers stay at zero. The zero value counts nothing. It is safe
// for concurrent use, and not to be copied.
type Counter struct {
	shown atomic.Pointer[expvar.Int]
	key   *string
	in    family
}

// Inc adds one.
func (c *Counter) Inc() { c.Add(1) }

// Add adds n. The first count waits for whoever is reading all of the map.
func (c *Counter) Add(n int) {
	if shown := c.entry(); shown != nil {
		shown.Add(int64(n))
	}
}

// entry returns the entry of the map, which another controller of the name may have made. It is nil where there is
// nothing to count, or the key is that of something else.
func (c *Counter) entry() *expvar.Int {
	shown := c.shown.Load()
	if shown != nil || c.in == none {
		return shown
	}

	m := c.in.counts()
	m.Add(*c.key, 0)

	if shown, _ = m.Get(*c.key).(*expvar.Int); shown != nil {
		c.shown.Store(shown)
	}

	return shown
}

// Seconds is a sum of durations in seconds, which enters its map as a [Counter] does. The zero value sums nothing. It
// is safe for concurrent use, and not to be copied.
type Seconds struct {
	shown atomic.Pointer[expvar.Float]
	key   *string
	in    family
}

// Add adds the duration. The first one waits for whoever is reading all of the map.
func (s *Seconds) Add(d time.Duration) {
	shown := s.shown.Load()

	if shown == nil {
		if s.in == none {
			return
		}

		m := s.in.counts()
		m.AddFloat(*s.key, 0)

		if shown, _ = m.Get(*s.key).(*expvar.Float); shown == nil {
			return
		}

		s.shown.Store(shown)
	}

	shown.Add(d.Seconds())
}
