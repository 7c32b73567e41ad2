package dependency

import (
	"cmp"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
)

// Graph exports all declarations as the contract's graph: exclusive outputs first, then shared ones, then inputs; within
// each by controller, namespace, type and id.
func (db *Database[T]) Graph() *controller.DependencyGraph {
	nodes := db.Nodes()
	slices.SortFunc(nodes, func(a, b *Node[T]) int { return cmp.Compare(a.name, b.name) })

	inputs := make([][]controller.Input, len(nodes))
	size := 0

	for i, node := range nodes {
		inputs[i] = node.Inputs()
		size += len(node.outputs.list) + len(inputs[i])
	}

	edges := make([]controller.DependencyEdge, 0, size)

	if size == 0 {
		edges = nil
	}

	for _, kind := range []controller.OutputKind{controller.OutputExclusive, controller.OutputShared} {
		for _, node := range nodes {
			edges = node.appendOutputs(edges, kind)
		}
	}

	for i, node := range nodes {
		for _, in := range inputs[i] {
			edges = append(edges, controller.DependencyEdge{
				ControllerName:    node.name,
				ResourceNamespace: in.Namespace,
				ResourceType:      in.Type,
				ResourceID:        in.ID.ValueOrZero(),
				EdgeType:          edgeOf(in.Kind),
			})
		}
	}

	return &controller.DependencyGraph{Edges: edges}
}

// appendOutputs appends the outputs of one kind, by type.
func (n *Node[T]) appendOutputs(edges []controller.DependencyEdge, kind controller.OutputKind) []controller.DependencyEdge {
	edge := controller.DependencyEdge{ControllerName: n.name, EdgeType: controller.EdgeOutputExclusive}
	if kind == controller.OutputShared {
		edge.EdgeType = controller.EdgeOutputShared
	}

	for _, out := range n.outputs.list {
		if out.Kind == kind {
			edge.ResourceType = out.Type
			edges = append(edges, edge)
		}
	}

	return edges
}

func edgeOf(kind controller.InputKind) controller.DependencyEdgeType {
	switch kind {
	case controller.InputStrong:
		return controller.EdgeInputStrong
	case controller.InputDestroyReady:
		return controller.EdgeInputDestroyReady
	case controller.InputQPrimary:
		return controller.EdgeInputQPrimary
	case controller.InputQMapped:
		return controller.EdgeInputQMapped
	case controller.InputQMappedDestroyReady:
		return controller.EdgeInputQMappedDestroyReady
	default:
		return controller.EdgeInputWeak
	}
}
