package runtime

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/switchyard-run/switchyard/backoff"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
)

// watchdog looks at all controllers from time to time, and says in the log which of them are stuck, and what is found in the
// declarations. What is held because a write of a controller may have made it does not wait for one that is stuck.
type watchdog struct {
	runtime  *Runtime
	surveyor surveyor
	// stuck are those that were at the last look.
	stuck map[*entry]*stretch
	// count is how many these are, for others to read.
	count *atomic.Int64
}

// stretch is a time in which a controller is stuck, without having been seen at work in between.
type stretch struct {
	since time.Time
	// told is how long it had lasted when it was told of last.
	told time.Duration
}

// run looks until the context ends.
func (d *watchdog) run(ctx context.Context) {
	pause := max(d.runtime.cfg.StuckAfter/2, time.Millisecond)

	d.surveyor.look(d.runtime)

	for backoff.Sleep(ctx, d.runtime.cfg.Clock, pause) {
		d.look()
		d.surveyor.look(d.runtime)
	}

	d.count.Store(0)
}

// look compares who is stuck with who was at the last look.
func (d *watchdog) look() {
	var (
		now   = d.runtime.cfg.Clock.Now()
		still = map[*entry]*stretch{}
		tell  []ControllerHealth
	)

	for _, node := range d.runtime.db.Nodes() {
		e := node.Target()

		if e.queue != nil {
			e.queue.LetGo()
		}

		health := d.runtime.health(e, now)
		s := d.stuck[e]

		if !health.Stuck {
			if s != nil && !health.Paused {
				d.runtime.logger.Info("controller is not stuck any more", zap.String("controller", e.name()),
					zap.Duration("was_for", now.Sub(s.since)))
			}

			continue
		}

		if s == nil {
			s = &stretch{since: now.Add(-health.stuckFor(now))}
		}

		still[e] = s

		if lasted := now.Sub(s.since); s.told == 0 || lasted >= 2*s.told {
			s.told = lasted

			tell = append(tell, health)
		}
	}

	d.stuck = still
	d.count.Store(int64(len(still)))
	d.tell(tell, now)
}

// tell names controllers that are stuck, with what they do and where they stand.
func (d *watchdog) tell(controllers []ControllerHealth, now time.Time) {
	if len(controllers) == 0 {
		return
	}

	names := make([]string, len(controllers))
	for i := range controllers {
		names[i] = controllers[i].Name
	}

	stacks := adapter.Stacks(names...)

	for i := range controllers {
		c := &controllers[i]

		d.runtime.logger.Warn("controller is stuck", zap.String("controller", c.Name), zap.String("doing", c.doing()),
			zap.Duration("for", c.stuckFor(now)), zap.String("stacks", stacks[c.Name]))
	}
}
