package spans_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/spans"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// copier copies ints from one namespace to another.
type copier struct {
	name, from, to string
	// then is called after an int was copied.
	then func(id resource.ID) error
}

func (c *copier) Name() string { return c.name }

func (c *copier) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs:  []controller.Input{{Namespace: c.from, Type: conformance.IntResourceType, Kind: controller.InputQPrimary}},
		Outputs: []controller.Output{{Type: conformance.IntResourceType, Kind: controller.OutputShared}},
	}
}

func (c *copier) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	from, err := safe.ReaderGet[*conformance.IntResource](ctx, r, ptr)
	if err != nil {
		return err
	}

	if c.to != "" {
		if err := safe.WriterModify(ctx, r, conformance.NewIntResource(c.to, ptr.ID(), 0), func(to *conformance.IntResource) error {
			to.SetValue(from.Value())

			return nil
		}); err != nil {
			return err
		}
	}

	if c.then != nil {
		return c.then(ptr.ID())
	}

	return nil
}

func (c *copier) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}

// world is an engine that is followed.
type world struct {
	state  state.State
	engine *runtime.Runtime
	spans  *tracetest.InMemoryExporter
	stop   func()
}

func newWorld(t *testing.T, sampler sdk.Sampler, copiers ...*copier) *world {
	w := &world{state: state.WrapCore(namespaced.NewState(inmem.Build)), spans: tracetest.NewInMemoryExporter()}

	engine, err := runtime.New(w.state, zap.NewNop(), runtime.Config{Passes: 1000})
	require.NoError(t, err)

	w.engine = engine

	for _, c := range copiers {
		require.NoError(t, engine.RegisterQController(c))
	}

	provider := sdk.NewTracerProvider(sdk.WithBatcher(w.spans, sdk.WithBatchTimeout(time.Hour)), sdk.WithSampler(sampler))
	ctx, cancel := context.WithCancel(t.Context())
	following, end := context.WithCancel(t.Context())
	ran, followed := make(chan error, 1), make(chan error, 1)

	go func() { ran <- engine.Run(ctx) }()
	go func() { followed <- spans.Follow(following, engine, provider, spans.Config{}) }()

	w.stop = func() {
		cancel()
		require.NoError(t, <-ran)
		end()
		require.NoError(t, <-followed) // all is exported now
	}

	t.Cleanup(func() { require.NoError(t, provider.Shutdown(context.WithoutCancel(ctx))) })

	time.Sleep(10 * time.Second) // all that follows was seen from its beginning

	return w
}

// find returns the only span of a controller.
func (w *world) find(t *testing.T, controller string) tracetest.SpanStub {
	found := w.all(controller)
	require.Len(t, found, 1, controller)

	return found[0]
}

// all returns the spans of a controller, the earliest first.
func (w *world) all(controller string) (all []tracetest.SpanStub) {
	for _, s := range w.spans.GetSpans() {
		if value(s.Attributes, spans.Controller).AsString() == controller {
			all = append(all, s)
		}
	}

	slices.SortFunc(all, func(a, b tracetest.SpanStub) int {
		return int(value(a.Attributes, spans.Number).AsInt64() - value(b.Attributes, spans.Number).AsInt64())
	})

	return all
}

func value(attributes []attribute.KeyValue, key attribute.Key) attribute.Value {
	set := attribute.NewSet(attributes...)
	v, _ := set.Value(key)

	return v
}

func requireLink(t *testing.T, to, from tracetest.SpanStub, why string) {
	for _, link := range from.Links {
		if link.SpanContext.Equal(to.SpanContext) {
			require.Equal(t, why, value(link.Attributes, spans.Link).AsString())

			return
		}
	}

	require.Fail(t, "no link", "from %s to %s", from.Name, to.Name)
}

