package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
)

// DOT writes the graph in the language of Graphviz, with a legend. Controllers are rounded boxes, resources are
// cylinders, and data flows from left to right, or as [WithTopDown] has it.
//
// The error is that of the writer.
func DOT(w io.Writer, g *controller.DependencyGraph, opts ...Option) error {
	d := dot{graph: Build(g, opts...)}
	d.write()

	_, err := w.Write(d.out.Bytes())

	return err
}

// dot is one document being written.
type dot struct {
	graph *Graph
	out   bytes.Buffer
}

func (d *dot) write() {
	d.linef("digraph dependencies {")
	d.linef("  graph [rankdir=%s, charset=\"UTF-8\", fontname=\"Helvetica,Arial,sans-serif\", nodesep=0.3, ranksep=0.8]",
		d.graph.direction)
	d.linef("  node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=12]")
	d.linef("  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10]")

	if heading := d.graph.Heading(); heading != "" {
		d.linef("  graph [label=%s, labelloc=t, fontsize=16]", dotText([]string{Printable(heading, titleRunes)}))
	}

	for _, node := range d.graph.Nodes {
		d.node("  ", node)
	}

	for _, edge := range d.graph.Edges {
		d.edge("  ", edge.From, edge.To, edge.Kind, edge.Lines())
	}

	d.legend()
	d.linef("}")
}

// legend shows a controller between what it reads and what it writes, with one edge for each kind that is in use.
func (d *dot) legend() {
	used := d.graph.Legend()
	if len(used) == 0 {
		return
	}

	d.linef("  subgraph cluster_legend {")
	d.linef("    graph [label=\"Legend\", labelloc=t, fontsize=12, color=\"#888888\"]")

	for _, node := range legendNodes(used) {
		d.node("    ", node)
	}

	for _, kind := range used {
		from, to := legendEnds(kind)
		d.edge("    ", from, to, kind, legendLines(kind))
	}

	d.linef("  }")
}

func (d *dot) node(indent string, node Node) {
	shape, style := "box", "filled,rounded"
	if node.Kind == Resource {
		shape, style = "cylinder", "filled"
	}

	d.linef("%s%s [label=%s, shape=%s, style=%q, fillcolor=%q, color=%q]",
		indent, node.ID, dotText(node.Lines()), shape, style, node.Kind.Fill(), node.Kind.Stroke())
}

func (d *dot) edge(indent, from, to string, kind EdgeKind, lines []string) {
	style := kind.Style()
	line := map[Line]string{
		Solid:  "style=solid",
		Dashed: "style=dashed",
		Thick:  "style=solid, penwidth=2.5",
	}[style.Line]
	head := map[Head]string{Arrow: "normal", Circle: "dot", Cross: "tee"}[style.Head]

	d.linef("%s%s -> %s [label=%s, color=%q, fontcolor=%q, %s, arrowhead=%s]",
		indent, from, to, dotText(lines), style.Colour, style.Colour, line, head)
}

func (d *dot) linef(format string, args ...any) {
	fmt.Fprintf(&d.out, format+"\n", args...)
}

// dotEscaper makes text inert in a quoted string: quotes end it, a backslash begins an escape such as the name of the
// node, and an ampersand begins an HTML entity.
var dotEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)

func dotText(lines []string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = dotEscaper.Replace(line)
	}

	return `"` + strings.Join(escaped, `\n`) + `"`
}
