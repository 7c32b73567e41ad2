package qruntime

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/queue"
	"github.com/switchyard-run/switchyard/reduced"
)

// worker takes items one after the other for as long as there are any.
type worker struct {
	adapter *Adapter

	// mu guards pass, so that others can see what the worker is at.
	mu   sync.Mutex
	pass pass
}

// pass is one call of Reconcile or MapInput.
type pass struct {
	item     item
	metadata reduced.Metadata
	started  time.Time
	running  bool
}

// hire starts workers for what is ready, up to the controller's concurrency. The queue calls it whenever something has
// become ready.
func (a *Adapter) hire() {
	a.mu.Lock()
	defer a.mu.Unlock()

	if !a.open || a.ctx.Err() != nil {
		return
	}

	for wanted := a.queue.Len(); wanted > 0 && len(a.workers) < a.limit; wanted-- {
		w := &worker{adapter: a}
		a.workers[w] = struct{}{}

		adapter.Loop(&a.running, w.step, w.exited)
	}
}

// retire ends a worker, unless something has become ready since it last looked: whoever put that has either seen this
// worker, or comes to see that it is gone. Once the context has ended, what is ready is left for Wait to drop.
func (a *Adapter) retire(w *worker) bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.open && a.ctx.Err() == nil && a.queue.HasReady() {
		return false
	}

	delete(a.workers, w)

	return true
}

// step is one pass; it tells whether to look for another.
func (w *worker) step() bool {
	a := w.adapter

	if a.ctx.Err() != nil {
		return !a.retire(w)
	}

	it, md, ok := a.queue.Take()
	if !ok {
		return !a.retire(w)
	}

	p := pass{item: it, metadata: md, started: a.cfg.Clock.Now(), running: true}
	w.enter(p)

	var mapped []reduced.Key

	err := adapter.Contain(func() (err error) {
		mapped, err = a.call(a.ctx, &p)

		return err
	})

	w.enter(pass{})
	a.finish(p, mapped, err)

	return true
}

// exited finishes the pass in which the callback ended the worker's goroutine.
func (w *worker) exited() {
	w.mu.Lock()
	p := w.pass
	w.pass = pass{}
	w.mu.Unlock()

	if p.running {
		w.adapter.finish(p, nil, adapter.ErrGoexit)
	}
}

func (w *worker) enter(p pass) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.pass = p
}

func (w *worker) current() pass {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.pass
}

// call calls the controller, and returns what is to be reconciled.
func (a *Adapter) call(ctx context.Context, p *pass) ([]reduced.Key, error) {
	logger := a.cfg.Logger.WithLazy(zap.String("namespace", p.item.key.Namespace), zap.String("type", p.item.key.Type), zap.String("id", p.item.key.ID))

	if p.item.job == reconcile {
		return nil, a.cfg.Controller.Reconcile(ctx, logger, a.cfg.Runtime, p.item.key.Pointer())
	}

	return a.mapAll(ctx, logger, &p.metadata)
}

// finish counts and logs a pass, and decides what becomes of its item.
func (a *Adapter) finish(p pass, mapped []reduced.Key, err error) {
	ran := a.cfg.Clock.Since(p.started)

	if p.item.job == mapInput {
		a.cfg.Metrics.MapBusy.Add(ran)
	} else {
		a.cfg.Metrics.Processed.Inc()
		a.cfg.Metrics.ReconcileBusy.Add(ran)
	}

	out := a.judge(err)

	switch out.verdict {
	case settled, skipped:
		a.recovered(p.item)
		a.succeed(p, mapped, out)
	case requeued:
		if out.after > 0 {
			a.recovered(p.item)
		} else {
			_, out.after = a.failed(p.item)
		}

		a.cfg.Metrics.Requeues.Inc()
		a.log(zapcore.DebugLevel, "pass asked to run again", p, ran, zap.Duration("after", out.after))
		a.queue.Retry(p.item, p.metadata, out.after)
	case failed:
		attempt, delay := a.failed(p.item)

		switch {
		case out.after > 0 && out.exact:
			delay = out.after
		case out.after > 0:
			delay = min(delay, out.after)
		}

		a.cfg.Metrics.Crashes.Inc()
		a.cfg.Metrics.Requeues.Inc()
		a.recorder.Note(err, attempt, a.cfg.Clock.Now().Add(delay))
		a.log(zapcore.ErrorLevel, "pass failed and will be run again", p, ran,
			append(adapter.ErrorFields(err), zap.Int("attempt", attempt), zap.Duration("next_try_in", delay))...)
		a.queue.Retry(p.item, p.metadata, delay)
	case cancelled:
		a.queue.Done(p.item)
	}
}

func (a *Adapter) succeed(p pass, mapped []reduced.Key, out outcome) {
	if out.verdict == skipped {
		a.cfg.Metrics.Skips.Inc()
	}

	if len(mapped) > 0 {
		a.cfg.Metrics.MappedOut.Add(len(mapped))
		a.putAll(mapped, queue.Live)
	}

	if _, all := p.metadata.FormerLabels(); !all {
		a.cfg.Everything()
	}

	a.log(zapcore.DebugLevel, "pass finished", p, a.cfg.Clock.Since(p.started), zap.Bool("skipped", out.verdict == skipped))
	a.queue.Done(p.item)
}

// failed counts a failure of the item and returns which one in a row it is, and its backoff.
func (a *Adapter) failed(it item) (attempt int, delay time.Duration) {
	attempt = a.queue.Fail(it)

	if attempt == 1 {
		a.failing.Add(1)
	}

	return attempt, a.cfg.Backoff.Delay(attempt, a.cfg.Random)
}

// recovered forgets the failures of the item. Where nothing is failing, which is the rule, it costs one load.
func (a *Adapter) recovered(it item) {
	if a.failing.Load() == 0 || a.queue.Failures(it) == 0 {
		return
	}

	a.queue.Forget(it)

	if a.failing.Add(-1) == 0 {
		a.recorder.Recover()
	}
}

func (a *Adapter) log(level zapcore.Level, message string, p pass, ran time.Duration, fields ...zap.Field) {
	if entry := a.cfg.Logger.Check(level, message); entry != nil {
		entry.Write(append(fields, zap.Stringer("item", p.item), zap.Duration("ran", ran))...)
	}
}
