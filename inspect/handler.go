package inspect

import (
	"net/http"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/dependency/picture"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/guard"
	"github.com/switchyard-run/switchyard/inspect/live"
)

// Config is what a handler is made of. Engine and State are needed.
type Config struct {
	// Title names the host on the pages. The default is "Switchyard".
	Title string
	// Engine is the engine to look into.
	Engine Engine
	// State is where resources are read.
	State state.CoreState
	// Clock is what the engine tells time by. The default is the real clock.
	Clock clockwork.Clock
	// Logger gets what can not be told a client. The default is a silent one.
	Logger *zap.Logger
	// Show tells whether resources of a type that has no definition may be shown in full. The default is that none may be.
	Show func(resource.Type) bool
	// Hosts are names, beside local ones and addresses, that requests may be for.
	Hosts []string
	// Metrics is what /metrics shows. The default is the engine alone; a host that has metrics of its own, or wants those of Go and
	// of the process, registers all of them with a prom.Collector in a registry.
	Metrics prometheus.Gatherer
	// Streams is how many may watch the engine at once. The default is [live.DefaultStreams].
	Streams int
}

// Handler shows a running engine. Make one with [New].
type Handler struct {
	cfg     Config
	answers *answer.Answers
	hub     *live.Hub
	serve   http.Handler
	// drawing has a place for who draws the graph.
	drawing  chan struct{}
	pictures *picture.Pictures
}

// New returns a handler. Close it when it is not needed any more.
func New(cfg Config) *Handler {
	if cfg.Title == "" {
		cfg.Title = "Switchyard"
	}

	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}

	h := &Handler{
		cfg:     cfg,
		answers: answer.New(answer.Config{Engine: cfg.Engine, State: cfg.State, Clock: cfg.Clock, Show: cfg.Show}),
		drawing: make(chan struct{}, 1),
	}

	h.hub = live.New(live.Config{Engine: cfg.Engine, Answers: h.answers, Clock: cfg.Clock, Streams: cfg.Streams, Logger: cfg.Logger})

	h.pictures = picture.New(picture.Config{Options: pictureOptions, Clock: cfg.Clock})

	mux := http.NewServeMux()
	h.routeAPI(mux)
	h.routePages(mux)
	h.routeMetrics(mux)
	h.serve = guard.New(guard.Config{Hosts: cfg.Hosts, Page: isPage, Refuse: refuse, Logger: cfg.Logger}, below(mux))

	return h
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.serve.ServeHTTP(w, r) }

// Close ends all that the handler has started, and waits for it. Requests that watch the engine are told to end as well; whoever serves
// them waits for that.
func (h *Handler) Close() {
	h.hub.Close()
	h.pictures.Close()
}
