package qruntime

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/origin"
	"github.com/switchyard-run/switchyard/queue"
	"github.com/switchyard-run/switchyard/reduced"
)

// worker takes items one after the other for as long as there are any. It begins, and begins anew after an item, as one
// that looks for work.
type worker struct {
	adapter *Adapter

	// pass is the one that runs, or nil.
	pass atomic.Pointer[pass]

	// ctx is the context of its passes, and hand is that one where several work at once, or nil.
	ctx  context.Context
	hand *origin.Hand
	// traced is what is remembered of the pass that runs, or nil. It may be that of the pass before, if the next item was taken right
	// after it: then over is when that has ended, and became what has come of it.
	traced *cause.Open
	over   time.Duration
	became cause.Outcome
	// seat says which pass the worker is at, where several are at one; otherwise nil.
	seat *cause.Hand

	// The fields below belong to the worker's goroutine.
	item   item
	reason because
	since  time.Duration // when the item became ready
	taken  bool          // the item is still to be worked on
	// ended is when the pass before ended, if the item was taken right after it; otherwise 0. Reading a clock takes longer
	// than taking an item.
	ended time.Duration
	// facts are what is known of a resource that is to be mapped. One that is to be reconciled has [itself] if that is for no other reason
	// than what the controller has done itself, and otherwise nil.
	facts *reduced.Facts
	// told is what the pass has been told, where it is remembered why passes were made, or nil.
	told *more
	// made is how much the controller had written when the pass began.
	made uint64

	// next is the pass to come, and logger its logger: they are made when there is time, after the pass before. Where the
	// controller's logger writes nothing, all passes have that, and dress is nil.
	next   *pass
	logger *zap.Logger
	dress  zap.Option

	// limit is the deadline of the pass, nil without one.
	limit *limit

	// loop and gone are step and exited, for whoever runs the worker.
	loop func() bool
	gone func()
}

func newWorker(a *Adapter) *worker {
	w := &worker{adapter: a, ctx: a.ctx, logger: a.cfg.Logger}

	if a.limit > 1 {
		if w.hand = a.cfg.Own.NewHand(a.ctx); w.hand != nil {
			w.ctx = w.hand
		}
	}

	if a.traces() {
		w.seat = a.cfg.Trace.Within(w.ctx)
		w.ctx = w.seat
	}

	if w.logger.Core() != zapcore.NewNopCore() {
		w.dress = zap.WrapCore(func(zapcore.Core) zapcore.Core { return &lines{pass: w.next, logger: a.cfg.Logger} })
	}

	w.loop, w.gone = w.step, w.exited
	w.prepare()

	return w
}

// start begins to look for work.
func (w *worker) start() { w.adapter.cfg.Crew.Loop(w.adapter.ctx, &w.adapter.running, w.loop, w.gone) }

// prepare makes the next pass and its logger, of which nothing depends on what the pass is about.
func (w *worker) prepare() {
	w.next = &pass{}

	if w.dress != nil {
		w.logger = w.adapter.cfg.Logger.WithOptions(w.dress)
	}
}

// step is one pass; it tells whether to look for another.
func (w *worker) step() bool {
	a := w.adapter

	if !w.taken && a.goesOn() {
		w.take(a.queue.HandOut())
	}

	if !w.taken {
		w.facts, w.told = nil, nil

		return !a.retire(w)
	}

	a.looking.Add(-1)
	a.hire()

	w.taken = false
	p := w.begin()
	w.pass.Store(p)

	var mapped []item

	err := contain.Call(func() (err error) {
		mapped, err = w.call(p)

		return err
	})

	w.finish(p, mapped, err)

	return true
}

// exited finishes the pass in which the callback ended the worker's goroutine.
func (w *worker) exited() {
	if p := w.pass.Load(); p != nil {
		w.finish(p, nil, contain.ErrGoexit)
	}
}

// begin describes the pass for the item.
func (w *worker) begin() *pass {
	a := w.adapter
	p := w.next
	p.id, p.duty, p.began, w.facts = w.item.id, &a.inputs[w.item.kind].duties[w.item.job], w.ended, w.reason.facts()

	if p.began == 0 {
		p.began = a.now()
	}

	if a.cfg.Trace != nil {
		w.traced = w.trace(p)
	}

	if w.told = nil; a.cfg.Trace != nil {
		w.told = w.reason.more
	}

	w.reason, w.ended = because{}, 0
	w.made = w.hasMade()

	return p
}

// own tells whether nobody but the controller has done what the pass is for.
func (w *worker) own() bool { return w.facts != nil && (w.facts == itself || w.facts.Own()) }

// call calls the controller, and returns what is to be reconciled.
func (w *worker) call(p *pass) ([]item, error) {
	a := w.adapter
	ctx := w.ctx

	if a.cfg.Deadline != nil {
		ctx = w.limited(p)
	}

	if p.duty.job == reconcile {
		return nil, a.cfg.Controller.Reconcile(ctx, w.logger, a.cfg.Runtime, p.about())
	}

	return a.mapAll(ctx, w.logger, p.key(), w.facts)
}

