package inspect

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/dependency/render"
)

// graphTypes are the media types of the graph by format.
var graphTypes = map[string]string{
	"json":    "application/json",
	"mermaid": "text/plain; charset=utf-8",
	"dot":     "text/vnd.graphviz; charset=utf-8",
	"svg":     "image/svg+xml",
}

// graph answers with the declarations of all controllers, as a document of another kind.
func (h *Handler) graph(w http.ResponseWriter, r *http.Request) {
	text, format, err := h.drawn(r)
	if err != nil {
		sendProblem(w, r, h.problem(r, err))

		return
	}

	w.Header().Set("Content-Type", graphTypes[format])

	_, _ = w.Write(text) // a client that has gone is no concern of the answer
}

func (h *Handler) drawn(r *http.Request) (text []byte, format string, err error) {
	p, err := paramsOf(r, nil, []string{"format"})
	if err != nil {
		return nil, "", err
	}

	format = "json"

	if p.has("format") {
		format = p["format"]
	}

	if _, known := graphTypes[format]; !known {
		return nil, "", &parameterError{"format", fmt.Sprintf("is %q", format), "use json, mermaid, dot or svg"}
	}

	graph, err := h.cfg.Engine.GetDependencyGraph()
	if err != nil {
		return nil, "", err
	}

	options := []render.Option{render.WithTitle(h.cfg.Title), render.WithFindings(analysis.Analyze(graph))}

	var out bytes.Buffer

	if format == "svg" {
		err = h.draw(r.Context(), &out, graph, options)
	} else {
		err = render.Write(&out, render.Format(format), graph, options...)
	}

	return out.Bytes(), format, err
}
