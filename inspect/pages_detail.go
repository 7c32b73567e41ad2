package inspect

import (
	"net/http"
	"slices"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// passesShown is how many passes one page shows, and resourcesShown how many resources.
const (
	passesShown    = 200
	resourcesShown = 1000
)

// pageOfController shows one controller.
func (h *Handler) pageOfController(_ *http.Request, p params) (*view, error) {
	name := p["name"]

	d, err := h.answers.Controller(name)
	if err != nil {
		return nil, err
	}

	d.LastPasses = d.LastPasses[:min(len(d.LastPasses), passesShown)]

	return &view{Name: "controller", Title: name, Body: d, Watch: &name}, nil
}

// passBody is one pass and its neighbours.
type passBody struct {
	Pass           *api.Pass
	Earlier, Later *api.PassRef
}

// pageOfPass shows one pass.
func (h *Handler) pageOfPass(_ *http.Request, p params) (*view, error) {
	ref, err := p.pass()
	if err != nil {
		return nil, err
	}

	body, err := h.passBody(ref)
	if err != nil {
		return nil, err
	}

	return &view{Name: "pass", Title: ref.String(), Body: body, Watch: &ref.Controller}, nil
}

func (h *Handler) passBody(ref api.PassRef) (*passBody, error) {
	pass, err := h.answers.Pass(ref)
	if err != nil {
		return nil, err
	}

	body := &passBody{Pass: pass}

	all, err := h.answers.Passes(ref.Controller, 0)
	if err != nil {
		return nil, err
	}

	for i := range all.Passes {
		switch other := all.Passes[i].PassRef; other.Number {
		case ref.Number - 1:
			body.Earlier = &other
		case ref.Number + 1:
			body.Later = &other
		}
	}

	return body, nil
}

// passesBody is the last passes of one controller, or of all.
type passesBody struct {
	Controller string
	Passes     *api.Passes
}

// pageOfPasses shows what was done last.
func (h *Handler) pageOfPasses(_ *http.Request, p params) (*view, error) {
	v := &view{Name: "passes", Title: "Last passes", Whole: true}
	name := ""

	if p.has("controller") {
		name = p["controller"]
		v.Title, v.Watch, v.Whole = "Last passes of "+name, &name, false
	}

	passes, err := h.answers.Passes(name, passesShown)
	if err != nil {
		return nil, err
	}

	v.Body = passesBody{name, passes}

	return v, nil
}

// pageOfResource shows one resource.
func (h *Handler) pageOfResource(r *http.Request, p params) (*view, error) {
	ref := p.resource()

	d, err := h.answers.Resource(r.Context(), ref)
	if err != nil {
		return nil, err
	}

	v := &view{Name: "resource", Title: ref.String(), Body: d}

	if !d.Exists && len(d.History) == 0 {
		v.Status = http.StatusNotFound
	}

	return v, nil
}

// kindBody is the resources of a kind, or the namespaces in which there may be some of a type.
type kindBody struct {
	Type       string
	List       *api.ResourceList
	Namespaces []string
	// Writers and Dependents are the controllers that write and read them.
	Writers, Dependents []string
}

// pageOfKind shows the resources of a kind.
func (h *Handler) pageOfKind(r *http.Request, p params) (*view, error) {
	namespace, typ := p["namespace"], p["type"]

	graph, err := h.cfg.Engine.GetDependencyGraph()
	if err != nil {
		return nil, err
	}

	body := &kindBody{Type: typ}
	all := !p.has("namespace")

	if !all {
		if body.List, err = h.answers.List(r.Context(), namespace, typ, resourcesShown); err != nil {
			return nil, err
		}
	}

	for _, edge := range graph.Edges {
		switch {
		case edge.ResourceType != typ:
		case edge.ResourceNamespace == "":
			body.Writers = append(body.Writers, edge.ControllerName)
		case all || edge.ResourceNamespace == namespace:
			body.Dependents = append(body.Dependents, edge.ControllerName)
			body.Namespaces = append(body.Namespaces, edge.ResourceNamespace)
		}
	}

	if all {
		body.Namespaces = append(body.Namespaces, h.namespacesWritten(typ)...)
	}

	for _, names := range []*[]string{&body.Writers, &body.Dependents, &body.Namespaces} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}

	return &view{Name: "kind", Title: typ, Body: body}, nil
}

// namespacesWritten are the namespaces in which passes are remembered to have written resources of a type.
func (h *Handler) namespacesWritten(typ string) (namespaces []string) {
	book := h.answers.Book()

	for _, name := range book.Controllers() {
		for _, pass := range book.Passes(name) {
			for _, w := range pass.Writes {
				if w.Resource.Type == typ {
					namespaces = append(namespaces, w.Resource.Namespace)
				}
			}
		}
	}

	return namespaces
}

// whyBody is why something is as it is.
type whyBody struct {
	*api.Why

	// Controller is the controller that is asked about, if OfController is set.
	Controller   string
	OfController bool
}

// pageOfWhy tells why a resource is as it is, why a pass was made, or why a controller runs.
func (h *Handler) pageOfWhy(r *http.Request, p params) (*view, error) {
	ofResource, err := p.ofResource()

	switch {
	case err != nil:
		return nil, err
	case ofResource:
		ref := p.resource()
		why, err := h.answers.WhyResource(r.Context(), ref)

		return &view{Name: "why", Title: "Why " + ref.String(), Body: &whyBody{Why: why}}, err
	case p.has("number"):
		ref, err := p.pass()
		if err != nil {
			return nil, err
		}

		why, err := h.answers.WhyPass(ref)

		return &view{Name: "why", Title: "Why " + ref.String(), Body: &whyBody{Why: why}}, err
	default:
		name := p["controller"]
		why, err := h.answers.WhyController(name)

		return &view{Name: "why", Title: "Why " + name, Body: &whyBody{why, name, true}}, err
	}
}

// pageOfBlocked tells what a resource or a controller waits for.
func (h *Handler) pageOfBlocked(r *http.Request, p params) (*view, error) {
	ofResource, err := p.ofResource()
	if err != nil {
		return nil, err
	}

	if ofResource {
		ref := p.resource()
		blocked, err := h.answers.BlockedResource(r.Context(), ref)

		return &view{Name: "blocked", Title: "What blocks " + ref.String(), Body: blocked}, err
	}

	name := p["controller"]
	blocked, err := h.answers.BlockedController(r.Context(), name)

	return &view{Name: "blocked", Title: "What blocks " + name, Body: blocked}, err
}

// pageOfFindings shows what is to be said of the declarations.
func (h *Handler) pageOfFindings(*http.Request, params) (*view, error) {
	findings, err := h.answers.Findings()

	return &view{Name: "findings", Title: "Findings", Body: findings}, err
}
