package web_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/switchyard-run/switchyard/cmd/example/internal/web"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func handler(t *testing.T, missing []string, failure error) http.Handler {
	t.Helper()

	return web.Handler(web.Source{
		Graph: func(_ context.Context, format string) ([]byte, error) {
			return []byte("graph as " + format), failure
		},
		Missing: func(context.Context) ([]string, error) { return missing, failure },
		Logger:  zaptest.NewLogger(t),
	})
}

func ask(h http.Handler, method, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(method, path, nil))

	return answer
}

func TestReadiness(t *testing.T) {
	answer := ask(handler(t, nil, nil), http.MethodGet, "/readyz")
	assert.Equal(t, http.StatusOK, answer.Code)
	assert.Equal(t, "ready\n", answer.Body.String())

	answer = ask(handler(t, []string{"this", "that"}, nil), http.MethodGet, "/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
	assert.Equal(t, "this\nthat\n", answer.Body.String())

	// Whether it lives is another question.
	assert.Equal(t, http.StatusOK, ask(handler(t, []string{"this"}, nil), http.MethodGet, "/healthz").Code)
}

func TestGraphs(t *testing.T) {
	for path, want := range map[string]struct{ format, contentType string }{
		"/graph.mmd":  {"mermaid", "text/plain; charset=utf-8"},
		"/graph.dot":  {"dot", "text/vnd.graphviz; charset=utf-8"},
		"/graph.svg":  {"svg", "image/svg+xml"},
		"/graph.json": {"json", "application/json"},
	} {
		answer := ask(handler(t, nil, nil), http.MethodGet, path)
		assert.Equal(t, "graph as "+want.format, answer.Body.String(), path)
		assert.Equal(t, want.contentType, answer.Header().Get("Content-Type"), path)

		answer = ask(handler(t, nil, errors.New("no graph today")), http.MethodGet, path)
		assert.Equal(t, http.StatusInternalServerError, answer.Code, path)
		assert.Contains(t, answer.Body.String(), "no graph today", path)
	}
}

func TestPagesAreOnlyRead(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions} {
		answer := ask(handler(t, nil, nil), method, "/")
		assert.Equal(t, http.StatusMethodNotAllowed, answer.Code, method)
		assert.Equal(t, http.MethodGet, answer.Header().Get("Allow"), method)
	}

	assert.Equal(t, http.StatusNotFound, ask(handler(t, nil, nil), http.MethodGet, "/graph").Code)
}

func TestAServerThatStops(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	server := web.Serve(listener, handler(t, nil, nil), zaptest.NewLogger(t))
	url := "http://" + listener.Addr().String() + "/healthz"

	response, err := http.Get(url)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)

	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, server.Stop())

	_, err = http.Get(url)
	assert.Error(t, err)

	var none *web.Server

	assert.NoError(t, none.Stop())
}