// What one controller has made another one copy is linked to it, and what came from outside is a root.
func TestPassesThatCauseEachOtherAreLinked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nap := func(resource.ID) error { time.Sleep(100 * time.Millisecond); return nil }
		w := newWorld(t, sdk.AlwaysSample(), &copier{"first", "a", "b", nap}, &copier{"second", "b", "c", nap}, &copier{"third", "c", "", nap})
		began := time.Now()
		require.NoError(t, w.state.Create(t.Context(), conformance.NewIntResource("a", "one", 1)))
		time.Sleep(100 * time.Millisecond)
		w.stop()

		first, second, third := w.find(t, "first"), w.find(t, "second"), w.find(t, "third")

		require.Equal(t, "first reconcile", first.Name)
		require.Equal(t, trace.SpanKindInternal, first.SpanKind)
		require.Equal(t, began, first.StartTime.Local())
		require.Equal(t, began.Add(100*time.Millisecond), first.EndTime.Local())
		require.Equal(t, codes.Unset, first.Status.Code)
		require.False(t, first.Parent.IsValid())
		require.Empty(t, first.Links)

		for key, want := range map[attribute.Key]any{
			spans.Number: int64(1), spans.Doing: "reconcile", spans.Item: "Ints.resource.test(a/one)", spans.Outcome: "succeeded",
			spans.Causes: []string{"Ints.resource.test(a/one) v1: created"}, spans.Outside: int64(1), spans.Root: true,
			spans.Reads: int64(1), spans.Writes: int64(1), spans.Unsure: nil,
		} {
			if key == spans.Item || key == spans.Causes {
				want = value(first.Attributes, key).AsInterface() // its type is that of the suite
				require.Contains(t, fmt.Sprint(want), "(a/one)")
			}

			require.Equal(t, want, value(first.Attributes, key).AsInterface(), key)
		}

		for _, pair := range [][2]tracetest.SpanStub{{first, second}, {second, third}} {
			requireLink(t, pair[0], pair[1], "cause")
			require.Len(t, pair[1].Links, 1)
			require.Contains(t, value(pair[1].Links[0].Attributes, spans.Cause).AsString(), "one) v1: created")
			require.False(t, value(pair[1].Attributes, spans.Root).AsBool())
			require.Equal(t, attribute.EMPTY, value(pair[1].Attributes, spans.Outside).Type())
		}
	})
}

// A pass that runs on after it has written is linked to by what it has caused meanwhile.
func TestPassesThatRunAreLinkedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sdk.AlwaysSample(),
			&copier{"first", "a", "b", func(resource.ID) error { time.Sleep(time.Minute); return nil }}, &copier{"second", "b", "", nil})
		require.NoError(t, w.state.Create(t.Context(), conformance.NewIntResource("a", "one", 1)))
		time.Sleep(2 * time.Minute)
		w.stop()

		first, second := w.find(t, "first"), w.find(t, "second")
		require.Equal(t, time.Minute, first.EndTime.Sub(first.StartTime))
		require.Equal(t, "succeeded", value(first.Attributes, spans.Outcome).AsString())
		requireLink(t, first, second, "cause")
	})
}

// A failure is told as one, and the pass that is made again is linked to the one that has failed.
func TestFailuresAreErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := []error{errors.New("no room \xff" + strings.Repeat("x", 1000)), nil}
		w := newWorld(t, sdk.AlwaysSample(), &copier{"first", "a", "b", func(resource.ID) error {
			failure := failures[0]
			failures = failures[1:]

			return failure
		}}, &copier{"second", "b", "", func(resource.ID) error { panic("bad") }})
		require.NoError(t, w.state.Create(t.Context(), conformance.NewIntResource("a", "one", 1)))
		time.Sleep(10 * time.Second)
		w.stop()

		first := w.all("first")
		require.Len(t, first, 2)
		require.Equal(t, codes.Error, first[0].Status.Code)
		require.Contains(t, first[0].Status.Description, "no room \uFFFD")
		require.LessOrEqual(t, len(first[0].Status.Description), 300)
		require.True(t, utf8.ValidString(first[0].Status.Description))
		require.Equal(t, "failed", value(first[0].Attributes, spans.Outcome).AsString())
		require.Positive(t, value(first[0].Attributes, spans.Again).AsFloat64())
		require.Equal(t, "exception", first[0].Events[0].Name)
		require.Equal(t, first[0].EndTime, first[0].Events[0].Time)

		require.Equal(t, codes.Unset, first[1].Status.Code)
		requireLink(t, first[0], first[1], "before")
		require.Equal(t, []string{"retry"}, value(first[1].Attributes, spans.Reasons).AsStringSlice())
		require.False(t, value(first[1].Attributes, spans.Root).AsBool())

		second := w.all("second")[0]
		require.Equal(t, "panic", value(second.Events[0].Attributes, "exception.type").AsString())
		require.Contains(t, value(second.Events[0].Attributes, "exception.stacktrace").AsString(), "spans_test.go")
		requireLink(t, first[0], second, "cause")
	})
}

