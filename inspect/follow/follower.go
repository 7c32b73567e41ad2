package follow

import (
	"cmp"
	"slices"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/runtime"
)

// Engine is what is followed; [runtime.Runtime] is one.
type Engine interface {
	PassesSince(controller string, number uint64) ([]cause.Pass, error)
}

// News is what has happened since the last look.
type News struct {
	// Ended are the passes that have ended, in the order in which they began.
	Ended []cause.Pass
	// Running are all passes that still run, in the same order. Each is among Ended some day.
	Running []cause.Pass
	// Forgotten counts, by controller, the passes that were made and forgotten since the last look, so that nobody is told of them:
	// the engine remembers too few passes of these controllers, or is looked at too rarely.
	Forgotten map[string]uint64
}

// Follower follows the passes of all controllers of an engine. Make one with [New]. It is not safe for concurrent use.
type Follower struct {
	engine Engine
	looked bool
	at     map[string]*position
}

// position is how far one controller was followed.
type position struct {
	// from is the number above which is asked, and last the highest that was seen.
	from, last uint64
	// told are those above from that have been told.
	told map[uint64]struct{}
	// toldOf and forgotten count all that were told, and all that were reported as forgotten; before are those that had been made
	// and forgotten before the first look.
	toldOf, forgotten, before int64
}

// New returns a follower that has told nothing yet: its first look tells all that the engine remembers.
func New(engine Engine) *Follower {
	return &Follower{engine: engine, at: map[string]*position{}}
}

// Look returns what has happened since the last look. Health is that of the engine now. A controller without new passes costs next
// to nothing. What a controller has done is forgotten together with it when it is unregistered.
//
// A controller that is registered anew under the name of another begins anew, unless it makes as many passes as that one before
// the next look: then it is taken for the same.
func (f *Follower) Look(health runtime.Health) (news News) {
	at := make(map[string]*position, len(health.Controllers))

	for i := range health.Controllers {
		c := &health.Controllers[i]
		p := f.at[c.Name]

		if p == nil || c.Passes < p.last {
			p = &position{}
		}

		at[c.Name] = p

		if c.Passes == p.from {
			continue
		}

		passes, err := f.engine.PassesSince(c.Name, p.from)
		if err != nil || len(passes) == 0 {
			continue // it has been unregistered meanwhile
		}

		missing := p.take(passes, &news)

		if !f.looked {
			p.before, missing = missing, 0
		}

		if missing > 0 {
			if news.Forgotten == nil {
				news.Forgotten = map[string]uint64{}
			}

			p.forgotten += missing
			news.Forgotten[c.Name] = uint64(missing)
		}
	}

	f.at, f.looked = at, true

	slices.SortFunc(news.Ended, inOrder)
	slices.SortFunc(news.Running, inOrder)

	return news
}

func inOrder(a, b cause.Pass) int {
	return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Controller, b.Controller), cmp.Compare(a.Number, b.Number))
}

// take takes in the passes above from, the last one first, and returns how many more are missing than were reported.
func (p *position) take(passes []cause.Pass, news *News) (missing int64) {
	// A pass has its number a moment before it can be seen. So those up to the last one of this look are asked for once more.
	from, seen, running := p.last, p.told, int64(0)

	p.last, p.told = max(p.last, passes[0].Number), map[uint64]struct{}{}

	for i := range passes {
		pass := &passes[i]

		if pass.Outcome == cause.Running {
			running++
			from = min(from, pass.Number-1)
			news.Running = append(news.Running, *pass)

			continue
		}

		if _, told := seen[pass.Number]; !told {
			p.toldOf++
			news.Ended = append(news.Ended, *pass)
		}

		p.told[pass.Number] = struct{}{}
	}

	p.from = from

	for number := range p.told {
		if number <= from {
			delete(p.told, number)
		}
	}

	// What turns up late was reported as missing once, and makes up for that.
	return int64(p.last) - p.before - p.toldOf - running - p.forgotten
}
