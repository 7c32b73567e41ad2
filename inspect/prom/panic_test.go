package prom_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect/prom"
	"github.com/switchyard-run/switchyard/runtime"
)

// broken is an engine that can not be asked.
type broken struct{ prom.Engine }

func (broken) Health() runtime.Health { panic("out of order") }

// An engine that panics fails the scrape and nothing else: who gathers does that in goroutines of his own.
func TestPanicsFailTheScrape(t *testing.T) {
	t.Parallel()

	registry := prometheus.NewRegistry()
	registry.MustRegister(prom.New(prom.Config{Engine: broken{}}))

	for range 2 {
		w := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		require.Equal(t, http.StatusInternalServerError, w.Code)
		require.Contains(t, w.Body.String(), "out of order")
	}
}
