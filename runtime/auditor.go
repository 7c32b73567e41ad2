package runtime

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-run/switchyard/backoff"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"
)

// namedMissed is how many ids a log line names.
const namedMissed = 5

// auditor has a session audited whenever the interval has passed, and says what follows from it. It belongs to the goroutine
// of the watch.
type auditor struct {
	session *session

	interval time.Duration
	// timer sets due, and has the session notice. Calls counts what it has still to do, or does.
	timer clockwork.Timer
	due   atomic.Bool
	calls sync.WaitGroup
	// audit is the one under way, or nil. The session is to notice when it is done.
	audit *audit
	// shown is how much of the contents had come when an audit was due before they were complete.
	shown int
}

// newAuditor returns the auditor of a session. Sessions that resume each other count the interval on; one that loads all
// contents is as good as an audit.
func newAuditor(s *session) *auditor {
	w := s.watch
	a := &auditor{session: s, interval: w.set.cfg.AuditInterval}

	if a.interval <= 0 {
		return a
	}

	now := w.set.cfg.Clock.Now()

	switch {
	case s.loads:
		a.interval <<= w.behindhand
		w.auditDue = now.Add(a.interval - w.early())
	case w.auditDue.IsZero():
		w.auditDue = now.Add(a.interval - w.early())
	}

	a.calls.Add(1)
	a.timer = w.set.cfg.Clock.AfterFunc(max(0, w.auditDue.Sub(now)), a.ring)

	return a
}

// ring is what the timer calls.
func (a *auditor) ring() {
	defer a.calls.Done()

	a.due.Store(true)
	a.session.watch.notify()
}

// early is by how much the first audit of a kind comes early, so that kinds whose watches were opened at the same time are not all
// listed at the same time.
func (w *watch) early() time.Duration {
	return time.Duration(backoff.NewRandom(w.set.cfg.Seed, "audit of "+w.kind.String()).Float64() * float64(w.set.cfg.AuditInterval) / 10)
}

// stop ends what was begun. The audit under way sees the end of the context of the session.
func (a *auditor) stop() {
	if a.timer == nil {
		return
	}

	if a.timer.Stop() {
		a.calls.Done()
	}

	a.calls.Wait()
	a.end()
}

// end has the audit told nothing more of the stream.
func (a *auditor) end() {
	a.audit = nil

	w := a.session.watch

	w.mu.Lock()
	defer w.mu.Unlock()

	w.auditing = nil
}

// look does what is due.
func (a *auditor) look(ctx context.Context) error {
	if a.audit != nil && over(a.audit.done) {
		if err := a.judge(); err != nil {
			return err
		}
	}

	if a.due.CompareAndSwap(true, false) {
		return a.begin(ctx)
	}

	return nil
}

// begin begins an audit that is due. Where the last one still waits for the state, the watch is closed and resumed instead.
func (a *auditor) begin(ctx context.Context) error {
	s := a.session
	w := s.watch

	if s.loading && s.shown > a.shown {
		// Contents that are still coming are nothing to be suspected.
		a.shown = s.shown
		a.next(a.interval)

		return nil
	}

	w.set.audits.Inc()

	if s.loading {
		w.behindhand = min(w.behindhand+1, mostBehindhand)

		return errAudit
	}

	a.next(w.set.cfg.AuditInterval)

	if a.audit != nil {
		return errAudit
	}

	if a.audit = w.audit(ctx, s.table); a.audit == nil {
		return errAudit
	}

	return nil
}

// next has the next audit be due after the interval. The one before was due.
func (a *auditor) next(interval time.Duration) {
	a.calls.Add(1)
	a.timer.Reset(interval)
	a.session.watch.auditDue = a.session.watch.set.cfg.Clock.Now().Add(interval)
}

// judge says what is to be done after an audit. Nothing, where the watch has shown something since the last one, and all that
// it should have shown. Otherwise it is opened anew: resumed where nothing was missed, since it may have gone silent all the same.
func (a *auditor) judge() error {
	w, found := a.session.watch, a.audit.found
	a.end()

	if found.err != nil {
		w.set.logger.Debug("audit failed", zap.Stringer("kind", w.kind), zap.Error(found.err))

		return errAudit
	}

	missed := w.undisputed(found.missed)

	switch {
	case len(missed) == 0 && found.passed && a.session.alive:
		a.session.alive = false

		return nil
	case len(missed) == 0:
		return errAudit
	case found.certain:
		w.set.missedChanges.Add(len(missed))
		w.set.logger.Warn("an audit has found changes that the watch has missed: all contents are loaded anew",
			zap.Stringer("kind", w.kind), zap.Int("missed", len(missed)), zap.Strings("some", someOf(missed)))
	case w.compares():
		return errAudit // it is late, and will come by the fence of another audit
	}

	w.doubted = missed

	return w.beginAnew()
}

func someOf(missed []difference) []resource.ID {
	var ids []resource.ID

	for _, d := range missed[:min(len(missed), namedMissed)] {
		ids = append(ids, d.id)
	}

	return ids
}

// undisputed returns the differences but for those that were there right after all contents had been loaded because of
// them, and are there still: then the state lists and streams different things, and to load them again is of no use.
func (w *watch) undisputed(differences []difference) []difference {
	if len(w.disputed) == 0 {
		return differences
	}

	still := map[resource.ID]difference{}

	fresh := slices.DeleteFunc(differences, func(d difference) bool {
		before, is := w.disputed[d.id]
		if is = is && d.same(&before); is {
			still[d.id] = d
		}

		return is
	})

	w.disputed = still

	if len(still) > 0 {
		w.set.logger.Warn("the state lists a kind otherwise than its watch shows it, also when all contents are loaded anew",
			zap.Stringer("kind", w.kind), zap.Int("resources", len(still)))
	}

	return fresh
}

// settleLocked compares what an audit had doubted with the contents that have been loaded because of it.
func (w *watch) settleLocked(table *table) {
	for _, d := range w.doubted {
		if d.known, _ = table.lookup(d.id); d.known.SameState(&d.listed) {
			continue
		}

		if w.disputed == nil {
			w.disputed = map[resource.ID]difference{}
		}

		w.disputed[d.id] = d
	}

	w.doubted = nil
}

// beginAnew forgets the bookmark, so that the next session loads all contents.
func (w *watch) beginAnew() error {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.bookmark = nil

	return errAnew
}
