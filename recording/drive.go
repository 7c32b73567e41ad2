package recording

import (
	"context"
	"fmt"

	"go.uber.org/zap"
)

// classic makes a pass of a classic controller.
func (r *replay) classic(p *recordedPass) {
	f := r.runs[p.Controller]

	if p.By == Started {
		f = r.start(p)
	} else if !r.wake(f, p) {
		return
	}

	f.lure()

	select {
	case <-f.complete():
	case <-f.returned:
	case <-r.ctx.Done():
		r.stuck(p, "calls that the recorded pass had made")

		return
	}

	if p.finish != nil {
		select {
		case <-f.returned:
		case <-r.ctx.Done():
			r.stuck(p, "Run to return, as it had")

			return
		}

		r.finish(f, p)
	}
}

// start starts a Run.
func (r *replay) start(p *recordedPass) *follower {
	ctx, cancel := context.WithCancelCause(r.ctx)

	f := newFollower(r, cancel)
	f.gate = newGate()
	f.enter(p)
	r.runs[p.Controller] = f

	f.goroutines.Go(f.serve)
	f.goroutines.Go(func() {
		f.outcome = broken // unless it returns

		defer func() {
			f.panicked = recover()

			close(f.returned)
		}()

		err := r.engine.classic[p.Controller].Run(withTrace(ctx, f), &runAccess{access: access{trace: f}, wakeups: f.wakeups}, zap.NewNop())
		f.outcome = outcomeOf(nil, err)
	})

	return f
}

// wake hands a wakeup to a Run.
func (r *replay) wake(f *follower, p *recordedPass) bool {
	select {
	case f.offers <- p:
		select {
		case <-f.taken:
			return true
		case <-f.returned:
		case <-r.ctx.Done():
		}
	case <-f.returned:
	case <-r.ctx.Done():
	}

	if r.ctx.Err() != nil {
		r.stuck(p, "the controller to take the wakeup")
	} else {
		r.fail(f.difference("is the last one of a Run that had gone on", everything, &f.outcome))
	}

	return false
}

// pass makes a pass of a queue controller.
func (r *replay) pass(p *recordedPass) {
	ctx, cancel := context.WithCancelCause(r.ctx)

	f := newFollower(r, cancel)
	f.enter(p)

	f.goroutines.Go(func() {
		f.outcome = broken // unless it returns

		defer func() {
			f.panicked = recover()

			close(f.returned)
		}()

		f.outcome = r.call(withTrace(ctx, f), f, p)
	})

	var cut <-chan struct{}
	if p.cut {
		cut = f.complete()
	}

	select {
	case <-f.returned:
		cancel(context.Canceled)
		f.goroutines.Wait()
	case <-cut:
		r.open = append(r.open, f)

		return
	case <-r.ctx.Done():
		r.stuck(p, "the pass to return")
		f.goroutines.Wait()

		return
	}

	if p.finish != nil {
		r.finish(f, p)
	}
}

func (r *replay) call(ctx context.Context, f *follower, p *recordedPass) outcome {
	ctrl, runtime := r.engine.queue[p.Controller], &access{trace: f}

	if p.By == Reconciled {
		return outcomeOf(nil, ctrl.Reconcile(ctx, zap.NewNop(), runtime, p.Of.pointer()))
	}

	return outcomeOf(ctrl.MapInput(ctx, zap.NewNop(), runtime, p.Facts.of(*p.Of)))
}

// finish compares how a pass or a Run has returned.
func (r *replay) finish(f *follower, p *recordedPass) {
	if f.gate != nil {
		delete(r.runs, p.Controller)
		f.close()
	}

	switch {
	case r.ctx.Err() != nil:
		r.stuck(p, "nothing more")
	case f.panicked != nil && !p.finish.Outcome.Broken:
		r.fail(f.difference(fmt.Sprintf("panicked: %v", f.panicked), everything, &f.outcome))
	case !f.isComplete():
		r.fail(f.difference("returned without doing what it had done", everything, &f.outcome))
	case f.outcome.text() != p.finish.Outcome.text():
		r.fail(f.difference("returned something else", everything, &f.outcome))
	}
}
