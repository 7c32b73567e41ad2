package inspect

import (
	"net/http"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// question is one that the API answers with a document.
type question struct {
	// path follows the root of the API, and about says what is answered.
	path, about string
	// needs are the parameters that it has, and takes those that it may have.
	needs, takes []string
	answer       func(h *Handler, r *http.Request, p params) (any, error)
}

// Bounds of lists, and what is sent if nobody asks for more or less.
const (
	mostPasses, somePasses       = 10_000, 100
	mostResources, someResources = 10_000, 1_000
)

// questions are all of them.
var questions = []question{
	{
		path: "overview", about: "what the engine does at the moment",
		answer: func(h *Handler, _ *http.Request, _ params) (any, error) { return h.answers.Overview() },
	},
	{
		path: "controllers", about: "all controllers in short",
		answer: func(h *Handler, _ *http.Request, _ params) (any, error) {
			return &api.Controllers{Controllers: h.answers.Controllers()}, nil
		},
	},
	{
		path: "controller", about: "all there is to say about a controller", needs: []string{"name"},
		answer: func(h *Handler, _ *http.Request, p params) (any, error) { return h.answers.Controller(p["name"]) },
	},
	{
		path: "passes", about: "the last passes of a controller, or of all, the latest first", takes: []string{"controller", "limit"},
		answer: (*Handler).passes,
	},
	{path: "pass", about: "one pass of a controller", needs: []string{"controller", "number"}, answer: (*Handler).pass},
	{
		path: "resource", about: "all there is to say about a resource, whether or not it is there", needs: []string{"namespace", "type", "id"},
		answer: func(h *Handler, r *http.Request, p params) (any, error) {
			return h.answers.Resource(r.Context(), p.resource())
		},
	},
	{
		path: "resources", about: "the resources of a kind", needs: []string{"namespace", "type"}, takes: []string{"limit"},
		answer: (*Handler).resources,
	},
	{
		path: "why", about: "why a resource is as it is, or why a controller, or a pass of it, has run",
		takes: []string{"namespace", "type", "id", "controller", "number"}, answer: (*Handler).why,
	},
	{
		path: "blocked", about: "what a resource, or a controller, waits for", takes: []string{"namespace", "type", "id", "controller"},
		answer: (*Handler).blocked,
	},
	{
		path: "findings", about: "what is to be said of the declarations alone",
		answer: func(h *Handler, _ *http.Request, _ params) (any, error) {
			findings, err := h.answers.Findings()

			return &api.Findings{Findings: findings}, err
		},
	},
}

// routeAPI puts the API where it belongs.
func (h *Handler) routeAPI(mux *http.ServeMux) {
	for path, serve := range h.routes() {
		mux.HandleFunc(apiRoot+path, serve)
	}

	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		sendProblem(w, r, problemOf(http.StatusNotFound, "there is nothing at this address", "openapi.json has all addresses"))
	})
}

// routes are all that there is below the root of the API.
func (h *Handler) routes() map[string]http.HandlerFunc {
	routes := map[string]http.HandlerFunc{"graph": h.graph, "live": h.live, "follow": h.follow, "openapi.json": openAPI}

	for i := range questions {
		q := &questions[i]

		routes[q.path] = func(w http.ResponseWriter, r *http.Request) { h.ask(w, r, q) }
	}

	return routes
}

// ask answers a question.
func (h *Handler) ask(w http.ResponseWriter, r *http.Request, q *question) {
	p, err := paramsOf(r, q.needs, q.takes)
	if err != nil {
		sendProblem(w, r, h.problem(r, err))

		return
	}

	document, err := q.answer(h, r, p)
	if err != nil {
		sendProblem(w, r, h.problem(r, err))

		return
	}

	send(w, http.StatusOK, document)
}

func (h *Handler) passes(_ *http.Request, p params) (any, error) {
	limit, err := p.limit(mostPasses, somePasses)
	if err != nil {
		return nil, err
	}

	return h.answers.Passes(p["controller"], limit)
}

func (h *Handler) pass(_ *http.Request, p params) (any, error) {
	ref, err := p.pass()
	if err != nil {
		return nil, err
	}

	return h.answers.Pass(ref)
}

func (h *Handler) resources(r *http.Request, p params) (any, error) {
	limit, err := p.limit(mostResources, someResources)
	if err != nil {
		return nil, err
	}

	return h.answers.List(r.Context(), p["namespace"], p["type"], limit)
}

func (h *Handler) why(r *http.Request, p params) (any, error) {
	resource, err := p.ofResource()

	switch {
	case err != nil:
		return nil, err
	case resource:
		return h.answers.WhyResource(r.Context(), p.resource())
	case !p.has("number"):
		return h.answers.WhyController(p["controller"])
	}

	pass, err := p.pass()
	if err != nil {
		return nil, err
	}

	return h.answers.WhyPass(pass)
}

func (h *Handler) blocked(r *http.Request, p params) (any, error) {
	resource, err := p.ofResource()

	switch {
	case err != nil:
		return nil, err
	case resource:
		return h.answers.BlockedResource(r.Context(), p.resource())
	default:
		return h.answers.BlockedController(r.Context(), p["controller"])
	}
}
