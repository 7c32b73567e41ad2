package inspect_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect"
	"github.com/switchyard-run/switchyard/runtime"
)

// The handler shows the metrics of its engine, or what the host has put together.
func TestMetricsAreThoseOfTheEngineOrOfTheHost(t *testing.T) {
	t.Parallel()

	st := state.WrapCore(namespaced.NewState(inmem.Build))
	engine, err := runtime.New(st, nil, runtime.Config{})
	require.NoError(t, err)

	own := prometheus.NewRegistry()
	own.MustRegister(collectors.NewGoCollector())

	for want, metrics := range map[string]prometheus.Gatherer{"switchyard_running 0\n": nil, "go_goroutines ": own} {
		h := inspect.New(inspect.Config{Engine: engine, State: st, Metrics: metrics})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/metrics", nil))
		h.Close()

		require.Equal(t, http.StatusOK, w.Code)
		require.Contains(t, w.Body.String(), want)
	}
}
