package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/reduced"
)

// SchemaVersion is the version of the JSON document that this package writes. It grows when a reader of the former
// version would misunderstand the new one; fields that such a reader can ignore may be added without.
const SchemaVersion = 1

// Graph is the model that all formats are made from, and the JSON document as it is. Every string in it is valid
// UTF-8: bytes that are not have been replaced by U+FFFD.
type Graph struct {
	// Version is [SchemaVersion].
	Version int `json:"version"`
	// Title is what the caller named the graph, empty by default.
	Title string `json:"title,omitempty"`
	// Nodes has the controllers, sorted by name, and then the resources, sorted by namespace and type.
	Nodes []Node `json:"nodes"`
	// Edges are sorted by the positions of their ends among the nodes, then by kind.
	Edges []Edge `json:"edges"`
	// Findings is the report of an analysis, if one was passed.
	Findings *analysis.Report `json:"findings,omitempty"`

	// Marked tells that a picture which can, SVG, names its parts for style sheets and scripts; see [WithLinks].
	Marked bool `json:"-"`
	// Unframed tells that a picture is without title and legend; see [WithoutFrame].
	Unframed bool `json:"-"`

	// direction is "LR" or "TB", as Mermaid and DOT both spell it.
	direction string
}

// Node is a controller, or all resources of one namespace and type.
type Node struct {
	// ID names the node within this document: "c1" and so on for controllers, "r1" and so on for resources. It is
	// not stable from one graph to another.
	ID string `json:"id"`
	// Kind tells which of the two it is.
	Kind NodeKind `json:"kind"`
	// Name is the name of a controller.
	Name string `json:"name,omitempty"`
	// Namespace is the namespace of resources. It is empty for a type that is written and not read, as outputs have
	// no namespace.
	Namespace string `json:"namespace,omitempty"`
	// Type is the type of resources.
	Type string `json:"type,omitempty"`
	// Link is where the node leads to, a relative, http or https URL, if the host has given one; see [WithLinks].
	Link string `json:"link,omitempty"`
}

// Edge is one declaration of a controller, or several that differ in nothing but the resource id.
type Edge struct {
	// From is the id of the node that data comes from.
	From string `json:"from"`
	// To is the id of the node that data goes to.
	To string `json:"to"`
	// Kind tells what was declared.
	Kind EdgeKind `json:"kind"`
	// IDs are the ids of the resources that it was declared for, sorted; none means all resources of the node.
	IDs []string `json:"ids,omitempty"`
}

// Build derives the model from a graph; nil counts as empty.
//
// An output has no namespace in the contract. Its edge leads to every namespace in which its type is an input, and
// where there is none, to one node of the type without a namespace. With many writers of one type that is read in
// many namespaces, the number of edges is the product of the two.
func Build(g *controller.DependencyGraph, opts ...Option) *Graph {
	built := &Graph{Version: SchemaVersion, Nodes: []Node{}, Edges: []Edge{}, direction: "LR"}

	if g != nil {
		built.add(g.Edges)
	}

	for _, opt := range opts {
		opt.apply(built)
	}

	return built
}

func (g *Graph) add(declared []controller.DependencyEdge) {
	controllers := map[string]int{}
	kinds := map[reduced.Kind]int{}
	byType := map[string][]reduced.Kind{}

	for i := range declared {
		edge := &declared[i]
		controllers[edge.ControllerName] = 0

		if kind := kindOf(edge); !namespaceless(edge) {
			kinds[kind] = 0
		}
	}

	for kind := range kinds {
		byType[kind.Type] = append(byType[kind.Type], kind)
	}

	for i := range declared {
		if edge := &declared[i]; namespaceless(edge) && byType[edge.ResourceType] == nil {
			kind := kindOf(edge)
			kinds[kind] = 0
			byType[kind.Type] = []reduced.Kind{kind}
		}
	}

	for i, name := range slices.Sorted(maps.Keys(controllers)) {
		controllers[name] = len(g.Nodes)
		g.Nodes = append(g.Nodes, Node{ID: "c" + strconv.Itoa(i+1), Kind: Controller, Name: valid(name)})
	}

	for i, kind := range slices.SortedFunc(maps.Keys(kinds), reduced.Kind.Compare) {
		kinds[kind] = len(g.Nodes)
		g.Nodes = append(g.Nodes, Node{
			ID:        "r" + strconv.Itoa(i+1),
			Kind:      Resource,
			Namespace: valid(kind.Namespace),
			Type:      valid(kind.Type),
		})
	}

	folded := folds{}

	for i := range declared {
		edge := &declared[i]

		targets := []reduced.Kind{kindOf(edge)}
		if namespaceless(edge) {
			targets = byType[edge.ResourceType]
		}

		for _, kind := range targets {
			folded.add(controllers[edge.ControllerName], kinds[kind], KindOfEdge(edge.EdgeType), edge.ResourceID)
		}
	}

	g.Edges = folded.edges(g.Nodes)
}

