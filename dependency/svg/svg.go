// Package svg owns the dependency graph as a picture for people: one self-contained SVG document.
//
// Graphviz, compiled to WebAssembly, decides where things go; everything that is drawn is written here. Names never
// reach Graphviz, only numbers and sizes do. The document has no script, style sheet, font or image, and no links but those
// that the host asks for, so it may be embedded in a page under any content security policy, and no ids, so several fit
// into one page. It names the graph, each node and each edge for screen readers, and as tooltips.
//
// # Marked pictures
//
// With [render.WithLinks] the picture is for a page to work with, without a script in it. Nodes that lead somewhere are
// links, so the keyboard reaches them. Screen readers meet the nodes before the edges, except in a picture with more than
// 400 edges, whose straight lines have to be drawn first. All has classes, and data for scripts and tests:
//
//	a.node, g.node            a node, with and without a link; data-node is its id in this picture
//	  .node.controller        data-controller is its name
//	  .node.resources         data-namespace, data-type; an output that nobody reads has no namespace
//	    .shape .lid           its outline, and the lid of a cylinder, of which only the stroke is to be seen
//	    .name .namespace      its text
//	g.edge.input-weak         an edge with its kind, one of render.EdgeKinds; data-kind, and the nodes' ids in
//	                          data-from and data-to
//	  .line .head .cross      its line, and what it ends in: a head is filled, a cross is not
//	text.label.input-weak     the text at an edge; its stroke, a halo, has the colour of the background
//	g.nodes, g.edges          all of them
//	svg.dependency-graph      the picture; within it .background, .title, .empty
//	g.legend                  .heading, .text, and g.sample with the class of a kind of nodes or edges
//
// Colours are presentation attributes, which any style sheet of the page overrides. All parts of an edge are in its
// current colour, so a dark scheme is a rule for each kind, and some for the rest:
//
//	.dependency-graph .background { fill: #101418 }
//	.dependency-graph text { fill: #e6e6e6 }
//	.dependency-graph .controller .shape { fill: #1d2b4a; stroke: #8fb0ff }
//	.dependency-graph .resources :is(.shape, .lid) { stroke: #e0b040 }
//	.dependency-graph .resources .shape { fill: #3a2f10 }
//	.dependency-graph .label { fill: currentColor; stroke: #101418 }
//	.dependency-graph .input-weak { color: #8cc4e8 }
//
// The package is apart from package render because it links Graphviz and a WebAssembly runtime. Importing it costs a
// process some 5 MB of code, 10 MB of memory and a tenth of a second at start, before main; the first time on a machine
// it takes about a second. It starts no goroutine.
//
// At start the go-graphviz module keeps compiled code below [os.TempDir], by a name that is the same for everybody, and
// runs what it finds there. So this package has it kept among the caches of the user (switchyard below
// [os.UserCacheDir]); for that, TMPDIR is another one while packages are initialized. A host that imports the module
// itself as well may be initialized in another order, and should give the process a TMPDIR of its own.
//
// The Graphviz module has one memory for the whole process. The calls of this package take turns on it; a program that
// uses the go-graphviz module itself has to take care that it does so at no time when this package is called. The module
// keeps about a kilobyte for each edge of each layout for good, so the last four layouts are remembered, and showing
// the same graph again costs next to nothing.
package svg

import (
	"context"
	"io"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/render"
)

const defaultTitle = "Controllers, what they read and what they write"

// Render writes the graph as an SVG document with a title and a legend, unless [render.WithoutFrame] leaves them out. The same graph gives the same bytes, whatever
// the order of its edges. It is safe for concurrent use; calls take turns.
//
// A graph with more than 120 edges has no labels on them, as the legend and the tooltips tell the same; with more than
// 400, edges are straight lines. The aim is a picture within a second or two for some hundred controllers.
//
// A layout, once begun, cannot be interrupted: the context is looked at before it begins and after it has ended. The
// error is the context's, the writer's, [ErrTooLarge], or that of a layout that failed, in which case nothing has been
// written.
func Render(ctx context.Context, w io.Writer, g *controller.DependencyGraph, opts ...render.Option) error {
	graph := render.Build(g, opts...)
	if graph.Title == "" {
		graph.Title = defaultTitle
	}

	placed, err := place(ctx, graph)
	if err != nil {
		return err
	}

	_, err = w.Write(draw(graph, placed))

	return err
}
