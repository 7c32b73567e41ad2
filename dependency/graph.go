package dependency

import (
	"cmp"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
)

// Graph exports all declarations as the contract's graph: exclusive outputs first, then shared ones, then inputs; within
// each by controller, namespace, type and id.
func (db *Database[T]) Graph() *controller.DependencyGraph {
	var edges []controller.DependencyEdge

	for _, node := range db.Nodes() {
		for typ, kind := range node.outputs {
			edge := controller.DependencyEdge{ControllerName: node.name, ResourceType: typ, EdgeType: controller.EdgeOutputExclusive}

			if kind == controller.OutputShared {
				edge.EdgeType = controller.EdgeOutputShared
			}

			edges = append(edges, edge)
		}

		for _, in := range node.Inputs() {
			edges = append(edges, controller.DependencyEdge{
				ControllerName:    node.name,
				ResourceNamespace: in.Namespace,
				ResourceType:      in.Type,
				ResourceID:        in.ID.ValueOrZero(),
				EdgeType:          edgeOf(in.Kind),
			})
		}
	}

	slices.SortFunc(edges, func(a, b controller.DependencyEdge) int {
		return cmp.Or(
			cmp.Compare(rank(a.EdgeType), rank(b.EdgeType)),
			cmp.Compare(a.ControllerName, b.ControllerName),
			cmp.Compare(a.ResourceNamespace, b.ResourceNamespace),
			cmp.Compare(a.ResourceType, b.ResourceType),
			cmp.Compare(a.ResourceID, b.ResourceID),
		)
	})

	return &controller.DependencyGraph{Edges: edges}
}

// rank orders outputs by their kind and puts all inputs on one level behind them.
func rank(edge controller.DependencyEdgeType) controller.DependencyEdgeType {
	return min(edge, controller.EdgeInputStrong)
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
