package live

import (
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/follow"
	"github.com/switchyard-run/switchyard/runtime"
)

// looker looks at the engine again and again, and knows what it has seen the last time.
type looker struct {
	cfg      Config
	follower *follow.Follower

	// last is what was seen the last time, at when, and begun how many passes each controller had begun.
	last  *snapshot
	at    time.Time
	begun map[string]uint64

	// declarations are those of a revision.
	declarations *answer.Declarations
	revision     uint64
}

func newLooker(cfg Config) *looker {
	return &looker{cfg: cfg, follower: follow.New(cfg.Engine)}
}

// look returns what is to be seen now if somebody watches, and which passes have ended since the last look if somebody follows.
func (l *looker) look(watched, followed bool) (seen *snapshot, passes *lot) {
	first, now := l.begun == nil, l.cfg.Clock.Now()
	health := l.cfg.Engine.Health()
	news := l.follower.Look(health)

	if err := l.declare(); err != nil {
		l.cfg.Logger.Warn("the declarations can not be shown", zap.Error(err))
	}

	rates := newRates()

	if !first && watched {
		rates = l.rate(&health, &news, now.Sub(l.at))
	}

	l.at, l.begun = now, begun(&health)

	if watched {
		l.last = l.last.next(l.cfg.Answers.OverviewOf(&health, l.revision, l.declarations.Findings), rates)
		seen = l.last
	}

	if followed && !first {
		passes = lotOf(l.cfg.Answers, &news)
	}

	return seen, passes
}

// declare looks at the declarations if they have changed.
func (l *looker) declare() error {
	revision := l.cfg.Engine.GraphRevision()
	if l.declarations != nil && revision == l.revision {
		return nil
	}

	declarations, err := l.cfg.Answers.Declarations()
	if err != nil {
		if l.declarations == nil {
			l.declarations = &answer.Declarations{Findings: []api.Finding{}}
		}

		return err
	}

	l.declarations, l.revision = declarations, revision

	return nil
}

func begun(h *runtime.Health) map[string]uint64 {
	all := make(map[string]uint64, len(h.Controllers))
	for i := range h.Controllers {
		all[h.Controllers[i].Name] = h.Controllers[i].Passes
	}

	return all
}

// rate returns how often what has happened since the last look. What was forgotten before anybody could look is taken to have been
// like what was not.
func (l *looker) rate(h *runtime.Health, news *follow.News, since time.Duration) *rates {
	r, seconds := newRates(), since.Seconds()

	if seconds <= 0 {
		return r
	}

	for i := range h.Controllers {
		c := &h.Controllers[i]
		before := l.begun[c.Name]

		if c.Passes < before {
			before = 0 // it was registered anew
		}

		if c.Passes > before {
			r.passes[c.Name] = float64(c.Passes - before)
		}
	}

	ended := map[string]uint64{}
	for i := range news.Ended {
		ended[news.Ended[i].Controller]++
	}

	for i := range news.Ended {
		p := &news.Ended[i]
		l.count(r, p, 1+float64(news.Forgotten[p.Controller])/float64(ended[p.Controller]))
	}

	r.divide(seconds)

	return r
}

// count adds what a pass was woken for, and what it has written, as often as it stands for passes.
func (l *looker) count(r *rates, p *cause.Pass, times float64) {
	for i := range p.Causes {
		if in, ok := l.declarations.Input(p.Controller, &p.Causes[i]); ok {
			r.wakeups[inputOf{p.Controller, in}] += times * float64(p.Causes[i].Events)
		}
	}

	for i := range p.Writes {
		r.writes[outputOf{p.Controller, p.Writes[i].Resource.Type}] += times
	}

	// Writes that were made and not noted were like those that were.
	if n := len(p.Writes); n > 0 && p.MoreWrites > 0 {
		r.writes[outputOf{p.Controller, p.Writes[n-1].Resource.Type}] += times * float64(p.MoreWrites)
	}
}

// rates are how often something happens in a second. What does not is not there.
type rates struct {
	passes  map[string]float64
	wakeups map[inputOf]float64
	writes  map[outputOf]float64
}

type inputOf struct {
	controller string
	input      api.Input
}

type outputOf struct{ controller, typ string }

func newRates() *rates {
	return &rates{map[string]float64{}, map[inputOf]float64{}, map[outputOf]float64{}}
}

func (r *rates) divide(seconds float64) {
	divide(r.passes, seconds)
	divide(r.wakeups, seconds)
	divide(r.writes, seconds)
}

func divide[K comparable](counts map[K]float64, seconds float64) {
	for key, n := range counts {
		counts[key] = rounded(n / seconds)
	}
}

// rounded rounds to three digits: more would not be read, and make what is the same look different.
func rounded(rate float64) float64 {
	rate, _ = strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 3, 64), 64) // what was formatted can be parsed

	return rate
}
