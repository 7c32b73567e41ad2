package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/client"
	"github.com/switchyard-run/switchyard/inspect/guard"
	"github.com/switchyard-run/switchyard/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is a name that means something to whoever does not take care.
const hostile = "a/b?c#d&e=f\"><script>\n\u202e../%2e%2e"

// serve serves a handler below a path and returns the address.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()

	mux := http.NewServeMux()
	mux.Handle("/debug/inspect/", http.StripPrefix("/debug/inspect", handler))

	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	return server.URL + "/debug/inspect"
}

func newClient(t *testing.T, address, token string) *client.Client {
	t.Helper()

	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)

	c, err := client.New(client.Config{Address: address, Token: token, Transport: transport})
	require.NoError(t, err)

	return c
}

// engine runs an engine that makes a text out of a number until the test ends.
func engine(t *testing.T) (*inspect.Handler, state.State) {
	t.Helper()

	st := state.WrapCore(namespaced.NewState(inmem.Build))

	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{Passes: 32})
	require.NoError(t, err)
	require.NoError(t, engine.RegisterQController(&conformance.QIntToStrController{SourceNamespace: "source", TargetNamespace: "target"}))

	handler := inspect.New(inspect.Config{Engine: engine, State: st})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)

	go func() { done <- engine.Run(ctx) }()

	t.Cleanup(func() {
		handler.Close()
		cancel()
		assert.NoError(t, <-done)
	})

	return handler, st
}

func create(t *testing.T, st state.State, id string) {
	t.Helper()

	require.NoError(t, st.Create(t.Context(), conformance.NewIntResource("source", id, 1)))

	_, err := st.WatchFor(t.Context(), conformance.NewStrResource("target", id, "").Metadata(), state.WithEventTypes(state.Created))
	require.NoError(t, err)
}

// Each question gets its answer.
func TestQuestions(t *testing.T) {
	handler, st := engine(t)
	c := newClient(t, serve(t, handler), "")
	ctx := t.Context()

	create(t, st, hostile)

	overview, err := c.Overview(ctx)
	require.NoError(t, err)
	require.Len(t, overview.Controllers, 1)

	all, err := c.Controllers(ctx)
	require.NoError(t, err)
	require.Len(t, all.Controllers, 1)

	name := all.Controllers[0].Name

	detail, err := c.Controller(ctx, name)
	require.NoError(t, err)
	require.Equal(t, name, detail.Name)

	passes, err := c.Passes(ctx, name, 1)
	require.NoError(t, err)
	require.Len(t, passes.Passes, 1)

	passes, err = c.Passes(ctx, "", 0)
	require.NoError(t, err)
	require.NotEmpty(t, passes.Passes)

	pass, err := c.Pass(ctx, passes.Passes[0].PassRef)
	require.NoError(t, err)
	require.Equal(t, passes.Passes[0].PassRef, pass.PassRef)

	list, err := c.Resources(ctx, "target", conformance.StrResourceType, 10)
	require.NoError(t, err)
	require.Len(t, list.Items, 1)

	ref := list.Items[0].Ref
	require.Equal(t, hostile, ref.ID)

	resource, err := c.Resource(ctx, ref)
	require.NoError(t, err)
	require.True(t, resource.Exists)

	why, err := c.WhyResource(ctx, ref)
	require.NoError(t, err)
	require.NotEmpty(t, why.Roots)

	why, err = c.WhyPass(ctx, pass.PassRef)
	require.NoError(t, err)
	require.NotEmpty(t, why.Trees)

	why, err = c.WhyController(ctx, name)
	require.NoError(t, err)
	require.NotEmpty(t, why.Trees)

	blocked, err := c.BlockedResource(ctx, ref)
	require.NoError(t, err)
	require.Equal(t, &ref, blocked.Resource)

	blocked, err = c.BlockedController(ctx, name)
	require.NoError(t, err)
	require.Equal(t, name, blocked.Controller)

	findings, err := c.Findings(ctx)
	require.NoError(t, err)
	require.NotNil(t, findings.Findings)

	graph, err := c.Graph(ctx, "dot")
	require.NoError(t, err)
	require.Contains(t, string(graph), "digraph")
}

