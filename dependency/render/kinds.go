package render

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
)

// NodeKind tells what a node stands for.
type NodeKind string

// The kinds of nodes.
const (
	// Controller is one controller of either sort.
	Controller NodeKind = "controller"
	// Resource is all resources of one namespace and type.
	Resource NodeKind = "resource"
)

// Fill returns the colour inside a node, as "#rrggbb".
func (k NodeKind) Fill() string {
	if k == Controller {
		return "#dfe8fb"
	}

	return "#fff3cd"
}

// Stroke returns the colour of the outline of a node, as "#rrggbb".
func (k NodeKind) Stroke() string {
	if k == Controller {
		return "#2f4b8f"
	}

	return "#8a6100"
}

// EdgeKind tells what a controller declared about resources.
type EdgeKind string

// The kinds of edges, in the order of the contract's edge types. Output edges lead from a controller to a resource,
// all others from a resource to a controller.
const (
	OutputExclusive          EdgeKind = "output-exclusive"
	OutputShared             EdgeKind = "output-shared"
	InputStrong              EdgeKind = "input-strong"
	InputWeak                EdgeKind = "input-weak"
	InputDestroyReady        EdgeKind = "input-destroy-ready"
	InputQPrimary            EdgeKind = "input-q-primary"
	InputQMapped             EdgeKind = "input-q-mapped"
	InputQMappedDestroyReady EdgeKind = "input-q-mapped-destroy-ready"
	// Unknown is an edge type of a contract newer than this package. It is drawn like an input.
	Unknown EdgeKind = "unknown"
)

// EdgeKinds returns all kinds of edges in order, [Unknown] last.
func EdgeKinds() []EdgeKind {
	return []EdgeKind{
		OutputExclusive, OutputShared,
		InputStrong, InputWeak, InputDestroyReady,
		InputQPrimary, InputQMapped, InputQMappedDestroyReady,
		Unknown,
	}
}

// KindOfEdge returns the kind for an edge type of the contract.
func KindOfEdge(t controller.DependencyEdgeType) EdgeKind {
	switch t {
	case controller.EdgeOutputExclusive:
		return OutputExclusive
	case controller.EdgeOutputShared:
		return OutputShared
	case controller.EdgeInputStrong:
		return InputStrong
	case controller.EdgeInputWeak:
		return InputWeak
	case controller.EdgeInputDestroyReady:
		return InputDestroyReady
	case controller.EdgeInputQPrimary:
		return InputQPrimary
	case controller.EdgeInputQMapped:
		return InputQMapped
	case controller.EdgeInputQMappedDestroyReady:
		return InputQMappedDestroyReady
	default:
		return Unknown
	}
}

// Output tells whether edges of this kind lead from a controller to a resource.
func (k EdgeKind) Output() bool {
	return k == OutputExclusive || k == OutputShared
}

// order is the position of the kind in [EdgeKinds].
func (k EdgeKind) order() int {
	if i := slices.Index(EdgeKinds(), k); i >= 0 {
		return i
	}

	return len(EdgeKinds())
}

// Line is how the line of an edge is drawn.
type Line uint8

// The lines.
const (
	Solid Line = iota
	Dashed
	Thick
)

// Head is what an edge ends in.
type Head uint8

// The heads.
const (
	Arrow Head = iota
	Circle
	Cross
)

// Style is how edges of one kind look in every picture. No two kinds share both line and head, so that they can be
// told apart without colours.
type Style struct {
	// Label stands on every edge of the kind.
	Label string
	// Meaning explains the label in the legend.
	Meaning string
	// Colour is that of line and label, as "#rrggbb", dark enough for text on white.
	Colour string
	// Line is how the line is drawn.
	Line Line
	// Head is what stands at the end that data flows to.
	Head Head
}

// Style returns how edges of the kind look.
func (k EdgeKind) Style() Style {
	switch k {
	case OutputExclusive:
		return Style{"exclusive", "writes, and nobody else may", "#a84300", Thick, Arrow}
	case OutputShared:
		return Style{"shared", "writes, beside others", "#8f5a00", Thick, Circle}
	case InputStrong:
		return Style{"strong", "reads, may hold finalizers", "#00598c", Solid, Arrow}
	case InputWeak:
		return Style{"weak", "reads", "#2f6f94", Dashed, Arrow}
	case InputDestroyReady:
		return Style{"destroy-ready", "waits until it can be destroyed", "#951353", Solid, Cross}
	case InputQPrimary:
		return Style{"primary", "queue of items to reconcile", "#00653f", Solid, Circle}
	case InputQMapped:
		return Style{"mapped", "queues the items it maps to", "#3d6b00", Dashed, Circle}
	case InputQMappedDestroyReady:
		return Style{"mapped destroy-ready", "maps once it can be destroyed", "#7a2fa0", Dashed, Cross}
	default:
		return Style{"unknown", "of a newer contract", "#555555", Thick, Cross}
	}
}
