package spans

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
)

const (
	// longest is how long a text is at most, and longestStack a stack.
	longest      = 256
	longestStack = 4 << 10
	// mostLinks is how many links a span has at most.
	mostLinks = 32
)

// Attributes of spans and links. What there is nothing of is not there.
const (
	// Controller is the name of the controller, Number which of its passes it is, and Doing "reconcile", "map", "run" or "hook".
	Controller = attribute.Key("switchyard.controller")
	Number     = attribute.Key("switchyard.pass")
	Doing      = attribute.Key("switchyard.doing")
	// Item is what the pass was for.
	Item = attribute.Key("switchyard.item")
	// Outcome is "succeeded", "skipped", "requeued", "failed" or "stopped", or "running" if it had not ended when following did.
	Outcome = attribute.Key("switchyard.outcome")
	// Waited is for how many seconds that had waited which the pass was for, and Again in how many it is made again.
	Waited = attribute.Key("switchyard.waited")
	Again  = attribute.Key("switchyard.again")
	// Causes are the changes that have woken the controller in a line each, MoreCauses how many there were beside, and Reasons what
	// else there was: see [cause.Reasons].
	Causes     = attribute.Key("switchyard.causes")
	MoreCauses = attribute.Key("switchyard.causes.more")
	Reasons    = attribute.Key("switchyard.reasons")
	// Outside is how many of the changes no pass has made that was followed. Unsure is that one may have made them that was forgotten,
	// or was made before all was followed.
	Outside = attribute.Key("switchyard.outside")
	Unsure  = attribute.Key("switchyard.outside.unsure")
	// Root is that no pass is known to have caused this one: it was caused from outside, unless that is unsure.
	Root = attribute.Key("switchyard.root")
	// Reads and Writes are how many there were.
	Reads  = attribute.Key("switchyard.reads")
	Writes = attribute.Key("switchyard.writes")
	// Forgotten is how many passes of the controller were forgotten shortly before, so that there is no span of them.
	Forgotten = attribute.Key("switchyard.forgotten")

	// Link is why there is a link: "cause" or "before". Cause is which of the causes.
	Link  = attribute.Key("switchyard.link")
	Cause = attribute.Key("switchyard.cause")
)

// span is the span of a pass.
type span struct {
	span   trace.Span
	origin *origin

	// pass is what was known of it at the last look, of whose writes so many have been noted.
	pass  *cause.Pass
	noted int
	// before is the pass before that was for the same, or nil.
	before *origin

	caused, links int
	outside       int
	forgotten     uint64
	unsure        bool
}

// start begins the span of a pass, with as much of it as somebody who samples may go by.
func start(tracer trace.Tracer, p *cause.Pass) *span {
	attributes := []attribute.KeyValue{
		Controller.String(text(p.Controller, longest)), Number.Int64(int64(p.Number)), Doing.String(p.Doing.String()),
	}

	if p.Item.ID != "" {
		attributes = append(attributes, Item.String(text(p.Item.String(), longest)))
	}

	if p.Outcome != cause.Running {
		attributes = append(attributes, Outcome.String(p.Outcome.String()))
	}

	_, s := tracer.Start(context.Background(), text(api.Printable(p.Controller), longest)+" "+p.Doing.String(),
		trace.WithNewRoot(), trace.WithTimestamp(p.Began), trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(attributes...))

	return &span{span: s, origin: &origin{began: p.Began, span: s.SpanContext()}}
}

// causedBy says who has made the changes of a cause.
func (s *span) causedBy(c *cause.Cause, by []*origin) {
	for _, origin := range by {
		s.link(origin, Link.String("cause"), Cause.String(text(c.String(), longest)))
	}
}

// link links the span to that of another pass, unless that is not sampled: the link would lead nowhere.
func (s *span) link(to *origin, attributes ...attribute.KeyValue) {
	s.caused++

	if to.span.IsSampled() && s.links < mostLinks {
		s.links++
		s.span.AddLink(trace.Link{SpanContext: to.span, Attributes: attributes})
	}
}

// end says what has come of the pass and ends the span: now, if the pass still runs.
func (s *span) end(now time.Time) {
	p := s.pass

	if s.before != nil && p.Reasons&(cause.Retried|cause.Timed) != 0 {
		s.link(s.before, Link.String("before"))
	}

	ended := p.Ended
	if p.Outcome == cause.Running {
		ended = now
	}

	if s.span.IsRecording() {
		s.span.SetAttributes(s.attributes()...)

		if p.Outcome == cause.Failed {
			s.fail(ended)
		}
	}

	s.span.End(trace.WithTimestamp(ended))
}

// attributes are those that nobody samples by.
func (s *span) attributes() []attribute.KeyValue {
	p := s.pass
	attributes := []attribute.KeyValue{
		Outcome.String(p.Outcome.String()), Reads.Int(len(p.Reads) + p.MoreReads), Writes.Int(len(p.Writes) + p.MoreWrites),
		Root.Bool(s.caused == 0),
	}

	if len(p.Causes) > 0 {
		causes := make([]string, len(p.Causes))
		for i := range p.Causes {
			causes[i] = text(p.Causes[i].String(), longest)
		}

		attributes = append(attributes, Causes.StringSlice(causes))
	}

	if p.Reasons != 0 {
		attributes = append(attributes, Reasons.StringSlice(p.Reasons.Names()))
	}

	if s.outside > 0 && s.unsure {
		attributes = append(attributes, Unsure.Bool(true))
	}

	for _, n := range []struct {
		key   attribute.Key
		value uint64
	}{{MoreCauses, p.More}, {Outside, uint64(s.outside)}, {Forgotten, s.forgotten}} {
		if n.value > 0 {
			attributes = append(attributes, n.key.Int64(int64(n.value)))
		}
	}

	for _, d := range []struct {
		key   attribute.Key
		value time.Duration
	}{{Waited, p.Waited}, {Again, p.Again}} {
		if d.value > 0 {
			attributes = append(attributes, d.key.Float64(d.value.Seconds()))
		}
	}

	return attributes
}

// fail says why the pass has failed.
func (s *span) fail(at time.Time) {
	message, kind := text(s.pass.Failure, longest), "error"
	exception := []attribute.KeyValue{attribute.String("exception.message", message)}

	if s.pass.Stack != "" {
		kind = "panic"
		exception = append(exception, attribute.String("exception.stacktrace", text(s.pass.Stack, longestStack)))
	}

	s.span.SetStatus(codes.Error, message)
	s.span.AddEvent("exception", trace.WithTimestamp(at), trace.WithAttributes(append(exception, attribute.String("exception.type", kind))...))
}

// text returns a text as it can be sent: valid, and not too long.
func text(s string, most int) string {
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}

		s = s[:most] + "…"
	}

	return strings.ToValidUTF8(s, "\uFFFD")
}
