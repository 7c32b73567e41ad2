package svg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/switchyard-run/switchyard/dependency/render"
)

// ErrTooLarge is the error for a graph with more than 1000 nodes or 1600 edges, which could not be laid out in reasonable
// time, nor looked at. DOT and JSON have no such limit.
var ErrTooLarge = errors.New("svg: the graph is too large for a picture")

// Limits on what is drawn how, so that a layout, which nothing can interrupt, takes seconds at the very worst: dot's
// time grows with a high power of the edges that span several ranks, and labels and curves multiply them.
const (
	maxNodes   = 1000
	maxEdges   = 1600
	maxCurved  = 400
	maxLabeled = 120
)

// effort is how much care a layout takes.
type effort struct {
	labels bool
	// curved tells that edges go round nodes.
	curved bool
	// directions are tried in order, as Graphviz spells them.
	directions []string
	// attributes are further settings of the graph for Graphviz.
	attributes string
}

func effortFor(g *render.Graph) effort {
	switch edges := len(g.Edges); {
	case edges <= maxLabeled:
		return effort{labels: true, curved: true, directions: []string{"LR", "TB"}}
	case edges <= maxCurved:
		return effort{curved: true, directions: []string{"LR", "TB"}, attributes: "nslimit=2;"}
	default:
		return effort{directions: []string{"LR"}, attributes: "splines=line;nslimit=0.1;nslimit1=1;mclimit=0.05;"}
	}
}

// point is a place in the picture, in pixels, with y growing downwards.
type point struct{ x, y float64 }

// box is a node that has been placed.
type box struct {
	centre        point
	width, height float64
}

// route is an edge that has been placed.
type route struct {
	// curve has a first point and three further points for each cubic Bézier segment.
	curve []point
	// tip is where the head ends; the curve ends where it begins.
	tip point
	// label is the centre of the text, where there are labels.
	label point
}

// layout has a box for each node and a route for each edge of a graph, in the same order.
type layout struct {
	width, height float64
	boxes         []box
	routes        []route

	// labels tells whether there is room for the labels of edges.
	labels bool
	// curved tells that edges go round nodes.
	curved bool
}

// place lays the graph out, with data flowing from left to right, which suits names, or from top to bottom where that
// would be too broad a picture.
func place(ctx context.Context, g *render.Graph) (*layout, error) {
	const tooBroad = 3

	if len(g.Nodes) > maxNodes || len(g.Edges) > maxEdges {
		return nil, fmt.Errorf("%w: %d nodes and %d edges, the limits are %d and %d",
			ErrTooLarge, len(g.Nodes), len(g.Edges), maxNodes, maxEdges)
	}

	if len(g.Nodes) == 0 {
		return &layout{}, ctx.Err()
	}

	var best *layout

	care := effortFor(g)

	for _, direction := range care.directions {
		l, err := layOut(ctx, g, care, direction)
		if err != nil {
			return nil, fmt.Errorf("svg: laying out %d nodes and %d edges: %w", len(g.Nodes), len(g.Edges), err)
		}

		if best == nil || l.broadness() < best.broadness() {
			best = l
		}

		if best.broadness() <= tooBroad {
			break
		}
	}

	return best, nil
}

// broadness is how many times broader than high the picture is.
func (l *layout) broadness() float64 {
	return l.width / l.height
}

// layOut lays the graph out in one direction.
func layOut(ctx context.Context, g *render.Graph, care effort, direction string) (*layout, error) {
	l := &layout{
		labels: care.labels, curved: care.curved,
		boxes: make([]box, len(g.Nodes)), routes: make([]route, len(g.Edges)),
	}

	for i, node := range g.Nodes {
		l.boxes[i].width, l.boxes[i].height = nodeSize(node)
	}

	text, err := graphvizModule.layout(ctx, l.question(g, care, direction))
	if err != nil {
		return nil, err
	}

	if err := l.read(text); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}

	return l, ctx.Err()
}

