package qruntime

import (
	"time"

	"github.com/switchyard-run/switchyard/cause"
)

// traces tells whether calls have to say in which pass they are.
func (a *Adapter) traces() bool { return a.cfg.Trace.Several() }

// trace begins what is remembered of a pass.
func (w *worker) trace(p *pass) *cause.Open {
	begin := cause.Begin{Kind: p.kind, ID: p.item.id, At: p.began, Waited: max(p.began-w.since, 0), Reasons: w.reason.why.reasons(), Causes: w.reason.causes()}

	if p.item.job == mapInput {
		begin.Doing = cause.Mapping
		begin.Own = cause.ChangeOf(p.facts, w.adapter.inputs[p.item.kind].mapped)
	} else {
		begin.Own = w.reason.change()

		if begin.Own.Events == 0 && begin.Causes == nil && begin.Reasons == 0 {
			begin.Reasons = cause.Filled
		}
	}

	if w.seat != nil {
		return w.seat.Begin(&begin)
	}

	return w.adapter.cfg.Trace.Begin(&begin)
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
