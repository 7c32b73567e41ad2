// Package analysis owns what can be said about a dependency graph without running it: loops, inputs that nothing
// writes and outputs that nothing reads.
//
// [Analyze] is a pure function of the contract's [controller.DependencyGraph]. Its result does not depend on the
// order of the edges. The package keeps no state and starts no goroutine.
//
// What counts:
//
//   - A loop is a way from a controller along what it writes and who reads that, back to itself. Inputs that wait for
//     resources to be ready to be destroyed are left out: a controller that cleans up after its own outputs, or after
//     another controller's, is part of normal operation.
//   - Outputs have no namespace in the contract, so an output of a type feeds the inputs of that type in every
//     namespace. Loops are those of the declarations: two controllers that share a type but never the same resource
//     are reported too.
//   - An output counts as read when any controller has its type as an input. The writer's own destroy-ready inputs do
//     not count: they tell that it is tidy, not that somebody uses the content.
//   - Edges of a type that this version does not know are left out.
//
// Time and memory grow linearly with the graph, apart from sorting.
package analysis

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/reduced"
)

// Analyze looks for findings in the graph; nil counts as empty. The graph is only read, so concurrent calls on one
// graph are safe. The report shares no memory with the graph other than strings.
func Analyze(g *controller.DependencyGraph) Report {
	d := declare(g)

	return Report{
		Loops:      loops(d),
		Unproduced: unproduced(d),
		Unread:     unread(d),
	}
}

func unproduced(d *declarations) []Unproduced {
	written := map[string]bool{}
	for _, out := range d.outputs {
		written[out.Type] = true
	}

	readers := map[reduced.Kind][]string{}

	for _, r := range d.reads {
		if !written[r.kind.Type] {
			readers[r.kind] = append(readers[r.kind], r.controller)
		}
	}

	var found []Unproduced

	for _, kind := range sortedKinds(readers) {
		found = append(found, Unproduced{
			Namespace: kind.Namespace,
			Type:      kind.Type,
			Readers:   sortedNames(readers[kind]),
		})
	}

	return found
}

func unread(d *declarations) []Unread {
	type use struct{ controller, typ string }

	writes := map[use]bool{}
	for _, w := range d.writes {
		writes[use{w.controller, w.kind.Type}] = true
	}

	read := map[string]bool{}

	for _, r := range d.reads {
		if r.cleanup && writes[use{r.controller, r.kind.Type}] {
			continue
		}

		read[r.kind.Type] = true
	}

	writers := map[string][]string{}

	for _, w := range d.writes {
		if !read[w.kind.Type] {
			writers[w.kind.Type] = append(writers[w.kind.Type], w.controller)
		}
	}

	var found []Unread

	for _, typ := range sortedKeys(writers) {
		found = append(found, Unread{Type: typ, Writers: sortedNames(writers[typ])})
	}

	return found
}

func sortedNames(names []string) []string {
	slices.Sort(names)

	return slices.Compact(names)
}
