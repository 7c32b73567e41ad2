package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/switchyard-run/switchyard/dependency/render"
)

// Distances in the picture, in pixels.
const (
	margin     = 20
	titleSpace = 40
	legendGap  = 28
	legendRow  = 24
	sample     = 56
)

// tooltipRunes is how much of a name a tooltip shows.
const tooltipRunes = 400

// drawing is one document being written.
type drawing struct {
	out bytes.Buffer

	graph  *render.Graph
	placed *layout
	legend legend
}

// draw writes the document.
func draw(g *render.Graph, placed *layout) []byte {
	d := &drawing{graph: g, placed: placed}
	title := render.Printable(g.Title, 120)

	content := max(placed.width, 320)
	above := float64(0)

	if !g.Unframed {
		content = max(content, textWidth(title, titleFont))
		above = titleSpace
	}

	d.legend = newLegend(g, content)

	width := content + 2*margin
	height := margin + above + placed.height + d.legend.height() + margin

	if len(g.Nodes) == 0 {
		height += legendRow
	}

	d.linef(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s"`+
		` role="graphics-document document" aria-label="%s" font-family="%s"%s>`,
		px(width), px(height), px(width), px(height), escape(title), escape(fontStack), d.class(classPicture))

	if !g.Unframed {
		d.linef(`<title>%s</title>`, escape(title))
	}

	d.linef(`<desc>%s</desc>`, escape(d.summary()))
	d.linef(`<rect width="100%%" height="100%%" fill="#ffffff"%s/>`, d.class(classBackground))

	if !g.Unframed {
		d.text(point{margin, margin + titleFont}, title, titleFont, "#1b1b1b", ` font-weight="600"`+d.class(classTitle))
	}

	d.linef(`<g transform="translate(%s %s)">`, px(margin), px(margin+above))
	d.body()
	d.linef(`</g>`)

	if !g.Unframed {
		d.linef(`<g transform="translate(%s %s)"%s>`, px(margin), px(margin+above+placed.height+legendGap), d.class("legend"))
		d.legend.draw(d)
		d.linef(`</g>`)
	}

	d.linef(`</svg>`)

	return d.out.Bytes()
}

// summary says in one sentence what the picture shows.
func (d *drawing) summary() string {
	controllers := 0

	for _, node := range d.graph.Nodes {
		if node.Kind == render.Controller {
			controllers++
		}
	}

	return fmt.Sprintf("Dependency graph with %s, %s and %s. Data flows along the arrows.",
		count(controllers, "controller"),
		count(len(d.graph.Nodes)-controllers, "resource type"),
		count(len(d.graph.Edges), "edge"))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return strconv.Itoa(n) + " " + noun + "s"
}

// body draws edges, nodes and labels, so that nothing hides a name. A marked picture is read out as well as looked at, and has the
// nodes first, unless it has straight edges, which may cross nodes.
func (d *drawing) body() {
	if len(d.graph.Nodes) == 0 {
		d.text(point{0, nodeFont}, "The graph is empty.", nodeFont, "#555555", d.class(classEmpty))

		return
	}

	names := make(map[string]string, len(d.graph.Nodes))
	for _, node := range d.graph.Nodes {
		names[node.ID] = describe(node)
	}

	if d.graph.Marked && d.placed.curved {
		d.nodes(names)
		d.edges(names)
	} else {
		d.edges(names)
		d.nodes(names)
	}

	if !d.placed.labels {
		return
	}

	for i, edge := range d.graph.Edges {
		d.label(edge, d.placed.routes[i].label)
	}
}

func (d *drawing) edges(names map[string]string) {
	d.openGroup("edges", "What is read and written")

	for i, edge := range d.graph.Edges {
		d.openEdge(edge, describeEdge(edge, names))
		d.edge(edge.Kind.Style(), d.placed.routes[i])
		d.linef(`</g>`)
	}

	d.closeGroup()
}

func (d *drawing) nodes(names map[string]string) {
	d.openGroup("nodes", "Controllers and resources")

	for i, node := range d.graph.Nodes {
		closing := d.openNode(node, names[node.ID])
		d.node(node, d.placed.boxes[i])
		d.linef("%s", closing)
	}

	d.closeGroup()
}

func describe(node render.Node) string {
	switch {
	case node.Kind == render.Controller:
		return "controller " + render.Printable(node.Name, tooltipRunes)
	case node.Namespace == "":
		return "resources of type " + render.Printable(node.Type, tooltipRunes)
	default:
		return "resources of type " + render.Printable(node.Type, tooltipRunes) +
			" in namespace " + render.Printable(node.Namespace, tooltipRunes)
	}
}

func describeEdge(edge render.Edge, names map[string]string) string {
	lines := edge.Lines()

	return names[edge.From] + " → " + names[edge.To] + " (" + strings.Join(lines, ": ") + ")"
}

func (d *drawing) node(node render.Node, b box) {
	d.shape(node.Kind, b)

	lines := node.Lines()
	baseline := b.centre.y + nodeFont*0.36

	if node.Kind == render.Resource {
		baseline += capHeight / 2
	}

	if len(lines) > 1 {
		baseline -= (namespaceFont + 3) / 2
	}

	more := ` text-anchor="middle"`
	if d.graph.Marked {
		more += ` aria-hidden="true"`
	}

	d.text(point{b.centre.x, baseline}, lines[0], nodeFont, "#1b1b1b", more+d.class(className))

	if len(lines) > 1 {
		d.text(point{b.centre.x, baseline + namespaceFont + 4}, lines[1], namespaceFont, "#555555", more+d.class(classNamespace))
	}
}

