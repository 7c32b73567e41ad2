package prom_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/prom"
	"github.com/switchyard-run/switchyard/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// worker is a queue controller of ints.
type worker struct {
	name string
	work func(id resource.ID) error
}

func (w *worker) Name() string { return w.name }

func (w *worker) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs: []controller.Input{
			{Namespace: "source", Type: conformance.IntResourceType, Kind: controller.InputQPrimary},
		},
		Concurrency: optional.Some[uint](4),
	}
}

func (w *worker) Reconcile(_ context.Context, _ *zap.Logger, _ controller.QRuntime, ptr resource.Pointer) error {
	return w.work(ptr.ID())
}

func (w *worker) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}

// scrape asks as Prometheus does, and takes the answer apart.
func scrape(t *testing.T, registry *prometheus.Registry) scraped {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body)

	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	require.NoError(t, err)

	return families
}

// scraped is what was scraped, by name.
type scraped map[string]*dto.MetricFamily

// find returns the metric that has the labels, given by turns with their values.
func (s scraped) find(name string, labels ...string) *dto.Metric {
	for _, m := range s["switchyard_"+name].GetMetric() {
		if fits(m, labels) {
			return m
		}
	}

	return nil
}

func fits(m *dto.Metric, labels []string) bool {
	for pair := range slices.Chunk(labels, 2) {
		if !slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == pair[0] && l.GetValue() == pair[1] }) {
			return false
		}
	}

	return true
}

// value returns what a metric is at, or -1 if there is none.
func (s scraped) value(name string, labels ...string) float64 {
	m := s.find(name, labels...)

	switch {
	case m == nil:
		return -1
	case m.GetGauge() != nil:
		return m.GetGauge().GetValue()
	default:
		return m.GetCounter().GetValue()
	}
}

func (s scraped) series() (n int) {
	for _, family := range s {
		for _, m := range family.GetMetric() {
			n += max(1, len(m.GetHistogram().GetBucket())+2)
		}
	}

	return n
}

func register(c *prom.Collector) *prometheus.Registry {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)

	return registry
}

// What a running engine is scraped for is what it says of itself, whatever its controllers are called.
func TestScrapesSayWhatTheEngineSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := state.WrapCore(namespaced.NewState(inmem.Build))
		engine, err := runtime.New(st, zap.NewNop(), runtime.Config{Passes: cause.DefaultPasses, StuckAfter: time.Hour})
		require.NoError(t, err)

		names := []string{
			`quotes "and" \ back`, "line\nbreak", "<b>markup</b>", "\u202eturned", "a/b?c#d", "..", "\x00", "{x=\"y\"} 1", " ", prom.Others,
			"inv\xffalid", "inv\xfealid", strings.Repeat("x", 10_000), strings.Repeat("x", 10_001), "…", "# HELP x",
		}

		for _, name := range names {
			require.NoError(t, engine.RegisterQController(&worker{name, func(id resource.ID) error {
				switch id {
				case "bad":
					return errors.New("bad")
				case "long":
					time.Sleep(time.Minute)
				}

				time.Sleep(time.Second)

				return nil
			}}))
		}

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)

		go func() { done <- engine.Run(ctx) }()

		for _, id := range []string{"good", "fine", "bad", "long"} {
			require.NoError(t, st.Create(ctx, conformance.NewIntResource("source", id, 1)))
		}

		time.Sleep(10*time.Second + time.Nanosecond)

		registry := register(prom.New(prom.Config{Engine: engine}))
		got, health := scrape(t, registry), engine.Health()

		require.EqualValues(t, 1, got.value("running"))
		require.EqualValues(t, len(names), got.value("controllers", "state", "backing-off"))
		require.EqualValues(t, 0, got.value("controllers", "state", "waiting"))
		require.EqualValues(t, 1, got.value("watch_open", "namespace", "source", "type", conformance.IntResourceType))
		require.EqualValues(t, 1, got.value("watch_synced"))
		require.EqualValues(t, 4, got.value("known_resources"))
		require.Len(t, got["switchyard_controller_state"].GetMetric(), len(names), "each has a label of its own")

		for i := range health.Controllers {
			c := &health.Controllers[i]

			timings, err := engine.Timings(c.Name)
			require.NoError(t, err)

			as := []string{"controller", labelOf(got, c.Name)}
			state := string(answer.StateOf(c))

			require.EqualValues(t, 1, got.value("controller_state", append(as, "state", state)...), c.Name)
			require.EqualValues(t, 1, got.value("controller_running_passes", as...))
			require.EqualValues(t, c.Ready, got.value("controller_items", append(as, "state", "ready")...))
			require.EqualValues(t, c.Delayed, got.value("controller_items", append(as, "state", "delayed")...))
			require.EqualValues(t, 1, got.value("controller_items", append(as, "state", "processing")...))
			require.EqualValues(t, 1, got.value("controller_failing_items", as...))
			require.EqualValues(t, 0, got.value("controller_damped_items", as...))
			require.EqualValues(t, c.OldestWait.Seconds(), got.value("controller_oldest_wait_seconds", as...))

			for outcome := cause.Succeeded; outcome <= cause.Stopped; outcome++ {
				require.EqualValues(t, timings.Outcomes[outcome], got.value("controller_passes_total", append(as, "outcome", outcome.String())...))
			}

			requireHistogram(t, &timings.Durations, got.find("controller_pass_duration_seconds", as...).GetHistogram())
			requireHistogram(t, &timings.Waits, got.find("controller_queue_wait_seconds", as...).GetHistogram())
		}

		problems, err := testutil.GatherAndLint(registry)
		require.NoError(t, err)
		require.Empty(t, problems)

		cancel()
		require.NoError(t, <-done)

		got = scrape(t, registry)
		require.EqualValues(t, 0, got.value("running"))
		require.EqualValues(t, len(names), got.value("controllers", "state", "stopped"))
	})
}

