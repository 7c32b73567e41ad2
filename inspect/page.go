package inspect

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
)

// page is how a page is made. The error becomes a page as well.
type page struct {
	// needs are the parameters that it has, and takes those that it may have.
	needs, takes []string
	answer       func(r *http.Request, p params) (*view, error)
}

// view is what a page shows.
type view struct {
	// Name is the template, and Title what is on top of the window.
	Name, Title string
	// Body is what the template shows.
	Body any
	// Status is the status of HTTP; 0 is that all is well.
	Status int
	// Watch is the controller whose news concern the page, or nil. Whole is that all do.
	Watch *string
	Whole bool
	// Later tells that something of the page is still to come.
	Later bool

	// Alone tells that it is a part of a page, for the script.
	Alone bool

	// Host names the host, Now is when the page was made, and Style and Script are what it refers to.
	Host                string
	Now                 time.Time
	Style, Script, Icon string
}

// faultBody is a page that says why there is no answer.
type faultBody struct {
	Text, Do string
	// Similar are controllers that may have been meant.
	Similar []string
}

//go:embed pages/*.html
var pageFiles embed.FS

// pages are the templates of all pages, by name.
var pages = parsePages()

func parsePages() map[string]*template.Template {
	common := template.Must(template.New("").Funcs(template.FuncMap{
		"shown":           func(name string) string { return render.Printable(name, 120) },
		"inFull":          func(text string) string { return render.Printable(text, len(text)*8+8) },
		"lines":           printableLines,
		"key":             key,
		"controllerLink":  controllerLink,
		"passLink":        passLink,
		"resourceLink":    resourceLink,
		"kindLink":        kindLink,
		"typeLink":        typeLink,
		"link":            link,
		"refQuery":        refQuery,
		"passQuery":       passQuery,
		"controllerQuery": func(name string) url.Values { return url.Values{"controller": {name}} },
		"glyph":           glyph,
		"short":           func(s api.Seconds) string { return s.String() },
		"node":            func(w *api.WhyPass, depth int) whyNode { return whyNode{w, depth} },
		"hurdle":          func(o *api.Obstacle, depth int) obstacleNode { return obstacleNode{o, depth} },
		"reason":          reason,
		"inc":             func(n int) int { return n + 1 },
		"legend":          legend,
		"states":          api.States,
	}).ParseFS(pageFiles, "pages/layout.html", "pages/parts.html"))

	all := map[string]*template.Template{}

	for _, name := range []string{"engine", "controller", "pass", "passes", "resource", "kind", "why", "blocked", "findings", "fault", "picture", "group"} {
		all[name] = template.Must(template.Must(common.Clone()).ParseFS(pageFiles, "pages/"+name+".html"))
	}

	return all
}

// show makes a handler of a page.
func (h *Handler) show(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := viewOf(r, p)
		if err != nil {
			v = h.viewOfError(r, err)
		}

		h.write(w, v)
	})
}

func viewOf(r *http.Request, p page) (*view, error) {
	q, err := paramsOf(r, p.needs, p.takes)
	if err != nil {
		return nil, err
	}

	return p.answer(r, q)
}

// viewOfError is the page that says why there is no other.
func (h *Handler) viewOfError(r *http.Request, err error) *view {
	problem := h.problem(r, err)
	body := faultBody{Text: problem.Error, Do: problem.Do}

	var unknown *answer.NotFoundError
	if errors.As(err, &unknown) && unknown.What == "controller" {
		body.Similar = unknown.Similar
	}

	return &view{Name: "fault", Title: "No answer", Status: problem.Status, Body: body}
}

// write sends a page. It is complete before the first of it is sent.
func (h *Handler) write(w http.ResponseWriter, v *view) {
	v.Host, v.Now, v.Style, v.Script, v.Icon = h.cfg.Title, h.cfg.Clock.Now(), styleSheet.path, script.path, icon.path

	root := "layout"
	if v.Alone {
		root = "fragment"
	}

	var out bytes.Buffer

	if err := pages[v.Name].ExecuteTemplate(&out, root, v); err != nil {
		h.cfg.Logger.Error("a page can not be made", zap.String("page", v.Name), zap.Error(err))
		http.Error(w, "the page can not be made; the log says why", http.StatusInternalServerError)

		return
	}

	w.Header().Set("Content-Type", "text/html; charset=utf-8")

	if v.Status != 0 {
		w.WriteHeader(v.Status)
	}

	_, _ = w.Write(out.Bytes()) // a client that has gone is no concern of the page
}

// pageOfNothing says that there is no such page.
func pageOfNothing(*http.Request, params) (*view, error) {
	return nil, &problemError{problemOf(http.StatusNotFound, "there is no such page", "begin with the first one")}
}

// printableLines is a text of several lines, each of which does nothing but to be seen.
func printableLines(text string) string {
	lines := slices.Collect(strings.Lines(text))
	for i, line := range lines {
		body := strings.TrimSuffix(line, "\n")
		lines[i] = api.Printable(strings.ReplaceAll(body, "\t", "    ")) + line[len(body):]
	}

	return strings.Join(lines, "")
}
