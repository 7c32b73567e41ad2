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

	content := max(placed.width, textWidth(title, titleFont), 320)
	d.legend = newLegend(g, content)

	width := content + 2*margin
	height := margin + titleSpace + placed.height + d.legend.height() + margin

	if len(g.Nodes) == 0 {
		height += legendRow
	}

	d.linef(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s"`+
		` role="graphics-document document" aria-label="%s" font-family="%s">`,
		px(width), px(height), px(width), px(height), escape(title), escape(fontStack))
	d.linef(`<title>%s</title>`, escape(title))
	d.linef(`<desc>%s</desc>`, escape(d.summary()))
	d.linef(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	d.text(point{margin, margin + titleFont}, title, titleFont, "#1b1b1b", `font-weight="600"`)

	d.linef(`<g transform="translate(%s %s)">`, px(margin), px(margin+titleSpace))
	d.body()
	d.linef(`</g>`)

	d.linef(`<g transform="translate(%s %s)">`, px(margin), px(margin+titleSpace+placed.height+legendGap))
	d.legend.draw(d)
	d.linef(`</g>`)

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

// body draws the edges, then the nodes, then the labels, so that nothing hides a name.
func (d *drawing) body() {
	if len(d.graph.Nodes) == 0 {
		d.text(point{0, nodeFont}, "The graph is empty.", nodeFont, "#555555", "")

		return
	}

	names := make(map[string]string, len(d.graph.Nodes))
	for _, node := range d.graph.Nodes {
		names[node.ID] = describe(node)
	}

	for i, edge := range d.graph.Edges {
		d.linef(`<g role="graphics-symbol img"><title>%s</title>`, escape(describeEdge(edge, names)))
		d.edge(edge.Kind.Style(), d.placed.routes[i])
		d.linef(`</g>`)
	}

	for i, node := range d.graph.Nodes {
		d.linef(`<g role="graphics-symbol img"><title>%s</title>`, escape(names[node.ID]))
		d.node(node, d.placed.boxes[i])
		d.linef(`</g>`)
	}

	if !d.placed.labels {
		return
	}

	for i, edge := range d.graph.Edges {
		d.label(edge, d.placed.routes[i].label)
	}
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

	d.text(point{b.centre.x, baseline}, lines[0], nodeFont, "#1b1b1b", `text-anchor="middle"`)

	if len(lines) > 1 {
		d.text(point{b.centre.x, baseline + namespaceFont + 4}, lines[1], namespaceFont, "#555555", `text-anchor="middle"`)
	}
}

// shape draws a rounded box for a controller and a cylinder for resources.
func (d *drawing) shape(kind render.NodeKind, b box) {
	left, top := b.centre.x-b.width/2, b.centre.y-b.height/2
	outline := fmt.Sprintf(`stroke="%s" stroke-width="1.3"`, kind.Stroke())

	if kind == render.Controller {
		d.linef(`<rect x="%s" y="%s" width="%s" height="%s" rx="8" fill="%s" %s/>`,
			px(left), px(top), px(b.width), px(b.height), kind.Fill(), outline)

		return
	}

	arc := fmt.Sprintf("a%s %d 0 0", px(b.width/2), capHeight)
	d.linef(`<path d="M%s %s%s 1 %s 0v%s%s 1 -%s 0z" fill="%s" %s/>`,
		px(left), px(top+capHeight), arc, px(b.width), px(b.height-2*capHeight), arc, px(b.width), kind.Fill(), outline)
	d.linef(`<path d="M%s %s%s 0 %s 0" fill="none" %s/>`, px(left), px(top+capHeight), arc, px(b.width), outline)
}

func (d *drawing) label(edge render.Edge, centre point) {
	const lineHeight = edgeFont * 1.2

	lines := edge.Lines()
	baseline := centre.y - lineHeight*float64(len(lines)-1)/2 + edgeFont*0.36

	for i, line := range lines {
		d.text(point{centre.x, baseline + float64(i)*lineHeight}, line, edgeFont, edge.Kind.Style().Colour,
			`text-anchor="middle" aria-hidden="true" paint-order="stroke" stroke="#ffffff" stroke-width="3"`)
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

	d.linef(`<path d="%s" fill="none" stroke="%s" %s/>`, path.String(), style.Colour, line)
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
		d.linef(`<circle cx="%s" cy="%s" r="%s" fill="%s"/>`,
			px((from.x+tip.x)/2), px((from.y+tip.y)/2), px(radius*0.9), style.Colour)
	case render.Cross:
		arm := 4.5
		middle := length / 2
		d.linef(`<path d="M%sL%sM%sL%s" fill="none" stroke="%s" stroke-width="2"/>`,
			at(middle-arm, -arm), at(middle+arm, arm), at(middle-arm, arm), at(middle+arm, -arm), style.Colour)
	default:
		d.linef(`<path d="M%sL%sL%sz" fill="%s"/>`, at(0, -4.5), at(length, 0), at(0, 4.5), style.Colour)
	}
}

func (d *drawing) text(at point, text string, size int, colour, more string) {
	if more != "" {
		more = " " + more
	}

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