// onlyFailures samples passes that have failed.
type onlyFailures struct{}

func (onlyFailures) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if value(p.Attributes, spans.Outcome).AsString() == "failed" {
		return sdk.SamplingResult{Decision: sdk.RecordAndSample}
	}

	return sdk.SamplingResult{Decision: sdk.Drop}
}

func (onlyFailures) Description() string { return "only failures" }

// Who samples can go by what has come of a pass, and no link leads to what is not sampled.
func TestSamplersDecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, onlyFailures{}, &copier{"first", "a", "b", nil}, &copier{"second", "b", "", func(id resource.ID) error {
			if id == "bad" {
				return errors.New("bad")
			}

			return nil
		}})
		require.NoError(t, w.state.Create(t.Context(), conformance.NewIntResource("a", "bad", 1)))
		require.NoError(t, w.state.Create(t.Context(), conformance.NewIntResource("a", "good", 1)))
		time.Sleep(100 * time.Millisecond)
		w.stop()

		second := w.find(t, "second")
		require.Len(t, w.spans.GetSpans(), 1)
		require.Empty(t, second.Links)
		require.False(t, value(second.Attributes, spans.Root).AsBool(), "it is known who has caused it all the same")
	})
}

// Links are to those passes that the engine itself names when it is asked.
func TestLinksAreWhatTheBookSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type step struct {
			id    string
			value int
			wait  time.Duration
		}

		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]string{"x", "y"}).Draw(t, "id"), rapid.IntRange(0, 3).Draw(t, "value"),
				rapid.SampledFrom([]time.Duration{0, 10 * time.Millisecond, 700 * time.Millisecond}).Draw(t, "wait"),
			}
		}), 1, 12).Draw(rt, "steps")

		synctest.Test(t, func(t *testing.T) {
			nap := func(resource.ID) error { time.Sleep(300 * time.Millisecond); return nil }
			w := newWorld(t, sdk.AlwaysSample(),
				&copier{"ab", "a", "b", nap}, &copier{"bc", "b", "c", nil}, &copier{"ac", "a", "c", nap}, &copier{"cd", "c", "d", nap})

			for _, s := range steps {
				res := conformance.NewIntResource("a", s.id, s.value)
				if err := w.state.Create(t.Context(), res); state.IsConflictError(err) {
					_, err = safe.StateUpdateWithConflicts(t.Context(), w.state, res.Metadata(), func(r *conformance.IntResource) error {
						r.SetValue(s.value)

						return nil
					})
					require.NoError(t, err)
				}

				time.Sleep(s.wait)
			}

			time.Sleep(time.Minute)
			w.stop()

			name := map[trace.SpanID]string{}
			for _, s := range w.spans.GetSpans() {
				name[s.SpanContext.SpanID()] = title(value(s.Attributes, spans.Controller).AsString(), value(s.Attributes, spans.Number).AsInt64())
			}

			book := w.engine.Book()

			for _, controller := range book.Controllers() {
				all := w.all(controller)
				require.Len(t, all, len(book.Passes(controller)))

				for _, s := range all {
					pass := book.Pass(controller, uint64(value(s.Attributes, spans.Number).AsInt64()))
					want, got, outside := map[string]bool{}, map[string]bool{}, 0

					for i := range pass.Causes {
						writers := book.Writers(pass, &pass.Causes[i])
						outside += writers.Others

						for _, p := range writers.Passes {
							want[title(p.Controller, int64(p.Number))] = true
						}
					}

					for _, link := range s.Links {
						if value(link.Attributes, spans.Link).AsString() == "cause" {
							got[name[link.SpanContext.SpanID()]] = true
						}
					}

					require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), pass.Title())
					require.EqualValues(t, outside, value(s.Attributes, spans.Outside).AsInt64(), pass.Title())
				}
			}
		})
	})
}

func title(controller string, number int64) string { return fmt.Sprintf("%s %d", controller, number) }

// tracers is an engine of tracers.
type tracers map[string]*cause.Tracer

func (e tracers) Health() (h runtime.Health) {
	for name, tr := range e {
		h.Controllers = append(h.Controllers, runtime.ControllerHealth{Name: name, Passes: tr.Count()})
	}

	return h
}

func (e tracers) PassesSince(name string, number uint64) ([]cause.Pass, error) {
	return e[name].PassesSince(number), nil
}