// question puts the graph as Graphviz needs to know it: nodes n0, n1 and so on with their sizes, edges with their
// positions as ids. The text of an edge is replaced by as many letters of a typeface of fixed width as take its space.
func (l *layout) question(g *render.Graph, care effort, direction string) []byte {
	const (
		pixelsPerInch = 72
		letterWidth   = 0.6 * edgeFont
	)

	var b bytes.Buffer

	fmt.Fprintf(&b, "digraph{rankdir=%s;nodesep=0.25;ranksep=0.4;%s\n", direction, care.attributes)
	b.WriteString("node[shape=box,fixedsize=true,label=\"\"];\n")
	fmt.Fprintf(&b, "edge[fontname=Courier,fontsize=%d];\n", edgeFont)

	numbers := make(map[string]int, len(g.Nodes))

	for i, node := range g.Nodes {
		numbers[node.ID] = i
		fmt.Fprintf(&b, "n%d[width=%.3f,height=%.3f];\n", i,
			l.boxes[i].width/pixelsPerInch, l.boxes[i].height/pixelsPerInch)
	}

	for i, edge := range g.Edges {
		var lines []string
		if care.labels {
			lines = edge.Lines()
		}

		space := make([]string, len(lines))
		for j, line := range lines {
			space[j] = strings.Repeat("x", int(math.Ceil(textWidth(line, edgeFont)/letterWidth)))
		}

		fmt.Fprintf(&b, "n%d->n%d[id=%d,label=\"%s\"];\n",
			numbers[edge.From], numbers[edge.To], i, strings.Join(space, `\n`))
	}

	b.WriteString("}\n")

	return b.Bytes()
}

// read takes the places out of an answer of Graphviz, whose y grows upwards.
func (l *layout) read(text []byte) error {
	var answer struct {
		BB      string `json:"bb"`
		Objects []struct {
			Name string `json:"name"`
			Pos  string `json:"pos"`
		} `json:"objects"`
		Edges []struct {
			ID  string `json:"id"`
			Pos string `json:"pos"`
			LP  string `json:"lp"`
		} `json:"edges"`
	}

	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}

	bounds, err := numbers(answer.BB, 4)
	if err != nil {
		return fmt.Errorf("bounds: %w", err)
	}

	l.width, l.height = bounds[2]-bounds[0], bounds[3]-bounds[1]

	at := func(text string) (point, error) {
		xy, err := numbers(text, 2)
		if err != nil {
			return point{}, err
		}

		return point{xy[0] - bounds[0], bounds[3] - xy[1]}, nil
	}

	if len(answer.Objects) != len(l.boxes) || len(answer.Edges) != len(l.routes) {
		return fmt.Errorf("%d nodes and %d edges came back", len(answer.Objects), len(answer.Edges))
	}

	for _, object := range answer.Objects {
		i, err := position(strings.TrimPrefix(object.Name, "n"), len(l.boxes))
		if err != nil {
			return err
		}

		if l.boxes[i].centre, err = at(object.Pos); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
	}

	for _, edge := range answer.Edges {
		i, err := position(edge.ID, len(l.routes))
		if err != nil {
			return err
		}

		if err := l.routes[i].read(edge.Pos, at); err != nil {
			return fmt.Errorf("edge %d: %w", i, err)
		}

		if !l.labels {
			continue
		}

		if l.routes[i].label, err = at(edge.LP); err != nil {
			return fmt.Errorf("label of edge %d: %w", i, err)
		}
	}

	return nil
}

// read takes one curve with a tip at its end, "e,x,y x,y x,y x,y x,y" and further groups of three.
func (r *route) read(text string, at func(string) (point, error)) error {
	fields := strings.Fields(text)
	if len(fields) < 5 || len(fields)%3 != 2 || !strings.HasPrefix(fields[0], "e,") {
		return fmt.Errorf("not one curve with a tip: %.80q", text)
	}

	tip, err := at(strings.TrimPrefix(fields[0], "e,"))
	if err != nil {
		return err
	}

	r.tip = tip

	for _, field := range fields[1:] {
		p, err := at(field)
		if err != nil {
			return err
		}

		r.curve = append(r.curve, p)
	}

	return nil
}

func position(text string, n int) (int, error) {
	i, err := strconv.Atoi(text)
	if err == nil && (i < 0 || i >= n) {
		err = fmt.Errorf("position %d of %d", i, n)
	}

	return i, err
}

func numbers(text string, n int) ([]float64, error) {
	fields := strings.Split(text, ",")
	if len(fields) != n {
		return nil, fmt.Errorf("not %d numbers: %.80q", n, text)
	}

	values := make([]float64, n)

	for i, field := range fields {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, err
		}

		values[i] = v
	}

	return values, nil
}
