package live

import (
	"strconv"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/follow"
	"github.com/switchyard-run/switchyard/runtime"
)

// looker looks at the engine again and again, and knows what it has seen the last time.
type looker struct {
	cfg     Config
	sampler sampler
	// last is what was seen the last time.
	last *snapshot
	// follower is there while somebody follows.
	follower *follow.Follower

	// declarations are those of a revision.
	declarations *answer.Declarations
	revision     uint64
}

func newLooker(cfg Config) *looker {
	return &looker{cfg: cfg, sampler: sampler{engine: cfg.Engine}}
}

// look returns what is to be seen now if somebody watches, and which passes have ended since the last look if somebody follows.
func (l *looker) look(watched, followed bool) (seen *snapshot, passes *lot) {
	now, health := l.cfg.Clock.Now(), l.cfg.Engine.Health()

	if err := l.declare(); err != nil {
		l.cfg.Logger.Warn("the declarations can not be shown", zap.Error(err))
	}

	if watched {
		rates := l.sampler.sample(&health, l.declarations, now)
		l.last = l.last.next(l.cfg.Answers.OverviewOf(&health, l.revision, l.declarations.Findings), rates)
		seen = l.last
	} else {
		l.sampler.seen = nil
	}

	return seen, l.follow(&health, followed)
}

// follow returns which passes have ended since the last look, if somebody follows. What was before that is nothing new.
func (l *looker) follow(health *runtime.Health, followed bool) *lot {
	switch {
	case !followed:
		l.follower = nil

		return nil
	case l.follower == nil:
		l.follower = follow.New(l.cfg.Engine)
		l.follower.Look(*health)

		return nil
	}

	news := l.follower.Look(*health)

	return lotOf(l.cfg.Answers, &news)
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

// count adds what a pass was woken for, and what it has written, as often as it stands for passes.
func (r *rates) count(declared *answer.Declarations, p *cause.Pass, times float64) {
	for i := range p.Causes {
		if in, ok := declared.Input(p.Controller, &p.Causes[i]); ok {
			r.wakeups[inputOf{p.Controller, in}] += times * float64(p.Causes[i].Events)
		}
	}

	for i := range p.Writes {
		r.writes[outputOf{p.Controller, p.Writes[i].Resource.Type}] += times
	}

	// Writes that were made and not noted were like the last one that was.
	if n := len(p.Writes); n > 0 && p.MoreWrites > 0 {
		r.writes[outputOf{p.Controller, p.Writes[n-1].Resource.Type}] += times * float64(p.MoreWrites)
	}
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
