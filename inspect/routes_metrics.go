package inspect

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect/prom"
)

// mostScrapes is how many scrapes are answered at once.
const mostScrapes = 4

// routeMetrics puts the metrics where they belong.
func (h *Handler) routeMetrics(mux *http.ServeMux) {
	gatherer := h.cfg.Metrics

	if gatherer == nil {
		registry := prometheus.NewRegistry()
		registry.MustRegister(prom.New(prom.Config{Engine: h.cfg.Engine}))
		gatherer = registry
	}

	mux.Handle("GET /metrics", promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{
		ErrorLog: zap.NewStdLog(h.cfg.Logger), MaxRequestsInFlight: mostScrapes,
	}))
}
