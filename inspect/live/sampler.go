package live

import (
	"time"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/runtime"
)

// samples is how many passes are looked at in one look, of all controllers together, and leastSamples of one at least. Others are
// taken to be like those.
const (
	samples      = 4096
	leastSamples = 4
)

// sampler finds out how often things happen, from the passes that have ended between two looks.
type sampler struct {
	engine Engine
	// at is when the last look was, and seen how far each controller was seen then.
	at   time.Time
	seen map[string]progress
}

// progress is how far a controller was seen: how many passes it had begun, and up to which number all had ended.
type progress struct{ begun, ended uint64 }

// sample returns how often things have happened since the last look; nothing at the first one.
func (s *sampler) sample(h *runtime.Health, declared *answer.Declarations, now time.Time) *rates {
	r, first := newRates(), s.seen == nil
	seen, most := make(map[string]progress, len(h.Controllers)), s.most(h)

	for i := range h.Controllers {
		c := &h.Controllers[i]
		before := s.seen[c.Name]

		if c.Passes < before.begun {
			before = progress{} // it was registered anew
		}

		if first {
			before = progress{c.Passes, c.Passes}
		}

		seen[c.Name] = s.look(r, declared, c, before, most, now)
	}

	if seconds := now.Sub(s.at).Seconds(); first || seconds <= 0 {
		r = newRates()
	} else {
		r.divide(seconds)
	}

	s.at, s.seen = now, seen

	return r
}

// most is how many passes of a controller are looked at, so that those of all that have made some are not too many.
func (s *sampler) most(h *runtime.Health) uint64 {
	active := 0

	for i := range h.Controllers {
		if h.Controllers[i].Passes != s.seen[h.Controllers[i].Name].begun {
			active++
		}
	}

	return uint64(max(samples/max(active, 1), leastSamples))
}

// look adds what a controller has done, and returns how far it was seen.
func (s *sampler) look(
	r *rates, declared *answer.Declarations, c *runtime.ControllerHealth, before progress, most uint64, now time.Time,
) progress {
	made := c.Passes - before.begun
	if made > 0 {
		r.passes[c.Name] = float64(made)
	}

	if c.Passes == before.ended {
		return progress{c.Passes, c.Passes}
	}

	from := max(before.ended, c.Passes-min(most, c.Passes))

	passes, err := s.engine.PassesSince(c.Name, from)
	if err != nil {
		return before // it has been unregistered meanwhile
	}

	// What has ended since this look began is for the next one.
	open, ended := uint64(0), passes[:0]
	at := progress{c.Passes, c.Passes}

	for i := range passes {
		switch p := &passes[i]; {
		case p.Outcome == cause.Running || p.Ended.After(now):
			open++
			at.ended = min(at.ended, p.Number-1)
		case p.Ended.After(s.at):
			ended = append(ended, *p)
		}
	}

	times := 1.0
	if n := uint64(len(ended)); n > 0 && made > n+open {
		times = float64(made-open) / float64(n)
	}

	for i := range ended {
		r.count(declared, &ended[i], times)
	}

	return at
}
