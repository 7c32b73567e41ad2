package operator

import (
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"

	"github.com/switchyard-run/switchyard/reduced"
)

// settings is what the definition comes to for an engine.
func (d *definition) settings() controller.QSettings {
	settings := controller.QSettings{Concurrency: optional.Some(uint(max(d.workers, 1)))}

	input := func(kind reduced.Kind, as controller.InputKind) {
		for _, known := range settings.Inputs {
			if known.Namespace == kind.Namespace && known.Type == kind.Type {
				return // watched, beside what else it is
			}
		}

		settings.Inputs = append(settings.Inputs, controller.Input{Namespace: kind.Namespace, Type: kind.Type, Kind: as})
	}

	output := func(typ resource.Type, shared bool) {
		as := controller.OutputExclusive
		if shared {
			as = controller.OutputShared
		}

		for _, known := range settings.Outputs {
			if known.Type == typ {
				return // owned in several namespaces
			}
		}

		settings.Outputs = append(settings.Outputs, controller.Output{Type: typ, Kind: as})
	}

	input(d.primary, controller.InputQPrimary)

	for _, owned := range d.owned {
		input(owned.kind, controller.InputQMapped)
		output(owned.kind.Type, owned.shared)
	}

	for _, watched := range d.watched {
		input(watched.kind, controller.InputQMapped)
	}

	if d.status != nil {
		// What is written into it wakes nobody here, but that others have let go of it at the end does.
		as := controller.InputQMappedDestroyReady
		if d.reports.updates {
			as = controller.InputQMapped
		}

		input(d.status.kind, as)
		output(d.status.kind.Type, false)
	}

	if d.mutates {
		output(d.primary.Type, true)
	}

	if !d.events.off && d.events.recorder == nil {
		output(EventType, true)
	}

	return settings
}

// edges is the same as part of a dependency graph.
func (d *definition) edges() (edges []controller.DependencyEdge) {
	settings := d.settings()

	for _, in := range settings.Inputs {
		edge := controller.DependencyEdge{ControllerName: d.name, ResourceNamespace: in.Namespace, ResourceType: in.Type}

		switch in.Kind {
		case controller.InputQPrimary:
			edge.EdgeType = controller.EdgeInputQPrimary
		case controller.InputQMapped:
			edge.EdgeType = controller.EdgeInputQMapped
		default:
			edge.EdgeType = controller.EdgeInputQMappedDestroyReady
		}

		edges = append(edges, edge)
	}

	for _, out := range settings.Outputs {
		edge := controller.DependencyEdge{ControllerName: d.name, ResourceType: out.Type, EdgeType: controller.EdgeOutputExclusive}
		if out.Kind == controller.OutputShared {
			edge.EdgeType = controller.EdgeOutputShared
		}

		edges = append(edges, edge)
	}

	return edges
}
