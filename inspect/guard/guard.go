package guard

import (
	"net/http"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// Config is what the checks go by. The zero value is one for pages on the loopback interface that are only read.
type Config struct {
	// Methods are those that exist. The default is GET and HEAD.
	Methods []string
	// Hosts are names, beside local ones and addresses, that requests may be for.
	Hosts []string
	// Page tells which requests are for pages that others may link to. The default is none.
	Page func(*http.Request) bool
	// Refuse answers a request that is refused. The default is a line of text. What it writes has the status of the refusal.
	Refuse func(http.ResponseWriter, *http.Request, Refusal)
	// Logger gets what can not be told a client. The default is a silent one.
	Logger *zap.Logger
}

// Refusal is why a request gets no answer.
type Refusal struct {
	// Status is the status of HTTP, Reason what is the matter, and Do what to do about it, or empty.
	Status     int
	Reason, Do string
}

// String is the refusal in a line.
func (r Refusal) String() string {
	if r.Do == "" {
		return r.Reason
	}

	return r.Reason + "; " + r.Do
}

type guard struct {
	cfg  Config
	next http.Handler
}

// New returns a handler that lets those requests through to the next one that may be answered.
func New(cfg Config, next http.Handler) http.Handler {
	if len(cfg.Methods) == 0 {
		cfg.Methods = []string{http.MethodGet, http.MethodHead}
	}

	if cfg.Page == nil {
		cfg.Page = func(*http.Request) bool { return false }
	}

	if cfg.Refuse == nil {
		cfg.Refuse = refuse
	}

	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}

	return &guard{cfg, next}
}

// ServeHTTP implements [http.Handler].
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	harden(w.Header())

	if refusal, refused := g.check(r); refused {
		if refusal.Status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", strings.Join(g.cfg.Methods, ", "))
		}

		g.cfg.Refuse(w, r, refusal)

		return
	}

	g.contain(w, r)
}

func (g *guard) check(r *http.Request) (refusal Refusal, refused bool) {
	switch {
	case !g.knows(r.Host):
		return Refusal{
			http.StatusMisdirectedRequest, "this server does not answer for the name that was asked for",
			"ask for localhost or for an address, or have the host allow the name",
		}, true
	case !slices.Contains(g.cfg.Methods, r.Method):
		return Refusal{http.StatusMethodNotAllowed, "this method does not exist here", "use " + strings.Join(g.cfg.Methods, " or ")}, true
	case !g.own(r):
		return Refusal{
			http.StatusForbidden, "pages of other origins may not ask",
			"open the address in a window of its own, or ask without a browser",
		}, true
	default:
		return Refusal{}, false
	}
}

// refuse answers with a line of text.
func refuse(w http.ResponseWriter, _ *http.Request, refusal Refusal) {
	http.Error(w, refusal.String(), refusal.Status)
}
