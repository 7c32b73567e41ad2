package examples_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect/prom"
	"github.com/switchyard-run/switchyard/inspect/spans"
	"github.com/switchyard-run/switchyard/runtime"
)

// gather gathers the metrics of an engine, and those of Go and of the process.
func gather(engine *runtime.Runtime) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		prom.New(prom.Config{Engine: engine}),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)

	return registry
}

// metrics answers scrapes of a host that does not mount the pages.
func metrics(engine *runtime.Runtime) http.Handler {
	return promhttp.HandlerFor(gather(engine), promhttp.HandlerOpts{})
}

// traced runs an engine and makes spans of its passes, the last ones included.
func traced(ctx context.Context, engine *runtime.Runtime, provider trace.TracerProvider) error {
	following, end := context.WithCancel(context.WithoutCancel(ctx))
	followed := make(chan error, 1)

	go func() { followed <- spans.Follow(following, engine, provider, spans.Config{Interval: time.Second}) }()

	err := engine.Run(ctx)

	end()

	if lost := <-followed; err == nil {
		err = lost
	}

	return err
}

func Example_traces() {
	st := newState()
	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{})
	must(err)
	must(engine.RegisterQController(Recorder{}))
	must(st.Create(context.Background(), newHost("web", "192.0.2.7")))

	exported := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exported))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)

	go func() { ended <- traced(ctx, engine, provider) }()

	_, err = st.WatchFor(ctx, newRecord("web").Metadata(), state.WithEventTypes(state.Created))
	must(err)
	stop()
	must(<-ended)

	fmt.Println(exported.GetSpans()[0].Name)
	must(provider.Shutdown(context.Background()))

	// Output:
	// Recorder reconcile
}

func Example_metrics() {
	engine, err := runtime.New(newState(), zap.NewNop(), runtime.Config{})
	must(err)

	var names []string

	families, err := gather(engine).Gather()
	must(err)

	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "switchyard_running") {
			names = append(names, family.GetName())
		}
	}

	fmt.Println(names, metrics(engine) != nil)

	// Output:
	// [switchyard_running] true
}
