package main

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
)

func registrationWorkloads() []*workload {
	return []*workload{
		{
			name: "register-5000", what: "classic controllers with two inputs and an output are registered before Run",
			unit: "controller", size: 5_000, quick: 200, grows: true, target: 1.5, run: registerBefore,
		},
		{
			name: "register-5000-running", what: "the same while the engine runs",
			unit: "controller", size: 5_000, quick: 200, grows: true, target: 1.5, run: registerRunning,
		},
		{
			name: "graph-5000", what: "the graph of 5,000 controllers is exported",
			unit: "export", size: 5_000, quick: 200, grows: true, single: true, target: 1, run: exportGraph,
		},
	}
}

// registeredTypes is how many types the controllers read.
const registeredTypes = 100

// declared is a controller with two inputs of common types and an output of its own.
func declared(number int) *classic {
	return &classic{
		name: fmt.Sprintf("controller-%d", number),
		inputs: []controller.Input{
			input(typeOf(number%registeredTypes), controller.InputWeak),
			input(typeOf((number+1)%registeredTypes), controller.InputStrong),
		},
		outputs: []controller.Output{{Type: fmt.Sprintf("Output%d.bench", number), Kind: controller.OutputExclusive}},
	}
}

func register(r *rig, count int) {
	for number := range count {
		r.classic(declared(number))
	}
}

func registerBefore(t *trial) {
	r := t.rig(registeredTypes)

	t.measure(t.size, func() { register(r, t.size) })
}

func registerRunning(t *trial) {
	r := t.rig(registeredTypes)

	t.runQueue(r)
	t.measure(t.size, func() { register(r, t.size) })
}

// exports is how often the graph is exported.
const exports = 20

func exportGraph(t *trial) {
	r := t.rig(registeredTypes)

	register(r, t.size)

	t.measure(exports, func() {
		for range exports {
			graph, err := r.GetDependencyGraph()
			t.check(err)

			if len(graph.Edges) != 3*t.size {
				t.check(fmt.Errorf("%d edges exported, not %d", len(graph.Edges), 3*t.size))
			}
		}
	})
}