// labelOf returns the label that a name has: itself, or what is told apart by a hash.
func labelOf(s scraped, name string) string {
	for _, m := range s["switchyard_controller_state"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "controller" && (l.GetValue() == name || l.GetValue() == prom.Label(name)) {
				return l.GetValue()
			}
		}
	}

	return "none"
}

func requireHistogram(t *testing.T, want *cause.Histogram, got *dto.Histogram) {
	require.Equal(t, want.Count, got.GetSampleCount())
	require.InDelta(t, want.Sum.Seconds(), got.GetSampleSum(), 1e-9)
	require.LessOrEqual(t, len(got.GetBucket()), 16)

	for _, b := range got.GetBucket() {
		var upTo uint64

		for i, n := range want.Buckets {
			if want.Upper(i).Seconds() <= b.GetUpperBound() {
				upTo += n
			}
		}

		if b.GetUpperBound() < 100 {
			require.Equal(t, upTo, b.GetCumulativeCount(), "up to %v", b.GetUpperBound())
		}
	}
}

// fake is an engine of tracers.
type fake struct {
	names   []string
	tracers map[string]*cause.Tracer
	kinds   []runtime.KindHealth
}

func (f *fake) add(name string) *cause.Tracer {
	if f.tracers == nil {
		f.tracers = map[string]*cause.Tracer{}
	}

	f.names = append(f.names, name)
	f.tracers[name] = cause.New(cause.Config{Controller: name})

	return f.tracers[name]
}

func (f *fake) remove(name string) {
	f.names = slices.DeleteFunc(f.names, func(n string) bool { return n == name })
	delete(f.tracers, name)
}

func (f *fake) Health() runtime.Health {
	h := runtime.Health{Kinds: f.kinds}
	for _, name := range f.names {
		h.Controllers = append(h.Controllers, runtime.ControllerHealth{Name: name})
	}

	return h
}

func (f *fake) Timings(name string) (cause.Timings, error) {
	if tr := f.tracers[name]; tr != nil {
		return tr.Timings(), nil
	}

	return cause.Timings{}, runtime.ErrNotRegistered
}

func (f *fake) Counts() map[string]int64 {
	return map[string]int64{"watch_audits": 7, "pending_changes": 3, "unheard of": 1}
}

