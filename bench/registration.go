package main

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func registrationWorkloads() []*workload {
	return []*workload{
		{
			name: "register-5000", what: "classic controllers with two inputs and an output are registered before Run",
			unit: "controller", size: 5_000, quick: 200, grows: true, target: 1.5, run: registerBefore, floor: registerBeforeFloor,
		},
		{
			name: "register-5000-running", what: "the same while the engine runs",
			unit: "controller", size: 5_000, quick: 200, grows: true, target: 1.5, run: registerRunning, floor: registerRunningFloor,
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

// registry is what no engine can do without: whose a name is, whose an exclusive output is, since a second one is refused, and
// whom a change of a type is for.
type registry struct {
	names      map[string]*bare
	owners     map[resource.Type]*bare
	dependents map[resource.Type][]*bare
}

// bare is a controller with the channel of its wakeups, once it runs.
type bare struct {
	*classic

	events chan controller.ReconcileEvent
}

func newRegistry() *registry {
	return &registry{map[string]*bare{}, map[resource.Type]*bare{}, map[resource.Type][]*bare{}}
}

func (g *registry) add(c *bare) {
	g.names[c.Name()] = c

	for _, out := range c.Outputs() {
		g.owners[out.Type] = c
	}

	for _, in := range c.Inputs() {
		g.dependents[in.Type] = append(g.dependents[in.Type], c)
	}
}

// registerBeforeFloor makes the controllers and enters them.
func registerBeforeFloor(t *trial) {
	g := newRegistry()

	newState(registeredTypes)

	t.measure(t.size, func() {
		for number := range t.size {
			g.add(&bare{classic: declared(number)})
		}
	})
}

// registerRunningFloor also opens a watch of each type with its first reader, has each controller begin with a wakeup, counts it
// where the contract has it counted, and starts a goroutine for each controller.
func registerRunningFloor(t *trial) {
	g := newRegistry()
	st := newState(registeredTypes)

	t.measure(t.size, func() {
		for number := range t.size {
			c := &bare{declared(number), make(chan controller.ReconcileEvent, 1)}

			for _, in := range c.Inputs() {
				if g.dependents[in.Type] == nil {
					t.follow(st, in.Type, false, func(state.Event) {})
				}
			}

			g.add(c)
			metrics.ControllerWakeups.Add(c.Name(), 1)
			c.events <- controller.ReconcileEvent{}

			go func() { _ = c.Run(t.ctx, nil, nil) }()
		}
	})
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
