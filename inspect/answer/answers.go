package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

// Engine is what is asked of an engine; [runtime.Runtime] is one. Its methods are called by several goroutines at once.
type Engine interface {
	GetDependencyGraph() (*controller.DependencyGraph, error)
	GraphRevision() uint64
	Health() runtime.Health
	Passes(controller string) ([]cause.Pass, error)
	Book() *cause.Book
}

// Config is what answers are made of.
type Config struct {
	// Engine is the engine that is asked.
	Engine Engine
	// State is where resources are read. It should be the one of the engine itself rather than its cache.
	State state.CoreState
	// Clock is what the engine tells time by. The default is the real clock.
	Clock clockwork.Clock
	// Show tells whether resources of a type that has no definition may be shown in full. The default is that none may be.
	Show func(resource.Type) bool
}

// Answers answers questions about one engine. It is safe for concurrent use.
type Answers struct {
	cfg   Config
	books *books
}

// New returns the answers of an engine.
func New(cfg Config) *Answers {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	if cfg.Show == nil {
		cfg.Show = func(resource.Type) bool { return false }
	}

	return &Answers{cfg, &books{engine: cfg.Engine}}
}

// NotFoundError is that there is nothing of that name.
type NotFoundError struct {
	// What is "controller" or "pass", and Name its name.
	What, Name string
	// Similar are names that may have been meant.
	Similar []string
	// Do says what to do about it, or is empty.
	Do string
}

// Error implements error.
func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("there is no %s %q", e.What, e.Name)

	for i, name := range e.Similar {
		if i == 0 {
			text += "; there is"
		} else {
			text += ","
		}

		text += fmt.Sprintf(" %q", name)
	}

	return text
}

// edges are the declarations by controller, and the other way round.
type edges struct {
	inputs  map[string][]api.Input
	outputs map[string][]api.Output
	// writers are the controllers that declare a type as an output, readers those with an input of it. They are in order of name.
	writers map[resource.Type][]string
	readers map[resource.Type][]reader
}

type reader struct {
	controller string
	input      api.Input
}

func edgesOf(graph *controller.DependencyGraph) *edges {
	e := &edges{
		inputs: map[string][]api.Input{}, outputs: map[string][]api.Output{},
		writers: map[resource.Type][]string{}, readers: map[resource.Type][]reader{},
	}

	for _, edge := range graph.Edges {
		name, typ := edge.ControllerName, edge.ResourceType

		switch edge.EdgeType {
		case controller.EdgeOutputExclusive, controller.EdgeOutputShared:
			kind := "exclusive"
			if edge.EdgeType == controller.EdgeOutputShared {
				kind = "shared"
			}

			e.outputs[name] = append(e.outputs[name], api.Output{Type: typ, Kind: kind})
			e.writers[typ] = append(e.writers[typ], name)
		default:
			in := api.Input{
				Ref:  api.Ref{Namespace: edge.ResourceNamespace, Type: typ, ID: edge.ResourceID},
				Kind: inputKindOfEdge(edge.EdgeType),
			}
			e.inputs[name] = append(e.inputs[name], in)
			e.readers[typ] = append(e.readers[typ], reader{name, in})
		}
	}

	for _, all := range e.writers {
		slices.Sort(all)
	}

	for _, all := range e.readers {
		slices.SortFunc(all, func(a, b reader) int { return cmp.Compare(a.controller, b.controller) })
	}

	return e
}

// dependents are the controllers with an input that the resource matches, in order, each once.
func (e *edges) dependents(ref api.Ref) []string {
	names := []string{}

	for _, r := range e.readers[ref.Type] {
		if r.input.Namespace == ref.Namespace && (r.input.ID == "" || r.input.ID == ref.ID) {
			names = append(names, r.controller)
		}
	}

	return slices.Compact(names)
}

func (e *edges) writes(name string, typ resource.Type) bool {
	return slices.Contains(e.writers[typ], name)
}

func (a *Answers) edges() (*edges, error) {
	graph, err := a.cfg.Engine.GetDependencyGraph()
	if err != nil {
		return nil, err
	}

	return edgesOf(graph), nil
}

// inputKinds are the kinds of inputs by those of edges.
var inputKinds = map[controller.DependencyEdgeType]controller.InputKind{
	controller.EdgeInputStrong:              controller.InputStrong,
	controller.EdgeInputWeak:                controller.InputWeak,
	controller.EdgeInputDestroyReady:        controller.InputDestroyReady,
	controller.EdgeInputQPrimary:            controller.InputQPrimary,
	controller.EdgeInputQMapped:             controller.InputQMapped,
	controller.EdgeInputQMappedDestroyReady: controller.InputQMappedDestroyReady,
}

func inputKindOfEdge(t controller.DependencyEdgeType) string {
	kind, ok := inputKinds[t]
	if !ok {
		return fmt.Sprintf("unknown-%d", t)
	}

	return inputKind(kind)
}

func inputKind(k controller.InputKind) string {
	switch k {
	case controller.InputStrong:
		return "strong"
	case controller.InputWeak:
		return "weak"
	case controller.InputDestroyReady:
		return "destroy-ready"
	case controller.InputQPrimary:
		return "q-primary"
	case controller.InputQMapped:
		return "q-mapped"
	case controller.InputQMappedDestroyReady:
		return "q-mapped-destroy-ready"
	default:
		return fmt.Sprintf("unknown-%d", k)
	}
}

func refOf(k reduced.Key) api.Ref { return api.Ref{Namespace: k.Namespace, Type: k.Type, ID: k.ID} }

func keyOf(ref api.Ref) reduced.Key {
	return reduced.Key{Kind: reduced.Kind{Namespace: ref.Namespace, Type: ref.Type}, ID: ref.ID}
}

// notes puts notes together.
func notes(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(note string) bool { return note == "" }), "; ")
}