// shape draws a rounded box for a controller and a cylinder for resources.
func (d *drawing) shape(kind render.NodeKind, b box) {
	left, top := b.centre.x-b.width/2, b.centre.y-b.height/2
	outline := fmt.Sprintf(`stroke="%s" stroke-width="1.3"`, kind.Stroke())

	if kind == render.Controller {
		d.linef(`<rect x="%s" y="%s" width="%s" height="%s" rx="8" fill="%s" %s%s/>`,
			px(left), px(top), px(b.width), px(b.height), kind.Fill(), outline, d.class(classShape))

		return
	}

	arc := fmt.Sprintf("a%s %d 0 0", px(b.width/2), capHeight)
	d.linef(`<path d="M%s %s%s 1 %s 0v%s%s 1 -%s 0z" fill="%s" %s%s/>`,
		px(left), px(top+capHeight), arc, px(b.width), px(b.height-2*capHeight), arc, px(b.width), kind.Fill(), outline,
		d.class(classShape))
	d.linef(`<path d="M%s %s%s 0 %s 0" fill="none" %s%s/>`,
		px(left), px(top+capHeight), arc, px(b.width), outline, d.class(classLid))
}

func (d *drawing) label(edge render.Edge, centre point) {
	const lineHeight = edgeFont * 1.2

	lines := edge.Lines()
	baseline := centre.y - lineHeight*float64(len(lines)-1)/2 + edgeFont*0.36

	for i, line := range lines {
		d.text(point{centre.x, baseline + float64(i)*lineHeight}, line, edgeFont, d.paint(edge.Kind.Style()),
			` text-anchor="middle" aria-hidden="true" paint-order="stroke" stroke="#ffffff" stroke-width="3"`+
				d.belongs(edge.Kind, "label"))
	}
}

// edge draws line and head.
func (d *drawing) edge(style render.Style, r route) {
	var path strings.Builder

	for i, p := range r.curve {
		switch {
		case i == 0:
			path.WriteByte('M')
		case i == 1:
			path.WriteByte('C')
		default:
			path.WriteByte(' ')
		}

		path.WriteString(px(p.x) + " " + px(p.y))
	}

	if style.Head == render.Cross {
		path.WriteString("L" + px(r.tip.x) + " " + px(r.tip.y))
	}

	line := map[render.Line]string{
		render.Solid:  `stroke-width="1.3"`,
		render.Dashed: `stroke-width="1.3" stroke-dasharray="5 3"`,
		render.Thick:  `stroke-width="2.8"`,
	}[style.Line]

	d.linef(`<path d="%s" fill="none" stroke="%s" %s%s/>`, path.String(), d.paint(style), line, d.class(classLine))
	d.head(style, r.curve[len(r.curve)-1], r.tip)
}

// head draws what stands between the end of the line and the tip.
func (d *drawing) head(style render.Style, from, tip point) {
	length := math.Hypot(tip.x-from.x, tip.y-from.y)
	if length == 0 {
		return
	}

	along := point{(tip.x - from.x) / length, (tip.y - from.y) / length}
	at := func(forward, sideways float64) string {
		return px(from.x+forward*along.x-sideways*along.y) + " " + px(from.y+forward*along.y+sideways*along.x)
	}

	switch style.Head {
	case render.Circle:
		radius := length / 2
		d.linef(`<circle cx="%s" cy="%s" r="%s" fill="%s"%s/>`,
			px((from.x+tip.x)/2), px((from.y+tip.y)/2), px(radius*0.9), d.paint(style), d.class(classHead))
	case render.Cross:
		arm := 4.5
		middle := length / 2
		d.linef(`<path d="M%sL%sM%sL%s" fill="none" stroke="%s" stroke-width="2"%s/>`,
			at(middle-arm, -arm), at(middle+arm, arm), at(middle-arm, arm), at(middle+arm, -arm), d.paint(style),
			d.class(classCross))
	default:
		d.linef(`<path d="M%sL%sL%sz" fill="%s"%s/>`, at(0, -4.5), at(length, 0), at(0, 4.5), d.paint(style), d.class(classHead))
	}
}

// text writes one line. More are further attributes, each with a space before it.
func (d *drawing) text(at point, text string, size int, colour, more string) {
	d.linef(`<text x="%s" y="%s" font-size="%d" fill="%s"%s>%s</text>`,
		px(at.x), px(at.y), size, colour, more, escape(text))
}

func (d *drawing) linef(format string, args ...any) {
	fmt.Fprintf(&d.out, format+"\n", args...)
}

// px writes a length in pixels, to a tenth.
func px(v float64) string {
	text := strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	if text == "-0" {
		return "0"
	}

	return text
}

func escape(text string) string {
	var b strings.Builder

	// Writing to a strings.Builder does not fail.
	_ = xml.EscapeText(&b, []byte(text))

	return b.String()
}
