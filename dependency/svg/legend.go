package svg

import "github.com/switchyard-run/switchyard/dependency/render"

// legend explains shapes and lines, in columns below the graph.
type legend struct {
	edges   []render.EdgeKind
	columns int
	column  float64
}

// legendNodes are explained first, each with its text.
var legendNodes = []struct {
	kind render.NodeKind
	text string
}{
	{render.Controller, "controller"},
	{render.Resource, "resources of one type and namespace"},
}

func newLegend(g *render.Graph, width float64) legend {
	l := legend{edges: g.Legend()}
	if len(l.edges) == 0 {
		return l
	}

	for i := range l.entries() {
		l.column = max(l.column, sample+textWidth(l.text(i), legendFont)+24)
	}

	l.columns = max(1, int(width/l.column))

	return l
}

func (l *legend) entries() int {
	return len(legendNodes) + len(l.edges)
}

func (l *legend) rows() int {
	if l.columns == 0 {
		return 0
	}

	return (l.entries() + l.columns - 1) / l.columns
}

// height is that of the legend and the gap above it, in pixels; an empty one has none.
func (l *legend) height() float64 {
	if l.rows() == 0 {
		return 0
	}

	return legendGap + legendRow*float64(l.rows()+1)
}

func (l *legend) text(i int) string {
	if i < len(legendNodes) {
		return legendNodes[i].text
	}

	style := l.edges[i-len(legendNodes)].Style()

	return style.Label + ": " + style.Meaning
}

// draw writes the legend, column after column.
func (l *legend) draw(d *drawing) {
	if l.rows() == 0 {
		return
	}

	d.text(point{0, 0}, "Legend", legendFont, "#1b1b1b", ` font-weight="600"`+d.class(classHeading))

	for i := range l.entries() {
		left := l.column * float64(i/l.rows())
		middle := legendRow * (float64(i%l.rows()) + 0.75)

		l.sample(d, i, left, middle)
		d.text(point{left + sample, middle + legendFont*0.36}, l.text(i), legendFont, "#1b1b1b", d.class(classText))
	}
}

func (l *legend) sample(d *drawing, i int, left, middle float64) {
	const width = sample - 12

	if i < len(legendNodes) {
		kind := legendNodes[i].kind
		d.openSample(d.class("sample", classOf(kind)))
		d.shape(kind, box{centre: point{left + width/2, middle}, width: width, height: legendRow - 6})
		d.closeGroup()

		return
	}

	kind := l.edges[i-len(legendNodes)]
	begin, end, tip := point{left, middle}, point{left + width - 10, middle}, point{left + width, middle}

	d.openSample(d.belongs(kind, "sample"))
	d.edge(kind.Style(), route{curve: []point{begin, begin, end, end}, tip: tip})
	d.closeGroup()
}
