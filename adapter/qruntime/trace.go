package qruntime

import (
	"time"

	"github.com/switchyard-run/switchyard/cause"
)

// traces tells whether calls have to say in which pass they are.
func (a *Adapter) traces() bool { return a.cfg.Trace.Several() }

// trace begins what is remembered of a pass.
func (w *worker) trace(p *pass) *cause.Open {
	// Written field by field: what is put together elsewhere and copied at once is waited for.
	var begin cause.Begin

	begin.Kind, begin.ID, begin.At, begin.Waited = &p.duty.kind.Kind, p.id, p.began, max(p.began-w.since, 0)
	begin.Reasons, begin.Causes = w.reason.why.reasons(), w.reason.causes()

	if p.duty.job == mapInput {
		begin.Doing = cause.Mapping
		begin.Own = cause.ChangeOf(w.facts, p.duty.kind.mapped)
	} else {
		w.reason.change(&begin.Own)

		if begin.Own.Events == 0 && begin.Causes == nil && begin.Reasons == 0 {
			begin.Reasons = cause.Filled
		}
	}

	switch {
	case w.traced != nil:
		return w.traced.Next(w.over, w.became, &begin)
	case w.seat != nil:
		return w.seat.Begin(&begin)
	default:
		return w.adapter.cfg.Trace.Begin(&begin)
	}
}

var outcomes = [...]cause.Outcome{settled: cause.Succeeded, skipped: cause.Skipped, requeued: cause.Requeued, failed: cause.Failed, cancelled: cause.Stopped}

// remember ends what is remembered of the pass.
func (w *worker) remember(at time.Duration, v verdict, err error, again time.Duration) {
	if w.traced == nil {
		return
	}

	if v != failed {
		err = nil
	}

	w.traced.End(at, outcomes[v], err, again)
	w.traced = nil
}

// rememberNext is remember for a pass that has succeeded. If another one follows at once, that ends it when it begins, and one lock is
// taken for both.
func (w *worker) rememberNext(at time.Duration, v verdict) {
	if w.taken {
		w.over, w.became = at, outcomes[v]
	} else {
		w.remember(at, v, nil, 0)
	}
}
