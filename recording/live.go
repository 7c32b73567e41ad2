package recording

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"
)

// live is the trace of a pass of a queue controller, or of a Run with its passes, in a live engine.
type live struct {
	rec *Recorder
	// gate is that of a Run; nil for a queue controller.
	gate *gate

	// mu guards what follows.
	mu sync.Mutex
	// pass is the present one, begun how many requests it has made.
	pass, begun int
	// timers are those of which something is to be heard.
	timers []*timer
	// left tells that the pass or Run has returned. What goroutines of its own do later is not recorded, or as from outside.
	left bool
	// watched are the contexts with teardown whose end is to be noted, by the number of their call.
	watched map[int]*watchedContext
}

var _ trace = (*live)(nil)

// enter begins a pass.
func (l *live) enter(b begin) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.timers = slices.DeleteFunc(l.timers, (*timer).over)
	l.pass, l.begun = l.rec.begin(b), 0
}

// settle notes what the controller was given and has taken by itself: a wakeup, the time from a timer.
func (l *live) settle() {
	if l.gate != nil {
		l.gate.settle()
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	for _, t := range l.timers {
		if at, ok := t.taken(); ok {
			l.rec.put(line{Event: &event{Pass: l.pass, Begun: l.begun, What: fired, Of: t.number, Time: at}})
		}
	}
}

// happened notes an event that the controller is going to notice.
func (l *live) happened(e event) {
	l.settle()

	l.mu.Lock()
	defer l.mu.Unlock()

	e.Pass, e.Begun = l.pass, l.begun

	l.rec.put(line{Event: &e})
}

// request begins a call. It returns nil where the pass or Run has returned.
func (l *live) request(q question, writes bool) *call {
	l.settle()

	req := request{Verb: q.verb, Of: q.of, With: q.with}

	// It is encoded now, since a write changes the metadata.
	if writes {
		req.Content = l.rec.number(q.writes)
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	if l.left {
		return nil
	}

	l.begun++

	return &call{Pass: l.pass, Number: l.rec.nextCall(), Request: req}
}

func (l *live) answered(c *call, r reply) reply {
	c.Answer.OK, c.Answer.Value, c.Answer.Error = r.ok, r.value, failureOf(r.err)

	for _, res := range r.resources {
		c.Answer.Resources = append(c.Answer.Resources, l.rec.number(res))
	}

	r.number = c.Number

	l.mu.Lock()
	defer l.mu.Unlock()

	if !l.left {
		l.rec.put(line{Call: c})
	}

	return r
}

func (l *live) ask(ctx context.Context, q question, do func(context.Context) reply) reply {
	c := l.request(q, true)
	if c == nil {
		return do(ctx)
	}

	m := &mark{call: c.Number}
	r := do(withMark(ctx, m))

	if q.verb == "create" || q.verb == "update" || q.verb == "destroy" {
		l.expectChange(m, r.err)
	}

	return l.answered(c, r)
}

// expectChange notices that the recorder has not seen the change of a call that has made one.
func (l *live) expectChange(m *mark, err error) {
	if err == nil && !m.seen.Load() {
		l.rec.fail(ErrState)
	}
}

func (l *live) modify(ctx context.Context, q question, f update, do func(context.Context, update) reply) reply {
	c := l.request(q, false)
	if c == nil {
		return do(ctx, f)
	}

	m := &mark{call: c.Number}

	r := do(withMark(ctx, m), func(res resource.Resource) error {
		a := attempt{Base: l.rec.number(res), New: res == q.writes}

		err := f(res)
		if err == nil {
			a.Made = l.rec.number(res)
		}

		a.Error = failureOf(err)
		c.Attempts = append(c.Attempts, a)

		return err
	})

	if len(c.Attempts) > 0 {
		if last := c.Attempts[len(c.Attempts)-1]; last.New || last.Made != last.Base {
			l.expectChange(m, r.err)
		}
	}

	if res, _ := r.one(); res != nil {
		c.Answer.Own = res == q.writes
	}

	return l.answered(c, r)
}

func (l *live) teardown(
	ctx context.Context, q question, do func(context.Context) (context.Context, error),
) (context.Context, error) {
	c := l.request(q, false)
	if c == nil {
		return do(ctx)
	}

	watched, err := do(ctx)
	if l.answered(c, reply{err: err}); err != nil {
		return nil, err
	}

	w := l.watch(watched, event{What: toreDown, Of: c.Number}, func() { l.forget(c.Number) })

	l.mu.Lock()
	defer l.mu.Unlock()

	if l.watched == nil {
		l.watched = map[int]*watchedContext{}
	}

	l.watched[c.Number] = w

	return w.Context, nil
}

func (l *live) forget(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()

	delete(l.watched, number)
}

func (l *live) failed(err error) { l.rec.fail(err) }

func (l *live) keep(t *timer) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.timers = append(l.timers, t)
}

// watchedContext is what a controller sees of a context: it ends after its end is noted.
type watchedContext struct {
	context.Context

	stop   func() bool
	cancel context.CancelCauseFunc
	noted  chan struct{}
}

// watch notes the event when the context ends, and then calls done.
func (l *live) watch(ctx context.Context, e event, done func()) *watchedContext {
	shown, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	w := &watchedContext{Context: shown, cancel: cancel, noted: make(chan struct{})}

	w.stop = context.AfterFunc(ctx, func() {
		defer close(w.noted)

		e.Cause = failureOf(context.Cause(ctx))

		l.happened(e)
		cancel(context.Cause(ctx))
		done()
	})

	return w
}

// end ends what the controller sees. Nothing is noted any more when it has returned.
func (w *watchedContext) end() {
	if !w.stop() {
		<-w.noted
	}

	w.cancel(context.Canceled)
}

// show returns what the controller sees of its context, which carries the trace.
func (l *live) show(ctx context.Context) *watchedContext {
	return l.watch(withTrace(ctx, l), event{What: canceled}, func() {})
}

// endWatches ends the contexts with teardown that are left.
func (l *live) endWatches() {
	l.mu.Lock()
	left := slices.Collect(maps.Values(l.watched))
	l.mu.Unlock()

	for _, w := range left {
		w.end()
	}
}

// leave ends what is left of a pass or a Run.
func (l *live) leave(o outcome) {
	l.settle()

	l.mu.Lock()
	defer l.mu.Unlock()

	for _, t := range l.timers {
		t.halt()
	}

	l.timers, l.left = nil, true

	l.rec.put(line{Finish: &finish{Pass: l.pass, Outcome: o}})
}