func kindOf(edge *controller.DependencyEdge) reduced.Kind {
	return reduced.Kind{Namespace: edge.ResourceNamespace, Type: edge.ResourceType}
}

// namespaceless tells whether the edge is about its type in all namespaces.
func namespaceless(edge *controller.DependencyEdge) bool {
	return KindOfEdge(edge.EdgeType).Output() && edge.ResourceNamespace == ""
}

// folds collects edges, with those that differ only in the id under one entry.
type folds map[fold][]string

// fold is an edge without its ids. Declarations for all resources and for some ids do not fold into each other.
type fold struct {
	from, to, kind int
	byID           bool
}

func (f folds) add(ctrl, res int, kind EdgeKind, id string) {
	key := fold{from: res, to: ctrl, kind: kind.order(), byID: id != ""}
	if kind.Output() {
		key.from, key.to = ctrl, res
	}

	ids := f[key]
	if id != "" {
		ids = append(ids, id)
	}

	f[key] = ids
}

func (f folds) edges(nodes []Node) []Edge {
	keys := slices.SortedFunc(maps.Keys(f), func(a, b fold) int {
		return cmp.Or(
			cmp.Compare(a.from, b.from),
			cmp.Compare(a.to, b.to),
			cmp.Compare(a.kind, b.kind),
			cmp.Compare(len(f[a]), len(f[b])),
		)
	})

	edges := make([]Edge, 0, len(keys))

	for _, key := range keys {
		ids := f[key]
		slices.Sort(ids)
		ids = slices.Compact(ids)

		for i := range ids {
			ids[i] = valid(ids[i])
		}

		edges = append(edges, Edge{
			From: nodes[key.from].ID,
			To:   nodes[key.to].ID,
			Kind: EdgeKinds()[key.kind],
			IDs:  ids,
		})
	}

	return edges
}

// Heading is the title of a picture, empty where it is to have none.
func (g *Graph) Heading() string {
	if g.Unframed {
		return ""
	}

	return g.Title
}

// Legend returns the kinds of the edges that the graph has, in order: those that a picture explains, and none where it is to
// explain nothing.
func (g *Graph) Legend() []EdgeKind {
	if g.Unframed {
		return nil
	}

	var used []EdgeKind

	for _, kind := range EdgeKinds() {
		if slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.Kind == kind }) {
			used = append(used, kind)
		}
	}

	return used
}

// Lines returns the text of a node in a picture, one or two short lines without control characters: the name of a
// controller, or the type of resources and below it the namespace, if there is one.
func (n Node) Lines() []string {
	if n.Kind == Controller {
		return []string{Printable(n.Name, labelRunes)}
	}

	lines := []string{Printable(n.Type, labelRunes)}
	if n.Namespace != "" {
		lines = append(lines, Printable(n.Namespace, labelRunes))
	}

	return lines
}

// Lines returns the text of an edge in a picture, one or two short lines without control characters: the label of its
// kind, and below it the ids, if it has any. Of more than three ids the first two are named and the others counted.
func (e Edge) Lines() []string {
	lines := []string{e.Kind.Style().Label}

	named := e.IDs
	if len(named) > 3 {
		named = named[:2]
	}

	if len(named) == 0 {
		return lines
	}

	ids := make([]string, 0, len(named))
	for _, id := range named {
		ids = append(ids, Printable(id, idRunes))
	}

	text := strings.Join(ids, ", ")
	if more := len(e.IDs) - len(named); more > 0 {
		text = fmt.Sprintf("%s and %d more", text, more)
	}

	return append(lines, text)
}
