// Package web owns the pages of the control plane: whether it lives, whether the machine is ready and what is missing,
// the graph of the controllers in four formats, the counters of the process, and what package inspect shows of the engine.
//
// They are for the people at this machine: see package guard for who may ask. Others who can connect have to know a token.
//
// [Handler] starts nothing. A [Server] has the goroutines of one HTTP server, which have ended when Stop returns.
package web

import (
	"bytes"
	"context"
	"expvar"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect/guard"
)

// Source is where the pages get their content from. All functions are called from several goroutines.
type Source struct {
	// Graph writes the graph of the controllers in one of the formats mermaid, dot, svg and json.
	Graph func(ctx context.Context, format string) ([]byte, error)
	// Missing lists what keeps the machine from being ready; an empty list means that it is.
	Missing func(ctx context.Context) ([]string, error)
	// Notes lists what an operator should know although it keeps nothing from being ready.
	Notes func(ctx context.Context) ([]string, error)
	// Health tells whether the engine runs, and what is wrong with its watches and controllers.
	Health func() (running bool, problems []string)
	// Inspect shows the engine, below /inspect/.
	Inspect http.Handler
	// Apply takes resources, at /apply; nil for no such place.
	Apply http.Handler
	// Hosts are names, beside local ones and addresses, that requests may be for.
	Hosts []string
	// Token is what whoever asks has to know; nil for nothing.
	Token *guard.Token
	// Logger gets what cannot be told the client.
	Logger *zap.Logger
}

// pages are the pages that the first one links, in order.
var pages = []struct{ Path, Text string }{
	{"/inspect/", "what each controller does, why it has run, what it waits for: live"},
	{"/healthz", "whether the control plane lives, and which of its controllers are in trouble"},
	{"/readyz", "whether the machine is ready, what is missing, and why a newer document is not in force"},
	{"/graph.svg", "the graph of the controllers, as a picture"},
	{"/graph.mmd", "the same for Mermaid"},
	{"/graph.dot", "the same for Graphviz"},
	{"/graph.json", "the same as JSON"},
	{"/debug/vars", "counters of the engine and of the process"},
}

var index = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Appliance</title>
<h1>Appliance</h1>
<ul>
{{- range . }}
<li><a href="{{ .Path }}">{{ .Path }}</a>: {{ .Text }}</li>
{{- end }}
</ul>
</html>
`))

// graphs are the formats of the graph by path.
var graphs = map[string]struct{ format, contentType string }{
	"/graph.mmd":  {"mermaid", "text/plain; charset=utf-8"},
	"/graph.dot":  {"dot", "text/vnd.graphviz; charset=utf-8"},
	"/graph.svg":  {"svg", "image/svg+xml"},
	"/graph.json": {"json", "application/json"},
}

// Handler serves the pages, to those who may look.
func Handler(src Source) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", guard.New(guard.Config{Hosts: src.Hosts, Page: anyPage, Logger: src.Logger}, src.pages()))
	mux.Handle("/inspect/", http.StripPrefix("/inspect", src.Inspect)) // it has guards of its own

	if src.Apply != nil {
		mux.Handle("/apply", src.Apply) // so has this
	}

	if src.Token == nil {
		return mux
	}

	return guard.RequireToken(*src.Token, mux)
}

// anyPage tells that pages may be linked from anywhere.
func anyPage(*http.Request) bool { return true }

func (src Source) pages() http.Handler {
	mux := http.NewServeMux()

	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		var page bytes.Buffer

		if err := index.Execute(&page, pages); err != nil {
			src.fail(w, err)

			return
		}

		send(w, "text/html; charset=utf-8", page.Bytes())
	})

	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		running, problems := src.Health()
		if !running {
			report(w, http.StatusServiceUnavailable, []string{"the engine does not run"}, nil)

			return
		}

		// A controller in trouble is tried again, and would not be helped by a restart of the control plane.
		report(w, http.StatusOK, []string{"ok"}, problems)
	})

	mux.HandleFunc("/readyz", src.ready)
	mux.Handle("/debug/vars", expvar.Handler())

	for path, graph := range graphs {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			text, err := src.Graph(r.Context(), graph.format)
			if err != nil {
				src.fail(w, err)

				return
			}

			send(w, graph.contentType, text)
		})
	}

	return mux
}

func (src Source) ready(w http.ResponseWriter, r *http.Request) {
	missing, err := src.Missing(r.Context())
	if err != nil {
		src.fail(w, err)

		return
	}

	notes, err := src.Notes(r.Context())
	if err != nil {
		src.fail(w, err)

		return
	}

	if len(missing) == 0 {
		report(w, http.StatusOK, []string{"ready"}, notes)
	} else {
		report(w, http.StatusServiceUnavailable, missing, notes)
	}
}

// report sends lines of text, and notes behind them.
func report(w http.ResponseWriter, status int, lines, notes []string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)

	for _, line := range lines {
		fmt.Fprintln(w, line)
	}

	for _, note := range notes {
		fmt.Fprintln(w, "note: "+note)
	}
}

func (src Source) fail(w http.ResponseWriter, err error) {
	src.Logger.Warn("a page cannot be shown", zap.Error(err))

	http.Error(w, err.Error(), http.StatusInternalServerError)
}

func send(w http.ResponseWriter, contentType string, text []byte) {
	w.Header().Set("Content-Type", contentType)

	_, _ = w.Write(text) // a client that has gone is no concern of the page
}

// limits keep a slow or silent client from holding the server. Streams of the engine lift those that are for answers.
const (
	headerLimit = 5 * time.Second
	readLimit   = 10 * time.Second
	writeLimit  = 30 * time.Second
	idleLimit   = time.Minute
	stopLimit   = time.Second
)
