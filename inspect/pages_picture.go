package inspect

import (
	"bytes"
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/inspect/api"
)

// picture is the graph as the first page has it.
type picture struct {
	// SVG is the picture, or one of the graph as it was before, or empty.
	SVG template.HTML
	// Ready tells whether it is the one of the graph as it is, and Fault why there will be none.
	Ready bool
	Fault string
	// Groups is how many groups of controllers it shows, or 0 if it shows each.
	Groups int

	groups map[string]string
}

// group is the group that a controller is in.
func (p *picture) group(name string) string { return p.groups[name] }

// picture returns the picture of the graph, with the controllers in the colours of their states.
func (h *Handler) picture(ctx context.Context, controllers []api.Controller) (picture, error) {
	graph, err := h.cfg.Engine.GetDependencyGraph()
	if err != nil {
		return picture{}, err
	}

	var out bytes.Buffer
	if err := h.draw(ctx, &out, graph, pictureOptions(graph)); err != nil {
		return picture{Fault: err.Error()}, nil
	}

	return picture{SVG: template.HTML(paint(out.String(), graph, statesOf(controllers))), Ready: true}, nil
}

func pictureOptions(graph *controller.DependencyGraph) []render.Option {
	return []render.Option{render.WithLinks(nodeLinks(graph)), render.WithoutFrame(), render.WithTitle("Controllers and resources")}
}

// pageOfPicture is the picture alone, for the script of the first page.
func (h *Handler) pageOfPicture(r *http.Request, _ params) (*view, error) {
	pic, err := h.picture(r.Context(), h.answers.Controllers())

	return &view{Name: "picture", Title: "Picture", Body: pic, Alone: true}, err
}

func statesOf(controllers []api.Controller) map[string]api.State {
	states := make(map[string]api.State, len(controllers))
	for i := range controllers {
		states[controllers[i].Name] = controllers[i].State
	}

	return states
}

// paint gives the controllers of a picture the classes of their states. It looks for the ids of nodes, which are not made of names.
func paint(picture string, graph *controller.DependencyGraph, states map[string]api.State) string {
	const class = `class="node controller`

	var pairs []string

	for _, node := range render.Build(graph, pictureOptions(graph)...).Nodes {
		if state := states[node.Name]; node.Kind == render.Controller && slices.Contains(api.States(), state) {
			id := `" data-node="` + node.ID + `"`
			pairs = append(pairs, class+id, class+" "+string(state)+id)
		}
	}

	return strings.NewReplacer(pairs...).Replace(picture)
}
