package runtime_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	peer "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime"
)

// manyKinds is how many kinds the controllers of these benchmarks read from.
const manyKinds = 100

// names makes the controllers of each round distinct: expvar never forgets a name, and one that it knows is cheaper.
var names atomic.Int64

// manyControllers returns controllers of either form with one input, of one of a hundred kinds, and an output of their own.
func manyControllers(n int, queue bool) []any {
	round := strconv.FormatInt(names.Add(1), 36)
	controllers := make([]any, n)

	for i := range controllers {
		name := fmt.Sprintf("%s-%d", round, i)
		in := controller.Input{Namespace: ns, Type: "In" + strconv.Itoa(i%manyKinds), Kind: controller.InputWeak}

		if queue {
			in.Kind = controller.InputQPrimary
			controllers[i] = &queued{name: name, settings: controller.QSettings{
				Inputs: []controller.Input{in}, Outputs: []controller.Output{exclusive("Out-" + name)},
			}}

			continue
		}

		controllers[i] = &classic{name: name, inputs: []controller.Input{in}, outputs: []controller.Output{exclusive("Out-" + name)}, pass: idle}
	}

	return controllers
}

func registerAll(b *testing.B, eng controller.Engine, controllers []any) {
	for _, ctrl := range controllers {
		var err error

		switch ctrl := ctrl.(type) {
		case *classic:
			err = eng.RegisterController(ctrl)
		case *queued:
			err = eng.RegisterQController(ctrl)
		}

		if err != nil {
			b.Fatal(err)
		}
	}
}

// runner is what the benchmarks need of either engine.
type runner interface {
	controller.Engine

	Run(ctx context.Context) error
	GetDependencyGraph() (*controller.DependencyGraph, error)
}

// engines build ours, and the one that ships with the contract to compare with.
func engines(b *testing.B) map[string]func() runner {
	return map[string]func() runner{
		"ours": func() runner {
			eng, err := runtime.New(newState(), nil, runtime.Config{})
			require.NoError(b, err)

			return eng
		},
		"peer": func() runner {
			eng, err := peer.NewRuntime(newState(), zap.NewNop())
			require.NoError(b, err)

			return eng
		},
	}
}

// run runs an engine until the function it returns is called.
func run(b *testing.B, eng runner) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)

	go func() { ended <- eng.Run(ctx) }()

	return func() {
		cancel()
		require.NoError(b, <-ended)
	}
}

// eachSize runs a benchmark for both engines, both forms, and several numbers of controllers.
func eachSize(b *testing.B, measure func(b *testing.B, build func() runner, n int, queue bool)) {
	for _, engine := range []string{"ours", "peer"} {
		build := engines(b)[engine]

		for _, form := range []string{"classic", "queue"} {
			for _, n := range []int{1_000, 5_000, 10_000, 50_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", engine, form, n), func(b *testing.B) { measure(b, build, n, form == "queue") })
			}
		}
	}
}

// perController reports what the time of a round comes to for one controller, which should not grow with their number.
func perController(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/controller")
}

func BenchmarkRegisterBeforeRun(b *testing.B) {
	eachSize(b, func(b *testing.B, build func() runner, n int, queue bool) {
		for range b.N {
			b.StopTimer()
			eng, controllers := build(), manyControllers(n, queue)
			b.StartTimer()

			registerAll(b, eng, controllers)
		}

		perController(b, n)
	})
}

func BenchmarkRegisterWhileRunning(b *testing.B) {
	eachSize(b, func(b *testing.B, build func() runner, n int, queue bool) {
		for range b.N {
			b.StopTimer()
			eng, controllers := build(), manyControllers(n, queue)
			stop := run(b, eng)
			b.StartTimer()

			registerAll(b, eng, controllers)

			b.StopTimer()
			stop()
			b.StartTimer()
		}

		perController(b, n)
	})
}

func BenchmarkGraph(b *testing.B) {
	eachSize(b, func(b *testing.B, build func() runner, n int, queue bool) {
		eng := build()
		registerAll(b, eng, manyControllers(n, queue))
		b.ResetTimer()

		for range b.N {
			graph, err := eng.GetDependencyGraph()
			if err != nil || len(graph.Edges) != 2*n {
				b.Fatal(len(graph.Edges), err)
			}
		}

		perController(b, n)
	})
}

func BenchmarkUnregister(b *testing.B) {
	for _, form := range []string{"classic", "queue"} {
		for _, n := range []int{1_000, 5_000, 10_000, 50_000} {
			b.Run(fmt.Sprintf("%s/%d", form, n), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					eng, err := runtime.New(newState(), nil, runtime.Config{})
					require.NoError(b, err)

					controllers := manyControllers(n, form == "queue")
					stop := run(b, eng)

					registerAll(b, eng, controllers)
					b.StartTimer()

					for _, ctrl := range controllers {
						if err := eng.Unregister(b.Context(), ctrl.(interface{ Name() string }).Name()); err != nil {
							b.Fatal(err)
						}
					}

					b.StopTimer()
					stop()
					b.StartTimer()
				}

				perController(b, n)
			})
		}
	}
}