// However many resources are written, so many are remembered; and what has gone is not.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()

	const most = 100

	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	tr := cause.New(cause.Config{Controller: "c", Passes: 50})
	e := tracers{"c": tr}
	f := spans.Start(e, provider, spans.Config{Resources: most})

	for i := range 100 * most {
		item := reduced.Key{ID: fmt.Sprint(i)}
		o := tr.Begin(&cause.Begin{Kind: &item.Kind, ID: item.ID})
		o.Wrote("modify", item.Pointer(), 1, 1)
		o.End(0, cause.Succeeded, nil, 0)

		if i%20 == 0 {
			f.Look()

			open, ended, resources, items := f.Remembered()
			require.Zero(t, open)
			require.LessOrEqual(t, ended, 50)
			require.LessOrEqual(t, resources, 2*most)
			require.LessOrEqual(t, items, 2*most)
		}
	}

	running := tr.Begin(&cause.Begin{})
	running.Wrote("modify", reduced.Key{}.Pointer(), 1, 1)
	f.Look()

	open, _, _, _ := f.Remembered()
	require.Equal(t, 1, open)

	delete(e, "c")
	f.Look()
	f.Look()

	open, ended, _, _ := f.Remembered()
	require.Zero(t, open, "its controller is gone")
	require.Zero(t, ended)
	require.Len(t, exporter.GetSpans(), 100*most+1)
}

// What is forgotten is told in the spans, and now and then in the log.
func TestWhatIsForgottenIsTold(t *testing.T) {
	t.Parallel()

	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	core, logged := observer.New(zap.WarnLevel)
	clock := clockwork.NewFakeClock()
	tr := cause.New(cause.Config{Controller: "c", Passes: 4})
	tr.From(clock.Now())
	f := spans.Start(tracers{"c": tr}, provider, spans.Config{Clock: clock, Logger: zap.New(core)})
	f.Look()

	for range 5 {
		for range 10 {
			tr.Begin(&cause.Begin{Causes: cause.One(cause.Cause{Change: cause.Change{Events: 1}})}).End(0, cause.Succeeded, nil, 0)
		}

		f.Look()
		clock.Advance(20 * time.Second)
	}

	f.Look()

	all := exporter.GetSpans()
	require.Len(t, all, 20)

	for i, s := range all {
		want := int64(0)
		if i%4 == 0 {
			want = 6
		}

		require.Equal(t, want, value(s.Attributes, spans.Forgotten).AsInt64())
		require.True(t, value(s.Attributes, spans.Unsure).AsBool(), "one that is forgotten may have caused it")
	}

	require.Equal(t, 2, logged.Len(), "at once, and a minute later")
	require.EqualValues(t, 6, logged.All()[0].ContextMap()["passes"])
	require.EqualValues(t, 18, logged.All()[1].ContextMap()["passes"])
}

// Names may be anything; what is sent is valid, and not too long.
func TestNamesAreSentAsText(t *testing.T) {
	t.Parallel()

	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	e := tracers{}

	for _, name := range []string{"\xff", "a\nb", "\u202eturned", strings.Repeat("é", 10_000), "<b>"} {
		e[name] = cause.New(cause.Config{Controller: name})
		o := e[name].Begin(&cause.Begin{Kind: &reduced.Kind{}, ID: name, Causes: cause.One(cause.Cause{Resource: reduced.Key{ID: name}})})
		o.End(0, cause.Failed, errors.New(name), 0)
	}

	f := spans.Start(e, provider, spans.Config{})
	f.Look()
	f.Look()

	all := exporter.GetSpans()
	require.Len(t, all, len(e))

	for _, s := range all {
		texts := []string{s.Name, s.Status.Description}

		for _, a := range s.Attributes {
			texts = append(texts, a.Value.Emit())
		}

		for _, text := range texts {
			require.True(t, utf8.ValidString(text))
			require.LessOrEqual(t, len(text), 400)
		}

		require.NotContains(t, s.Name, "\n")
		require.NotContains(t, s.Name, "\u202e")
	}
}

type failing struct{ noop.TracerProvider }

func (failing) ForceFlush(context.Context) error { return errors.New("nobody listens") }

// The end says if spans were not exported.
func TestTheEndFlushes(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	require.NoError(t, spans.Follow(ctx, tracers{}, noop.TracerProvider{}, spans.Config{}))
	require.ErrorContains(t, spans.Follow(ctx, tracers{}, failing{}, spans.Config{}), "nobody listens")
}
