package inspect

import (
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/switchyard-run/switchyard/dependency/grouped"
	"github.com/switchyard-run/switchyard/dependency/picture"
	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
)

// graphPicture is the graph as the first page has it.
type graphPicture struct {
	// SVG is the picture, or one of the graph as it was before, or empty.
	SVG template.HTML
	// Ready tells whether there is no other one to come, and Fault why there is none.
	Ready bool
	Fault string
	// Groups is how many groups of controllers it shows, or 0 if it shows each.
	Groups int

	grouping *grouped.Grouping
}

// group is the name of the node that stands for a controller, or nil where each stands for itself.
func (p *graphPicture) group(name string) *string {
	if !p.grouping.Grouped() {
		return nil
	}

	of := p.grouping.Of(name)

	return &of
}

// grouping is the graph as a picture shows it.
func (h *Handler) grouping() (*grouped.Grouping, error) {
	return h.pictures.Group(h.cfg.Engine.GraphRevision(), h.cfg.Engine.GetDependencyGraph)
}

// picture returns the picture of the graph, with the controllers in the colours of their states.
func (h *Handler) picture(controllers []api.Controller) (graphPicture, error) {
	grouping, err := h.grouping()
	if err != nil {
		return graphPicture{}, err
	}

	shown := h.pictures.Get(h.cfg.Engine.GraphRevision(), h.cfg.Engine.GetDependencyGraph)
	p := graphPicture{Ready: shown.Ready || shown.Err != nil, Groups: len(grouping.Controllers), grouping: grouping}

	switch {
	case shown.Err != nil:
		p.Fault = shown.Err.Error()
	case shown.Grouping != nil:
		p.SVG = template.HTML(paint(&shown, controllers)) // names in it are escaped
	}

	return p, nil
}

// pictureOptions make a picture that the page can work with.
func pictureOptions(grouping *grouped.Grouping) []render.Option {
	return []render.Option{render.WithLinks(nodeLinks(grouping)), render.WithoutFrame(), render.WithTitle("Controllers and resources")}
}

// paint gives the controllers of a picture the classes of their states, and a group the one of its worst member. It looks for the
// ids of nodes, which are not made of names.
func paint(p *picture.Picture, controllers []api.Controller) string {
	const class = `class="node controller`

	worst := worstOf(p.Grouping, controllers)

	var pairs []string

	for _, node := range render.Build(p.Grouping.Graph).Nodes {
		if state, known := worst[node.Name]; known && node.Kind == render.Controller {
			id := `" data-node="` + node.ID + `"`
			pairs = append(pairs, class+id, class+" "+string(state)+id)
		}
	}

	return strings.NewReplacer(pairs...).Replace(string(p.SVG))
}

// worstOf is the most alarming state of those for which a node stands.
func worstOf(grouping *grouped.Grouping, controllers []api.Controller) map[string]api.State {
	worst := map[string]api.State{}

	for i := range controllers {
		node, state := strings.ToValidUTF8(grouping.Of(controllers[i].Name), "\uFFFD"), controllers[i].State

		if before, known := worst[node]; !known || slices.Index(api.States(), state) < slices.Index(api.States(), before) {
			worst[node] = state
		}
	}

	return worst
}

// pageOfPicture is the picture alone, for the script of the first page.
func (h *Handler) pageOfPicture(*http.Request, params) (*view, error) {
	pic, err := h.picture(h.answers.Controllers())

	return &view{Name: "picture", Title: "Picture", Body: pic, Alone: true}, err
}

// groupBody is a group of the picture.
type groupBody struct {
	Name string
	// Controllers are its members, or Types.
	Controllers []api.Controller
	Types       []string
}

// pageOfGroup shows for whom a node of the picture stands.
func (h *Handler) pageOfGroup(_ *http.Request, p params) (*view, error) {
	grouping, err := h.grouping()
	if err != nil {
		return nil, err
	}

	name := p["name"]
	called := func(m grouped.Members) bool { return m.Name == name }
	body := &groupBody{Name: name}

	if i := slices.IndexFunc(grouping.Types, called); i >= 0 {
		body.Types = grouping.Types[i].Names
	}

	if i := slices.IndexFunc(grouping.Controllers, called); i >= 0 {
		body.Controllers = slices.DeleteFunc(h.answers.Controllers(), func(c api.Controller) bool {
			return !slices.Contains(grouping.Controllers[i].Names, c.Name)
		})
	}

	if len(body.Types)+len(body.Controllers) == 0 {
		return nil, &answer.NotFoundError{What: "group", Name: name, Do: "see the picture for those that there are; they change with the declarations"}
	}

	return &view{Name: "group", Title: "Group " + name, Body: body}, nil
}
