package grouped

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
)

// declarations is a graph by number: of a controller, and of a type, among the names in order.
type declarations struct {
	controllers, types []string
	// namespaces has for each type the namespace of its inputs, or "" where they have several.
	namespaces []string
	// uses are the edges, without ids and namespaces, by controller, type and kind, each once.
	uses []use
}

// use is a controller, or a group of them, that reads or writes a type, or a group of types.
type use struct {
	controller, typ int
	kind            controller.DependencyEdgeType
}

func compareUses(a, b use) int {
	return cmp.Or(cmp.Compare(a.controller, b.controller), cmp.Compare(a.typ, b.typ), cmp.Compare(a.kind, b.kind))
}

func declare(g *controller.DependencyGraph) *declarations {
	d := &declarations{}
	if g == nil {
		return d
	}

	controllers, types := map[string]int{}, map[string]int{}

	for i := range g.Edges {
		controllers[g.Edges[i].ControllerName] = 0
		types[g.Edges[i].ResourceType] = 0
	}

	d.controllers, d.types = numbered(controllers), numbered(types)
	d.namespaces = make([]string, len(d.types))
	d.uses = make([]use, len(g.Edges))

	several := make([]bool, len(d.types))
	known := make([]bool, len(d.types))

	for i := range g.Edges {
		edge := &g.Edges[i]
		typ := types[edge.ResourceType]
		d.uses[i] = use{controllers[edge.ControllerName], typ, edge.EdgeType}

		if output(edge.EdgeType) {
			continue
		}

		several[typ] = several[typ] || known[typ] && d.namespaces[typ] != edge.ResourceNamespace
		d.namespaces[typ], known[typ] = edge.ResourceNamespace, true
	}

	for typ := range d.types {
		if several[typ] {
			d.namespaces[typ] = ""
		}
	}

	d.uses = distinct(d.uses)

	return d
}

// numbered gives each name its position among all of them in order, and returns these.
func numbered(numbers map[string]int) []string {
	names := slices.Sorted(maps.Keys(numbers))
	for i, name := range names {
		numbers[name] = i
	}

	return names
}

func distinct(uses []use) []use {
	slices.SortFunc(uses, compareUses)

	return slices.Compact(uses)
}

func output(kind controller.DependencyEdgeType) bool {
	return kind == controller.EdgeOutputExclusive || kind == controller.EdgeOutputShared
}

// shapes are the controllers with those together that declare the same.
func (d *declarations) shapes() []part {
	shapes := make([][]byte, len(d.controllers))

	for _, u := range d.uses {
		shapes[u.controller] = binary.AppendUvarint(shapes[u.controller], uint64(u.typ))
		shapes[u.controller] = binary.AppendVarint(shapes[u.controller], int64(u.kind))
	}

	return alike(d.controllers, shapes)
}

// touched are the types with those together that the same parts of the controllers touch in the same ways, and the number of edges
// between them.
func (d *declarations) touched(controllers []part) (types []part, edges int) {
	of := positions(controllers, len(d.controllers))
	uses := make([]use, len(d.uses))

	for i, u := range d.uses {
		uses[i] = use{of[u.controller], u.typ, u.kind}
	}

	shapes := make([][]byte, len(d.types))

	for _, u := range distinct(uses) {
		shapes[u.typ] = binary.AppendUvarint(shapes[u.typ], uint64(u.controller))
		shapes[u.typ] = binary.AppendVarint(shapes[u.typ], int64(u.kind))
	}

	types = alike(d.types, shapes)

	return types, len(d.between(plan{controllers, types}))
}

// between are the edges of a plan.
func (d *declarations) between(p plan) []use {
	controllers, types := positions(p.controllers, len(d.controllers)), positions(p.types, len(d.types))
	uses := make([]use, len(d.uses))

	for i, u := range d.uses {
		uses[i] = use{controllers[u.controller], types[u.typ], u.kind}
	}

	return distinct(uses)
}

// grouping is what a plan comes to.
func (d *declarations) grouping(p plan) *Grouping {
	g := &Grouping{
		Graph:       &controller.DependencyGraph{},
		Controllers: named(d.controllers, p.controllers),
		Types:       named(d.types, p.types),
		of:          make(map[string]string, len(d.controllers)),
	}

	for _, u := range d.between(p) {
		edge := controller.DependencyEdge{
			ControllerName: g.Controllers[u.controller].Name, ResourceType: g.Types[u.typ].Name, EdgeType: u.kind,
		}

		if !output(u.kind) {
			edge.ResourceNamespace = d.namespace(p.types[u.typ])
		}

		g.Graph.Edges = append(g.Graph.Edges, edge)
	}

	for _, members := range g.Controllers {
		for _, name := range members.Names {
			g.of[name] = members.Name
		}
	}

	byName := func(a, b Members) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(g.Controllers, byName)
	slices.SortFunc(g.Types, byName)

	return g
}

// namespace is the one that all types have in which they are read.
func (d *declarations) namespace(types part) string {
	for _, typ := range types.members {
		if d.namespaces[typ] != d.namespaces[types.members[0]] {
			return ""
		}
	}

	return d.namespaces[types.members[0]]
}

// positions tells for each member in which part it is.
func positions(parts []part, members int) []int {
	of := make([]int, members)

	for i, p := range parts {
		for _, member := range p.members {
			of[member] = i
		}
	}

	return of
}