// What goes wrong is told apart, since whoever asks does something else each time.
func TestErrors(t *testing.T) {
	handler, _ := engine(t)
	ctx := t.Context()

	c := newClient(t, serve(t, handler), "")

	_, err := c.Controller(ctx, "tostr")

	var problem *client.Problem

	require.ErrorAs(t, err, &problem)
	assert.True(t, problem.NotFound())
	assert.ErrorContains(t, err, "QIntToStrController")

	_, err = c.Graph(ctx, "pdf")
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, http.StatusBadRequest, problem.Status)

	token, err := guard.NewToken("0123456789abcdef")
	require.NoError(t, err)

	secured := serve(t, guard.RequireToken(token, handler))

	var unauthorized *client.UnauthorizedError

	_, err = newClient(t, secured, "").Overview(ctx)
	require.ErrorAs(t, err, &unauthorized)
	assert.False(t, unauthorized.Sent)

	_, err = newClient(t, secured, "fedcba9876543210").Overview(ctx)
	require.ErrorAs(t, err, &unauthorized)
	assert.True(t, unauthorized.Sent)

	_, err = newClient(t, secured, "0123456789abcdef").Overview(ctx)
	require.NoError(t, err)

	var unreachable *client.UnreachableError

	gone := httptest.NewServer(handler)
	gone.Close()

	_, err = newClient(t, gone.URL, "").Overview(ctx)
	require.ErrorAs(t, err, &unreachable)

	cut := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "5") }))
	_, err = newClient(t, cut, "").Overview(ctx)
	require.ErrorAs(t, err, &unreachable)

	ended, cancel := context.WithCancel(ctx)
	cancel()

	_, err = c.Overview(ended)
	require.ErrorIs(t, err, context.Canceled)
}

// A server of another kind is not taken for the handler, and gets no token by leading elsewhere.
func TestStrangers(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"a page":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<!doctype html>") },
		"json":      func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "application/json") },
		"other json": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message": "not found"}`)
		},
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
	} {
		var stranger *client.StrangerError

		c := newClient(t, serve(t, answer), "secret")

		_, err := c.Overview(t.Context())
		require.ErrorAs(t, err, &stranger, name)

		if name != "json" {
			for _, err := range c.Live(t.Context()) {
				require.ErrorAs(t, err, &stranger, name)
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"127.0.0.1:8080", "localhost", "ftp://localhost/", "http://", "http://localhost/?a=b", "http://a:b@localhost/", "http://localhost/\x00", "unix:/run/a"} {
		_, err := client.New(client.Config{Address: address})
		assert.ErrorContains(t, err, client.DefaultAddress, address)
	}

	c, err := client.New(client.Config{})
	require.NoError(t, err)
	assert.Equal(t, client.DefaultAddress, c.Address())
}

// A stream is read as it is written, and what breaks it is told.
func TestStreams(t *testing.T) {
	const text = ": alive\n\nevent: overview\ndata: {\"controllers\": [{\"name\": \"a\", \"state\": \"waiting\"}, {\"name\": \"b\"}],\ndata: \"revision\": 1}\n\n" +
		"event: of tomorrow\ndata: {}\n\n" +
		"event: change\r\ndata: {\"revision\": 2, \"gone\": [\"b\"], \"controllers\": [{\"name\": \"a\", \"state\": \"running\"}], " +
		"\"passes\": [{\"controller\": \"a\", \"perSecond\": 2}]}\r\n\r\n"

	var unreachable *client.UnreachableError

	c := newClient(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	})), "")

	seen := 0

	for live, err := range c.Live(t.Context()) {
		seen++

		switch seen {
		case 1:
			require.NoError(t, err)
			assert.Len(t, live.Controllers, 2)
			assert.EqualValues(t, 1, live.Revision)
		case 2:
			require.NoError(t, err)
			require.Len(t, live.Controllers, 1)
			assert.Equal(t, api.Running, live.Controllers[0].State)
			assert.InDelta(t, 2, live.Passes["a"], 0)
		case 3:
			require.ErrorAs(t, err, &unreachable)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
	}

	assert.Equal(t, 3, seen)
}
