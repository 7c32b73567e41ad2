package runtime

import (
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
)

// divider delivers changes of resources that controllers keep rewriting: to those controllers when the time has come, and
// to all others at once. It belongs to whoever delivers.
type divider struct {
	finder *rivalry.Finder // nil where nobody is looked for
	router *dependency.Router[*entry]

	// rivals and theirs tell whom it is that is being delivered to: rivals, or all others.
	rivals []*rivalry.Writer
	theirs bool
}

// init has it deliver changes of the database, of which the finder knows whom they are for.
func (d *divider) init(db *dependency.Database[*entry], finder *rivalry.Finder, explains bool) {
	d.finder = finder
	d.router = dependency.NewRouter(db, func(e *entry, changes []reduced.Metadata, kind controller.InputKind) {
		if d.rival(e.name()) == d.theirs {
			e.deliver(changes, kind)
		}
	})

	if explains {
		d.router.VisitAlways()
	}
}

func (d *divider) rival(name string) bool {
	return slices.ContainsFunc(d.rivals, func(w *rivalry.Writer) bool { return w.Name() == name })
}

// route delivers batches of one kind each, in order. A change that is not for everybody is routed by itself, as a wakeup for what
// comes before or after it must not be taken for one that it has given.
func (d *divider) route(router *dependency.Router[*entry], batches [][]reduced.Metadata) {
	for _, batch := range batches {
		done := 0

		for i := range batch {
			rivals, forThem := d.finder.Delay(&batch[i])
			if rivals == nil {
				continue
			}

			router.Route(batch[done:i])
			done = i + 1

			d.deliver(batch[i], rivals, false)

			if forThem != nil {
				d.deliver(*forThem, rivals, true)
			}
		}

		router.Route(batch[done:])
	}
}

// release delivers what was held back for long enough, and returns the rivalries that are over.
func (d *divider) release() (over []rivalry.Rivalry) {
	held, over := d.finder.Due()

	for i := range held {
		d.deliver(held[i].Change, held[i].Rivals, true)
	}

	return over
}

// deliver delivers a change to rivals, or to all others.
func (d *divider) deliver(change reduced.Metadata, rivals []*rivalry.Writer, theirs bool) {
	d.rivals, d.theirs = rivals, theirs
	d.router.Route([]reduced.Metadata{change})
}

// delayed waits for what is held back to be due. It belongs to the goroutine of the delivery.
type delayed struct {
	clock clockwork.Clock
	timer clockwork.Timer
	at    time.Time // for which the timer is set
	// due is nil when no timer is set, or its time was taken from the channel.
	due <-chan time.Time
}

// settle has it wait for what is due next.
func (d *delayed) settle(finder *rivalry.Finder) {
	at, some := finder.Next()
	if some && d.due != nil && d.at.Equal(at) {
		return
	}

	d.stop()

	if some {
		d.timer = d.clock.NewTimer(d.clock.Until(at))
		d.at, d.due = at, d.timer.Chan()
	}
}

func (d *delayed) stop() {
	if d.due != nil {
		d.timer.Stop()
		d.due = nil
	}
}

// found tells of a rivalry that has begun.
func (r *Runtime) found(found rivalry.Rivalry) {
	r.foundRivalries.Inc()

	r.logger.Warn("controllers keep rewriting a resource, each undoing what another has written, and are told of its changes later",
		zap.Stringer("resource", found.Resource), zap.Strings("controllers", found.Controllers), zap.Strings("fields", found.Fields),
		zap.Int("rewrites", found.Rewrites), zap.Duration("interval", found.Interval))
}

// over tells of rivalries that have come to an end.
func (r *Runtime) over(ended []rivalry.Rivalry) {
	for i := range ended {
		r.logger.Info("controllers do not keep rewriting a resource any more",
			zap.Stringer("resource", ended[i].Resource), zap.Strings("controllers", ended[i].Controllers),
			zap.Int("rewrites", ended[i].Rewrites), zap.Duration("was_for", r.cfg.Clock.Since(ended[i].Since)))
	}
}
