// Package grouped owns how a large dependency graph is made small enough to look at: controllers and resource types that are
// alike become one node each.
//
// [Group] is a pure function of the contract's [controller.DependencyGraph]; its result does not depend on the order of the edges.
// What counts:
//
//   - Controllers with the same types as inputs and outputs, in the same ways, are one group.
//   - Where there are too many of these, those whose names begin alike are. A name is cut where its case changes, at each digit, and
//     after punctuation. How much of it counts is chosen for each beginning, the largest group being divided first. Controllers that
//     declare the same stay together only if their names begin alike.
//   - Types that the same groups touch in the same ways are one node. So all that only the members of one group touch is one.
//   - Of namespaces only that remains which all inputs of a node have, and of resource ids nothing does.
//
// Every controller and every type is in exactly one group, and every edge of the graph is one of the edges of the smaller one, between the
// groups of its ends and of the same type.
//
// The package keeps no state and starts no goroutine. Time and memory grow linearly with the graph, apart from sorting.
package grouped

import (
	"github.com/cosi-project/runtime/pkg/controller"
)

// The defaults of [Config], and what a picture bears.
const (
	defaultAbove = 300
	mostNodes    = 120
	mostEdges    = 1200
)

// limits on the groups of controllers are tried in turn until nodes and edges are few enough. Where none will do, types are merged by
// their names, beside so many controllers.
var limits = []int{100, 80, 60, 40, 20}

const besideTypes = 40

// Config says what is grouped.
type Config struct {
	// Above is how many controllers a graph may have that is left as it is. The default is 300.
	Above int
}

// Grouping is a graph with what its nodes stand for.
type Grouping struct {
	// Graph is the smaller graph, of at most 120 nodes and 1,200 edges, or the one that was given if that is small enough.
	Graph *controller.DependencyGraph
	// Controllers and Types are the groups, which are the controllers and the resource types of Graph, in order of their names. There
	// are none where Graph is the one that was given.
	Controllers, Types []Members

	of map[string]string
}

// Members are what one node stands for.
type Members struct {
	// Name is the name of the node: that of its only member, or what all begin with and how many they are, as "Links… (250)". No two
	// nodes have the same.
	Name string
	// Names are the members, in order.
	Names []string
}

// Grouped tells whether anything was grouped.
func (g *Grouping) Grouped() bool { return g.of != nil }

// Of returns the name of the node that stands for a controller, which is its own where it is alone, or unknown.
func (g *Grouping) Of(name string) string {
	if of, ok := g.of[name]; ok {
		return of
	}

	return name
}

// Group groups the graph if it has more controllers than the config allows; nil counts as empty. The graph is only read.
func Group(g *controller.DependencyGraph, cfg Config) *Grouping {
	if cfg.Above <= 0 {
		cfg.Above = defaultAbove
	}

	d := declare(g)
	if len(d.controllers) <= cfg.Above {
		return &Grouping{Graph: g}
	}

	p := d.small()

	return d.grouping(p)
}

// plan is a partition of the controllers and one of the types: for each its members by position.
type plan struct{ controllers, types []part }

// small finds the largest partition that a picture bears.
func (d *declarations) small() plan {
	shapes := d.shapes()

	var (
		p     plan
		edges int
	)

	for _, limit := range limits {
		p.controllers = merge(shapes, d.controllers, limit)
		p.types, edges = d.touched(p.controllers)

		if len(p.controllers)+len(p.types) <= mostNodes && edges <= mostEdges {
			return p
		}
	}

	p.controllers = merge(shapes, d.controllers, besideTypes)
	alike, _ := d.touched(p.controllers)

	for limit := mostNodes - len(p.controllers); ; limit /= 2 {
		p.types = merge(alike, d.types, limit)

		if limit <= 1 || len(d.between(p)) <= mostEdges {
			return p
		}
	}
}
