package inspect_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/switchyard-run/switchyard/inspect"
	"github.com/switchyard-run/switchyard/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is a name that means something to whoever does not take care.
const hostile = "a/b?c#d&e=f\"><script>alert('x')</script>\n\u202e../%2e%2e"

// world is an engine with a handler to look into it, in a bubble of time.
type world struct {
	*testing.T
	state.State

	engine  *runtime.Runtime
	handler *inspect.Handler
}

// inWorld runs a test in a world in which numbers of a namespace become texts of another one, and a controller with a hostile name
// does nothing.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, State: state.WrapCore(namespaced.NewState(inmem.Build))}

		var err error

		w.engine, err = runtime.New(w.State, zap.NewNop(), runtime.Config{Passes: 32})
		require.NoError(t, err)
		require.NoError(w, w.engine.RegisterQController(&conformance.QIntToStrController{SourceNamespace: "source", TargetNamespace: "target"}))
		require.NoError(w, w.engine.RegisterQController(idle{}))

		w.handler = inspect.New(inspect.Config{Engine: w.engine, State: w.State, Logger: zaptest.NewLogger(t), Hosts: []string{"box.example.net"}})

		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)

		go func() { done <- w.engine.Run(ctx) }()

		t.Cleanup(func() {
			w.handler.Close()
			cancel()
			assert.NoError(t, <-done)
		})

		synctest.Wait()
		test(w)
	})
}

// create creates a number, and waits until all has come of it that comes.
func (w *world) create(id string) {
	w.Helper()
	require.NoError(w, w.Create(w.Context(), conformance.NewIntResource("source", id, 1)))
	synctest.Wait()
}

// get asks a handler, by default that of the world, for an address.
func (w *world) get(target string, headers ...string) *httptest.ResponseRecorder {
	return ask(w.handler, http.MethodGet, "localhost", target, headers...)
}

// read asks for a document below the API, with parameters in pairs.
func (w *world) read(into any, path string, params ...string) {
	w.Helper()

	answer := w.get("/api/v1/" + path + query(params...))
	require.Equal(w, http.StatusOK, answer.Code, answer.Body)
	require.Equal(w, "application/json", answer.Header().Get("Content-Type"))
	require.NoError(w, json.Unmarshal(answer.Body.Bytes(), into))
}

func query(params ...string) string {
	q := url.Values{}
	for i := 0; i < len(params); i += 2 {
		q.Add(params[i], params[i+1])
	}

	return "?" + q.Encode()
}

// ask asks a handler for an address of a host, with headers in pairs.
func ask(h http.Handler, method, host, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = host

	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}

	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)

	return answer
}

// idle is a controller with a hostile name.
type idle struct{}

func (idle) Name() string { return hostile }

func (idle) Settings() controller.QSettings {
	return controller.QSettings{Inputs: []controller.Input{{Namespace: hostile, Type: hostile, Kind: controller.InputQPrimary}}}
}

func (idle) Reconcile(context.Context, *zap.Logger, controller.QRuntime, resource.Pointer) error {
	return nil
}

func (idle) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}
