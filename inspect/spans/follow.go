package spans

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/follow"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

const (
	// scope names who makes the spans.
	scope = "github.com/switchyard-run/switchyard/inspect/spans"
	// warnEvery is how often is warned that passes are forgotten.
	warnEvery = time.Minute
)

// Engine is what is followed; [runtime.Runtime] is one. It has to remember passes.
type Engine interface {
	follow.Engine
	Health() runtime.Health
}

// Follow makes a span of each pass of an engine until the context ends: then it looks once more, has the provider export what it
// has, if that can be asked for it, and returns. End the context when Run of the engine has returned, so that the last passes are
// among them. Passes that the engine remembers at the beginning become spans, too. The error is that spans were not exported in
// time.
func Follow(ctx context.Context, engine Engine, provider trace.TracerProvider, cfg Config) error {
	cfg = cfg.withDefaults()
	f := newFollowing(engine, provider, cfg)

	ticker := cfg.Clock.NewTicker(cfg.Interval)
	defer ticker.Stop()

	for {
		select {
		case <-ticker.Chan():
			f.look()
		case <-ctx.Done():
			f.look()
			f.end()

			return flush(context.WithoutCancel(ctx), provider, cfg.Flush)
		}
	}
}

func flush(ctx context.Context, provider trace.TracerProvider, within time.Duration) error {
	p, ok := provider.(interface {
		ForceFlush(ctx context.Context) error
	})
	if !ok {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()

	if err := p.ForceFlush(ctx); err != nil {
		return fmt.Errorf("the last spans were not exported: %w", err)
	}

	return nil
}

// following is an engine that is followed.
type following struct {
	cfg      Config
	engine   Engine
	follower *follow.Follower
	tracer   trace.Tracer

	// open are the spans of passes that run and have written: others may have been woken by that.
	open map[id]*span
	// ended are those of passes that had ended at the last look.
	ended []*span

	writes writes
	last   *recent[doing, *origin]

	// sure is from when on all that was written is known.
	sure time.Time
	// forgotten counts passes of which nobody was warned yet, and warned is when somebody was.
	forgotten uint64
	warned    time.Time
}

// id tells passes apart, also those of different controllers of one name.
type id struct {
	controller string
	number     uint64
	began      time.Time
}

// doing is what passes are for.
type doing struct {
	controller string
	doing      cause.Doing
	item       reduced.Key
}

func idOf(p *cause.Pass) id { return id{p.Controller, p.Number, p.Began} }

func doingOf(p *cause.Pass) doing { return doing{p.Controller, p.Doing, p.Item} }

func newFollowing(engine Engine, provider trace.TracerProvider, cfg Config) *following {
	return &following{
		cfg: cfg, engine: engine, follower: follow.New(engine), tracer: provider.Tracer(scope), open: map[id]*span{},
		writes: writes{*newRecent[reduced.Key, []write](cfg.Resources)}, last: newRecent[doing, *origin](cfg.Resources),
	}
}

// look takes in what has happened since the last look, and finishes what had ended then: by now all is known that those passes
// can have been woken by.
func (f *following) look() {
	news := f.follower.Look(f.engine.Health())
	finished := f.ended
	f.ended = make([]*span, 0, len(news.Ended))

	if f.sure.IsZero() || len(news.Forgotten) > 0 {
		f.sure = f.cfg.Clock.Now()
	}

	for i := range news.Ended {
		p := &news.Ended[i]
		s := f.begin(p)
		s.forgotten = news.Forgotten[p.Controller]
		delete(news.Forgotten, p.Controller)

		f.forgotten += s.forgotten
		f.ended = append(f.ended, s)
	}

	running := make(map[id]*span, len(f.open))

	for i := range news.Running {
		if p := &news.Running[i]; len(p.Writes) > 0 {
			running[idOf(p)] = f.begin(p)
		}
	}

	// What is left has gone with its controller.
	for _, s := range f.open {
		f.finish(s)
	}

	f.open = running

	for _, s := range finished {
		f.finish(s)
	}

	f.warn()
}

// end finishes all spans, those of passes that still run included.
func (f *following) end() {
	for _, s := range f.ended {
		f.finish(s)
	}

	for _, s := range f.open {
		f.finish(s)
	}

	f.ended, f.open = nil, map[id]*span{}
}

// begin returns the span of a pass, which it begins unless it has begun, and notes what the pass has written.
func (f *following) begin(p *cause.Pass) *span {
	s := f.open[idOf(p)]
	if s == nil {
		s = start(f.tracer, p)
		s.before = f.last.get(doingOf(p))
	} else {
		delete(f.open, idOf(p))
	}

	s.pass, s.origin.ended = p, p.Ended

	f.writes.add(s.origin, p.Writes[s.noted:])
	s.noted = len(p.Writes)

	if p.MoreWrites > 0 || f.writes.forgot {
		f.sure, f.writes.forgot = f.cfg.Clock.Now(), false
	}

	f.last.set(doingOf(p), s.origin)

	return s
}

func (f *following) finish(s *span) {
	var before time.Time
	if s.before != nil {
		before = s.before.began
	}

	// Who is woken by what was written before may be so for a while.
	s.unsure = s.pass.Began.Add(-s.pass.Waited).Before(f.sure.Add(f.cfg.Interval))

	for i := range s.pass.Causes {
		c := &s.pass.Causes[i]
		by, others, unsure := f.writes.madeBy(s.origin, c, before)
		s.causedBy(c, by)

		s.outside += others
		s.unsure = s.unsure || unsure
	}

	s.end(f.cfg.Clock.Now())
}

// warn says that passes were forgotten, unless it has lately.
func (f *following) warn() {
	now := f.cfg.Clock.Now()

	if f.forgotten == 0 || !f.warned.IsZero() && now.Sub(f.warned) < warnEvery {
		return
	}

	f.cfg.Logger.Warn("passes were forgotten before they could become spans: have the engine remember more of them, or look more often",
		zap.Uint64("passes", f.forgotten), zap.Duration("interval", f.cfg.Interval))

	f.forgotten, f.warned = 0, now
}
