package render

import "slices"

// legendNodes returns the nodes of a legend that is drawn as a small graph: a controller, and resources to its left
// and right, as far as there are edges to connect them.
func legendNodes(used []EdgeKind) []Node {
	nodes := []Node{{ID: "legendController", Kind: Controller, Name: "controller"}}

	if slices.ContainsFunc(used, func(k EdgeKind) bool { return !k.Output() }) {
		nodes = append(nodes, Node{ID: "legendInput", Kind: Resource, Namespace: "namespace", Type: "resource type"})
	}

	if slices.ContainsFunc(used, EdgeKind.Output) {
		nodes = append(nodes, Node{ID: "legendOutput", Kind: Resource, Namespace: "namespace", Type: "resource type"})
	}

	return nodes
}

// legendEnds returns the ids of the legend's nodes that an edge of the kind leads from and to.
func legendEnds(kind EdgeKind) (from, to string) {
	if kind.Output() {
		return "legendController", "legendOutput"
	}

	return "legendInput", "legendController"
}

// legendLines explains a kind of edge in one line.
func legendLines(kind EdgeKind) []string {
	style := kind.Style()

	return []string{style.Label + ": " + style.Meaning}
}
