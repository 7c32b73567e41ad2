package metrics

import (
	"expvar"
	"sync/atomic"
	"time"
)

// count is one entry of one of the contract's maps. It enters the map when it is first added to: an entry costs the map
// time that grows with the entries it has, and most counts of most controllers stay at zero.
type count struct{ shown atomic.Pointer[expvar.Int] }

// add adds n to the entry of the key, which another controller of the name may have made. Nothing is counted under an
// empty key, or one that is that of something else.
func (c *count) add(in family, key string, n int) {
	shown := c.shown.Load()
	if shown == nil {
		shown = c.enter(in, key)
	}

	if shown != nil {
		shown.Add(int64(n))
	}
}

// enter makes the entry of the key if there is none, and returns nil if there can be none.
func (c *count) enter(in family, key string) *expvar.Int {
	if key == "" {
		return nil
	}

	m := in.counts()
	m.Add(key, 0)

	shown, _ := m.Get(key).(*expvar.Int)
	if shown != nil {
		c.shown.Store(shown)
	}

	return shown
}

// Counter is a count of the engine's own that only grows. The zero value counts nothing, nor does nil. It is safe for concurrent
// use, and not to be copied.
type Counter struct{ shown atomic.Pointer[expvar.Int] }

// Inc adds one.
func (c *Counter) Inc() { c.Add(1) }

// Add adds n.
func (c *Counter) Add(n int) {
	if c == nil {
		return
	}

	if shown := c.shown.Load(); shown != nil {
		shown.Add(int64(n))
	}
}

// seconds is a sum of durations, which enters its map as a count does.
type seconds struct{ shown atomic.Pointer[expvar.Float] }

func (s *seconds) add(in family, key string, d time.Duration) {
	shown := s.shown.Load()

	if shown == nil {
		if key == "" {
			return
		}

		m := in.counts()
		m.AddFloat(key, 0)

		if shown, _ = m.Get(key).(*expvar.Float); shown == nil {
			return
		}

		s.shown.Store(shown)
	}

	shown.Add(d.Seconds())
}
