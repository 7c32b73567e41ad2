package inspect

import (
	"cmp"
	"encoding/json"

	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/inspect/api"
)

// key is a name for the script, as it gets it over the wire: a browser changes line breaks in attributes, and not what stands for
// them in JSON.
func key(name string) (string, error) {
	text, err := json.Marshal(name)

	return string(text), err
}

// glyph is a sign for a state, so that it is told by more than its colour.
func glyph(s api.State) string {
	switch s {
	case api.Stuck:
		return "✖"
	case api.BackingOff:
		return "↻"
	case api.Paused:
		return "‖"
	case api.Stopped:
		return "■"
	case api.Running:
		return "▶"
	case api.Registered:
		return "○"
	case api.Finished:
		return "✓"
	default:
		return "·"
	}
}

// sampleOfEdge is a kind of edges as the legend shows it.
type sampleOfEdge struct {
	Kind                   render.EdgeKind
	Sample, Label, Meaning string
}

// legend explains the edges of the picture.
func legend() []sampleOfEdge {
	lines := map[render.Line]string{render.Solid: "──", render.Dashed: "╌╌", render.Thick: "━━"}
	heads := map[render.Head]string{render.Circle: "●", render.Cross: "✕"}
	all := make([]sampleOfEdge, 0, len(render.EdgeKinds()))

	for _, kind := range render.EdgeKinds() {
		style := kind.Style()
		all = append(all, sampleOfEdge{kind, lines[style.Line] + cmp.Or(heads[style.Head], "▶"), style.Label, style.Meaning})
	}

	return all
}

// openLevels is how deep trees are unfolded when a page opens.
const openLevels = 5

// whyNode is a pass in a tree, and how deep it is.
type whyNode struct {
	*api.WhyPass
	Depth int
}

// Open tells whether the node is unfolded.
func (n whyNode) Open() bool { return n.Depth < openLevels }

// obstacleNode is an obstacle in a tree, and how deep it is.
type obstacleNode struct {
	*api.Obstacle
	Depth int
}

// Open tells whether the node is unfolded.
func (n obstacleNode) Open() bool { return n.Depth < openLevels }

// reasons says in words what the reasons of passes are that are no changes.
var reasons = map[string]string{
	"start or resync": "started, or told to look at everything",
	"retry":           "tried again, as it had failed",
	"timer":           "asked to be run again: its time had come",
	"asked for":       "asked for, without a change",
	"mapped":          "named by MapInput",
}

func reason(name string) string { return cmp.Or(reasons[name], name) }
