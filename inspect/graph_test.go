package inspect_test

import (
	"net/http"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect"
	"github.com/switchyard-run/switchyard/runtime"
)

// The graph comes in each format, of an engine that does not run as well.
func TestGraph(t *testing.T) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))

	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{})
	require.NoError(t, err)
	require.NoError(t, engine.RegisterQController(&conformance.QIntToStrController{SourceNamespace: "source", TargetNamespace: "target"}))

	handler := inspect.New(inspect.Config{Engine: engine, State: st})
	defer handler.Close()

	for format, want := range map[string]string{
		"json":    "application/json",
		"mermaid": "text/plain; charset=utf-8",
		"dot":     "text/vnd.graphviz; charset=utf-8",
		"svg":     "image/svg+xml",
	} {
		answer := ask(handler, http.MethodGet, "localhost", "/api/v1/graph?format="+format)
		assert.Equal(t, http.StatusOK, answer.Code, format)
		assert.Equal(t, want, answer.Header().Get("Content-Type"), format)
		assert.Contains(t, answer.Body.String(), "QIntToStrController", format)
	}
}
