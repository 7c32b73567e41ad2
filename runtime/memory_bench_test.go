package runtime_test

import (
	"context"
	goruntime "runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter/qruntime"
	"github.com/switchyard-run/switchyard/adapter/rruntime"
	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// footprint is the memory of a process in use.
type footprint struct{ heap, stack, goroutines int64 }

func measure() footprint {
	var stats goruntime.MemStats

	goruntime.GC()
	goruntime.GC()
	goruntime.ReadMemStats(&stats)

	return footprint{int64(stats.HeapAlloc), int64(stats.StackInuse), int64(goruntime.NumGoroutine())}
}

// reportSince reports what one of n takes of what has been added since.
func (f footprint) reportSince(b *testing.B, n int) {
	now := measure()

	b.ReportMetric(float64(now.heap-f.heap)/float64(n), "heap-B/each")
	b.ReportMetric(float64(now.stack-f.stack)/float64(n), "stack-B/each")
	b.ReportMetric(float64(now.goroutines-f.goroutines)/float64(n), "goroutines/each")
	b.ReportMetric(0, "ns/op")
}

// What the parts of an idle controller take. The figures are those of the last round.
func BenchmarkPartsAtRest(b *testing.B) {
	const n = 10_000

	var (
		engine = metrics.NewEngine(true)
		clock  = clockwork.NewRealClock()
		guards = &stateadapter.Shared{State: newState(), Cache: cache.New(cache.Config{}), Clock: clock}
		shared = &rruntime.Shared{Clock: clock, Epoch: clock.Now(), Backoff: backoff.EngineRestart()}
	)

	db := dependency.NewDatabase[int]()

	logger, silent := zap.NewExample(), zap.NewNop()

	guard := func(name string) stateadapter.Config {
		return stateadapter.Config{Shared: guards, Name: name, Logger: silent}
	}

	counted := engine.Queue("q")

	for _, part := range []struct {
		name  string
		build func(name string) any
	}{
		{"declarations", func(name string) any {
			node, err := db.Register(name, dependency.Classic, 0,
				[]controller.Input{{Namespace: ns, Type: "In" + name[len(name)-2:]}}, []controller.Output{exclusive(name)}, nil)
			require.NoError(b, err)

			return node
		}},
		{"metrics of a queue controller", func(name string) any { return engine.Queue(name) }},
		{"guard", func(name string) any { return stateadapter.New(guard(name)) }},
		{"classic adapter with metrics and guard", func(name string) any {
			a := &rruntime.Adapter{}
			a.Init(rruntime.Config{Shared: shared, Guard: guard(name), Metrics: engine})

			return a
		}},
		{"queue adapter", func(string) any {
			return qruntime.New(qruntime.Config{
				Settings: &controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
				Clock:    clock, Backoff: backoff.EngineRestart(), Metrics: counted, Logger: silent,
			})
		}},
		{"randomness", func(name string) any { return backoff.NewRandom(0, name) }},
		{"logger", func(name string) any { return logger.WithLazy(zap.String("controller", name)) }},
	} {
		b.Run(part.name, func(b *testing.B) {
			parts, names := make([]any, n), make([]string, n)

			for i := range names {
				names[i] = strconv.Itoa(i + 1e6)
			}

			for range b.N {
				clear(parts)

				db = dependency.NewDatabase[int]()
				before := measure()

				for i, name := range names {
					parts[i] = part.build(name)
				}

				before.reportSince(b, n)
			}

			goruntime.KeepAlive(parts)
		})
	}
}

// What a controller takes that has nothing to do, with all that the engine holds for it. What the controller itself
// takes is not counted.
func BenchmarkControllerAtRest(b *testing.B) {
	const n = 10_000

	for _, engine := range []string{"ours", "peer"} {
		build := engines(b)[engine]

		for _, form := range []string{"classic", "queue"} {
			b.Run(engine+"/"+form, func(b *testing.B) {
				for range b.N {
					eng, controllers := build(), manyControllers(n, form == "queue")
					controllers = append(controllers, manyControllers(1, false)...)
					started := countPasses(controllers)
					before := measure()

					registerAll(b, eng, controllers)
					stop := run(b, eng)
					<-started
					before.reportSince(b, n)
					goruntime.KeepAlive(controllers)
					stop()
				}
			})
		}
	}
}

// countPasses returns a channel that is closed when each classic controller among these has had a pass.
func countPasses(controllers []any) (all chan struct{}) {
	var passes, wanted atomic.Int64

	all = make(chan struct{})

	for _, ctrl := range controllers {
		if c, ok := ctrl.(*classic); ok {
			wanted.Add(1)

			c.pass = func(context.Context, controller.Runtime) error {
				if passes.Add(1) == wanted.Load() {
					close(all)
				}

				return nil
			}
		}
	}

	return all
}
