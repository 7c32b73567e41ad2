package runtime_test

import (
	"context"
	"expvar"
	"fmt"
	goruntime "runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/controller"
	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/runtime"
)

// leftovers is what an engine shows of controllers.
type leftovers struct {
	controllers, kinds, edges int
	own, queues               []string
}

func leftOf(t *testing.T, w *world) leftovers {
	t.Helper()
	synctest.Wait()

	graph, err := w.GetDependencyGraph()
	require.NoError(t, err)

	health := w.Health()

	l := leftovers{
		controllers: len(health.Controllers), kinds: len(health.Kinds), edges: len(graph.Edges),
		queues: keysOf(contract.QControllerQueueLength),
	}

	expvar.Get("switchyard").(*expvar.Map).Do(func(engine expvar.KeyValue) {
		l.own = append(l.own, engine.Key)
		l.own = append(l.own, keysOf(engine.Value.(*expvar.Map))...)
	})

	return l
}

func keysOf(m *expvar.Map) []string {
	var keys []string

	m.Do(func(kv expvar.KeyValue) { keys = append(keys, kv.Key) })

	return slices.Clip(keys)
}

func heapInUse() uint64 {
	var stats goruntime.MemStats

	goruntime.GC()
	goruntime.GC()
	goruntime.ReadMemStats(&stats)

	return stats.HeapAlloc
}

// Thousands of controllers come and go while the engine runs, with inputs that change while they are there: nothing is
// left of them but their counts. Not parallel: it measures the process.
func TestThousandsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)
		w.register(&classic{name: "stays", inputs: []controller.Input{sources(controller.InputWeak)}, pass: idle})
		w.create(newSource("a", 1), newSource("b", 2))
		w.start()

		// ids are inputs by id of which no two controllers have the same.
		ids := func(i, from int) []controller.Input {
			inputs := []controller.Input{targets(controller.InputStrong)}

			for id := range 10 {
				inputs = append(inputs, byID(sources(controller.InputStrong), fmt.Sprint(i, "-", from+id)))
			}

			return inputs
		}

		comeAndGo := func() {
			const together = 50

			for i := range 1_000 / together {
				var passes journal[string]

				for j := range together {
					number := i*together + j
					name := fmt.Sprint("comes and goes ", number)

					w.register(&classic{name: name, inputs: ids(number, 0), outputs: []controller.Output{exclusive(name)},
						pass: func(_ context.Context, r controller.Runtime) error {
							passes.add(name)

							return r.UpdateInputs(ids(number, 5))
						}})
					w.register(&queued{name: name + " queued", settings: controller.QSettings{
						Inputs:  []controller.Input{sources(controller.InputQPrimary), byID(targets(controller.InputQMapped), name)},
						Outputs: []controller.Output{shared(targetType)},
					}, reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
						passes.add(name)

						return nil
					}})
				}

				synctest.Wait()
				require.GreaterOrEqual(t, passes.len(), 3*together, "each classic one, and two items of each other")

				for j := range together {
					name := fmt.Sprint("comes and goes ", i*together+j)

					require.NoError(t, w.Unregister(t.Context(), name))
					require.NoError(t, w.Unregister(t.Context(), name+" queued"))
				}
			}
		}

		before := leftOf(t, w)

		// The counts of the first thousand stay, so the memory is compared with that after them.
		comeAndGo()
		assert.Equal(t, before, leftOf(t, w))

		heap, goroutines := heapInUse(), goruntime.NumGoroutine()

		comeAndGo()
		assert.Equal(t, before, leftOf(t, w))

		// What others do in the process is counted too. Two thousand controllers take five megabytes.
		assert.Less(t, heapInUse(), heap+1<<20)
		assert.Less(t, goruntime.NumGoroutine(), goroutines+100)

		w.end()
	})
}