// finish counts and logs a pass, decides what becomes of its item, and looks for the next one.
func (w *worker) finish(p *pass, mapped []item, err error) {
	a := w.adapter

	if w.limit != nil {
		err = w.unlimited(err)
	}

	now := a.now()
	ran := now - p.began

	w.pass.Store(nil)
	w.prepare()

	if p.duty.job == mapInput {
		a.cfg.Metrics.Mapped(ran)
	} else {
		a.cfg.Metrics.Reconciled(ran)
	}

	out := a.judge(err)

	switch out.verdict {
	case settled, skipped:
		a.recovered(p.item())
		w.succeeded(p, mapped, out.verdict == skipped, ran)

		if streak := w.goesOn(p); streak > 0 {
			w.remember(now, out.verdict, nil, 0)
			w.rest(p, streak, now)

			return
		}

		a.damped.Load().remove(p.item())

		if !a.goesOn() || !a.queue.HasReady() {
			w.remember(now, out.verdict, nil, 0) // before the item is done: who sees that nothing is left sees no pass that runs
		}

		w.takeNext(p.item())
		w.rememberNext(now, out.verdict)

		if w.taken && len(mapped) == 0 {
			w.ended = now
		}
	case requeued, failed:
		w.postpone(p, out, err, now, ran)
	case cancelled:
		w.remember(now, cancelled, nil, 0)
		w.takeNext(p.item())
	}
}

// postpone has an item worked on again later. After a failure, what the controller has changed meanwhile itself waits as
// well, since it would be worked on for ever without a delay. Where the controller has only asked for a time, that is so
// once it was worked on often enough in a row.
func (w *worker) postpone(p *pass, out outcome, err error, now, ran time.Duration) {
	a := w.adapter
	delay, attempt := a.postponed(p, out, err, now, ran)
	stands := attempt > 0
	w.remember(now, out.verdict, err, delay)

	streak := w.goesOn(p)
	if streak == 0 {
		a.queue.BreakOff(p.item())
	}

	switch {
	case !stands:
		if calm, needed := a.calming(p, streak, now); needed {
			delay, stands = min(delay, calm), true
		}
	case attempt > 1 && w.wrote():
		a.damp(p, attempt, attempt-1, now, delay)
	default:
		a.damped.Load().remove(p.item())
	}

	// What this pass was for, it was for: only what somebody else does from now on counts as such.
	reasons := cause.Timed
	if out.verdict == failed {
		reasons = cause.Retried
	}

	again := because{why: whyOf(reasons, p.duty.job == reconcile)}
	if p.duty.job == mapInput {
		again.more = &more{facts: *w.facts}
	}

	a.looking.Add(1)

	if stands {
		a.queue.Hold(p.item(), again, delay)
	} else {
		a.queue.Retry(p.item(), again, delay)
	}
}

// takeNext ends the work on an item, and takes another where more passes are to begin.
func (w *worker) takeNext(done item) {
	a := w.adapter

	a.looking.Add(1)

	if !a.goesOn() {
		a.queue.Done(done)

		return
	}

	w.take(a.queue.HandOutNext(done))
}

func (w *worker) take(t queue.Taken[item, because], ok bool) {
	w.item, w.reason, w.since, w.taken = t.Key, t.Value, t.Since, ok
}

// succeeded puts what is to be reconciled because of the pass.
func (w *worker) succeeded(p *pass, mapped []item, skipped bool, ran time.Duration) {
	a := w.adapter

	if skipped {
		a.cfg.Metrics.Skipped()
	}

	if len(mapped) > 0 {
		a.cfg.Metrics.MappedTo(len(mapped))

		reason := because{why: whyOf(cause.Mapped, w.own())}
		if w.told != nil {
			reason.more = w.told.mapped(p)
		}

		a.queue.PutAll(toReconcile(mapped, reason), laneOf(w.own()))
	}

	if w.facts != nil {
		if _, all := w.facts.FormerLabels(); !all {
			a.cfg.Everything()
		}
	}

	if entry := a.cfg.Logger.Check(zapcore.DebugLevel, "pass finished"); entry != nil {
		entry.Write(zap.Bool("skipped", skipped), zap.Stringer("item", p), zap.Duration("ran", ran))
	}
}

// postponed returns when the item is to be worked on again, and which failure in a row it was, 0 for none.
func (a *Adapter) postponed(p *pass, out outcome, err error, now, ran time.Duration) (delay time.Duration, attempt int) {
	a.cfg.Metrics.Requeued()

	if out.verdict == requeued {
		if delay = out.after; delay > 0 {
			a.recovered(p.item())
		} else {
			attempt = a.failed(p.item())
			delay = a.backoff(attempt)
		}

		if entry := a.cfg.Logger.Check(zapcore.DebugLevel, "pass asked to run again"); entry != nil {
			entry.Write(zap.Duration("after", delay), zap.Stringer("item", p), zap.Duration("ran", ran))
		}

		return delay, attempt
	}

	attempt = a.failed(p.item())

	switch {
	case out.after > 0 && out.exact:
		delay = out.after
	case out.after > 0:
		delay = min(a.backoff(attempt), out.after)
	default:
		delay = a.backoff(attempt)
	}

	a.cfg.Metrics.Crashed()
	a.recorder.Note(err, attempt, a.time(now+delay))

	if entry := a.cfg.Logger.Check(zapcore.ErrorLevel, "pass failed and will be run again"); entry != nil {
		entry.Write(append(contain.Fields(err), zap.Int("attempt", attempt), zap.Duration("next_try_in", delay),
			zap.Stringer("item", p), zap.Duration("ran", ran))...)
	}

	return delay, attempt
}

// failed counts a failure of the item and returns which one in a row it is.
func (a *Adapter) failed(it item) (attempt int) {
	attempt = a.queue.Fail(it)

	if attempt == 1 {
		a.failing.Add(1)
	}

	return attempt
}

func (a *Adapter) backoff(attempt int) time.Duration {
	return a.cfg.Backoff.Delay(attempt, a.cfg.Random)
}

// recovered forgets the failures of the item. Where nothing is failing, which is the rule, it costs one load.
func (a *Adapter) recovered(it item) {
	if a.failing.Load() > 0 && a.queue.Forget(it) > 0 && a.failing.Add(-1) == 0 {
		a.recorder.Recover()
	}
}
