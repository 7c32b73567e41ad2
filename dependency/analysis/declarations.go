package analysis

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/reduced"
)

// declarations is the graph sorted by direction. The three name lists are sorted and free of duplicates, so that a
// position in them is a stable number.
type declarations struct {
	controllers []string
	outputs     []reduced.Kind
	inputs      []reduced.Kind

	writes []write
	reads  []read
}

type write struct {
	controller string
	kind       reduced.Kind
}

type read struct {
	controller string
	kind       reduced.Kind

	// cleanup tells that the controller waits for resources ready to be destroyed.
	cleanup bool
}

func declare(g *controller.DependencyGraph) *declarations {
	d := &declarations{}

	if g == nil {
		return d
	}

	controllers := map[string]bool{}
	outputs := map[reduced.Kind]bool{}
	inputs := map[reduced.Kind]bool{}

	for i := range g.Edges {
		edge := &g.Edges[i]
		kind := reduced.Kind{Namespace: edge.ResourceNamespace, Type: edge.ResourceType}

		switch edge.EdgeType {
		case controller.EdgeOutputExclusive, controller.EdgeOutputShared:
			d.writes = append(d.writes, write{edge.ControllerName, kind})
			outputs[kind] = true

		case controller.EdgeInputStrong, controller.EdgeInputWeak,
			controller.EdgeInputQPrimary, controller.EdgeInputQMapped:
			d.reads = append(d.reads, read{edge.ControllerName, kind, false})
			inputs[kind] = true

		case controller.EdgeInputDestroyReady, controller.EdgeInputQMappedDestroyReady:
			d.reads = append(d.reads, read{edge.ControllerName, kind, true})
			inputs[kind] = true

		default:
			continue
		}

		controllers[edge.ControllerName] = true
	}

	d.controllers = sortedKeys(controllers)
	d.outputs = sortedKinds(outputs)
	d.inputs = sortedKinds(inputs)

	return d
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

func sortedKinds[V any](m map[reduced.Kind]V) []reduced.Kind {
	return slices.SortedFunc(maps.Keys(m), reduced.Kind.Compare)
}
