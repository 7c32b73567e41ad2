package runtime

import (
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
)

// stragglers returns the controllers that have not ended, and what keeps them from it.
func (r *Runtime) stragglers(entries []*entry) []Straggler {
	var (
		still []Straggler
		now   = r.cfg.Clock.Now()
	)

	for _, e := range entries {
		select {
		case <-e.done:
			continue
		default:
		}

		s := Straggler{Controller: e.name()}

		var since time.Time
		if since, s.Doing = e.unit().Unfinished(); s.Doing != "" {
			s.For = now.Sub(since)
		}

		still = append(still, s)
	}

	return still
}

// warnOfStragglers names in the log what has not ended some time after its context, with where controllers stand.
func (r *Runtime) warnOfStragglers(entries []*entry, after time.Duration) {
	still := r.stragglers(entries)
	names := namesOf(still)
	fields := []zap.Field{
		zap.Duration("after", after), zap.Strings("controllers", names), zap.Strings("watches", r.watches.stillAlive()),
	}

	if len(still) > 0 {
		stacks := adapter.Stacks(names...)

		var all strings.Builder

		for _, s := range still {
			all.WriteString(s.String() + "\n" + stacks[s.Controller])
		}

		fields = append(fields, zap.Strings("doing", described(still)), zap.String("stacks", all.String()))
	}

	r.logger.Warn("still running after the end of their context", fields...)
}

func namesOf(stragglers []Straggler) []string {
	var names []string

	for _, s := range stragglers {
		names = append(names, s.Controller)
	}

	return names
}