func pass(tr *cause.Tracer) { tr.Begin(&cause.Begin{}).End(time.Second, cause.Succeeded, nil, 0) }

// However many controllers and kinds there are, the first have series of their own, and all others are one.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()

	const many, most = 5000, 100

	f := &fake{}

	for i := range many {
		pass(f.add(fmt.Sprintf("controller %d", i)))
		f.kinds = append(f.kinds, runtime.KindHealth{Known: 2, Open: true})
		f.kinds[i].Type = fmt.Sprint(i)
	}

	got := scrape(t, register(prom.New(prom.Config{Engine: f, Controllers: most, Kinds: most})))

	require.Less(t, got.series(), 60*most)
	require.EqualValues(t, many, got.value("controllers", "state", "waiting"))
	require.EqualValues(t, 1, got.value("controller_passes_total", "controller", "controller 99", "outcome", "succeeded"))
	require.EqualValues(t, -1, got.value("controller_passes_total", "controller", "controller 100"))
	require.EqualValues(t, many-most, got.value("controller_passes_total", "controller", prom.Others, "outcome", "succeeded"))
	require.EqualValues(t, many-most, got.value("controller_state", "controller", prom.Others, "state", "waiting"))
	require.EqualValues(t, many-most, got.find("controller_pass_duration_seconds", "controller", prom.Others).GetHistogram().GetSampleCount())
	require.EqualValues(t, 2*(many-most), got.value("known_resources", "namespace", prom.Others, "type", prom.Others))
	require.EqualValues(t, many-most, got.value("watch_open", "type", prom.Others))
	require.EqualValues(t, 2, got.value("known_resources", "type", "0"))

	require.EqualValues(t, 7, got.value("watch_audits_total"))
	require.EqualValues(t, 3, got.value("pending_changes"))

	all := scrape(t, register(prom.New(prom.Config{Engine: f})))
	require.EqualValues(t, 1, all.value("controller_passes_total", "controller", fmt.Sprintf("controller %d", prom.DefaultControllers-1), "outcome", "succeeded"))
	require.EqualValues(t, many-prom.DefaultControllers, all.value("controller_passes_total", "controller", prom.Others, "outcome", "succeeded"))
}

// Nobody moves between a label of his own and that of the others, and no count goes back.
func TestLabelsAndCountsStay(t *testing.T) {
	t.Parallel()

	f := &fake{}
	for _, name := range []string{"a", "b", "c", "d"} {
		pass(f.add(name))
	}

	registry := register(prom.New(prom.Config{Engine: f, Controllers: 2}))
	passes := func(label string) float64 {
		return scrape(t, registry).value("controller_passes_total", "controller", label, "outcome", "succeeded")
	}

	require.EqualValues(t, 2, passes(prom.Others))

	f.remove("a")
	require.EqualValues(t, 2, passes(prom.Others), "who has no label gets none")
	require.EqualValues(t, -1, passes("a"))

	pass(f.add("new"))
	require.EqualValues(t, 1, passes("new"))

	f.remove("d")
	require.EqualValues(t, 2, passes(prom.Others), "what has gone stays in the sum")

	tr := f.add("d")
	require.EqualValues(t, 2, passes(prom.Others))
	pass(tr)
	require.EqualValues(t, 3, passes(prom.Others))

	f.remove("c")
	pass(f.add("e")) // at once in the place of c
	require.EqualValues(t, 4, passes(prom.Others))

	f.remove("d")
	f.add("d")
	require.EqualValues(t, 4, passes(prom.Others), "another one of the name begins anew")

	f.remove("d")
	f.remove("e")
	require.EqualValues(t, 4, passes(prom.Others))
}

// Whatever the engine counts has a place in the metrics.
func TestAllCountsAreShown(t *testing.T) {
	t.Parallel()

	engine, err := runtime.New(state.WrapCore(namespaced.NewState(inmem.Build)), nil, runtime.Config{})
	require.NoError(t, err)

	counts := engine.Counts()
	require.NotEmpty(t, counts)

	for name := range counts {
		require.Contains(t, prom.Counts(), name)
	}

	require.Len(t, counts, len(prom.Counts()))
}
