package web_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/switchyard-run/switchyard/inspect/guard"

	"github.com/switchyard-run/switchyard/cmd/example/internal/web"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func handler(t *testing.T, missing []string, failure error) http.Handler {
	t.Helper()

	return web.Handler(source(t, missing, failure))
}

func source(t *testing.T, missing []string, failure error) web.Source {
	return web.Source{
		Graph: func(_ context.Context, format string) ([]byte, error) {
			return []byte("graph as " + format), failure
		},
		Missing: func(context.Context) ([]string, error) { return missing, failure },
		Notes:   func(context.Context) ([]string, error) { return nil, failure },
		Health:  func() (bool, []string) { return true, nil },
		Inspect: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "engine at "+r.URL.Path) }),
		Hosts:   []string{"box.example.net"},
		Logger:  zaptest.NewLogger(t),
	}
}

func ask(h http.Handler, method, path string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, nil)
	request.Host = "localhost"

	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, request)

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

// What an operator should know is told whether the machine is ready or not.
func TestNotes(t *testing.T) {
	src := source(t, nil, nil)
	src.Notes = func(context.Context) ([]string, error) { return []string{"the document is refused"}, nil }

	answer := ask(web.Handler(src), http.MethodGet, "/readyz")
	assert.Equal(t, http.StatusOK, answer.Code)
	assert.Equal(t, "ready\nnote: the document is refused\n", answer.Body.String())

	src.Missing = func(context.Context) ([]string, error) { return []string{"this"}, nil }
	assert.Equal(t, "this\nnote: the document is refused\n", ask(web.Handler(src), http.MethodGet, "/readyz").Body.String())
}

func TestHealth(t *testing.T) {
	running := true

	src := source(t, nil, nil)
	src.Health = func() (bool, []string) { return running, []string{"a controller is backing off"} }

	answer := ask(web.Handler(src), http.MethodGet, "/healthz")
	assert.Equal(t, http.StatusOK, answer.Code)
	assert.Equal(t, "ok\nnote: a controller is backing off\n", answer.Body.String())

	running = false

	answer = ask(web.Handler(src), http.MethodGet, "/healthz")
	assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
	assert.Equal(t, "the engine does not run\n", answer.Body.String())
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
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		answer := ask(handler(t, nil, nil), method, "/")
		assert.Equal(t, http.StatusMethodNotAllowed, answer.Code, method)
		assert.Equal(t, "GET, HEAD", answer.Header().Get("Allow"), method)
	}

	assert.Equal(t, http.StatusNotFound, ask(handler(t, nil, nil), http.MethodGet, "/graph").Code)
}

func TestTheFirstPageLinksTheOthers(t *testing.T) {
	text := ask(handler(t, nil, nil), http.MethodGet, "/").Body.String()

	for _, path := range []string{"/inspect/", "/healthz", "/readyz", "/graph.svg", "/debug/vars"} {
		assert.Contains(t, text, `<a href="`+path+`">`)
		assert.Equal(t, http.StatusOK, ask(handler(t, nil, nil), http.MethodGet, path).Code, path)
	}
}

func TestTheEngineIsShownBelowInspect(t *testing.T) {
	assert.Equal(t, "engine at /api/v1/overview", ask(handler(t, nil, nil), http.MethodGet, "/inspect/api/v1/overview").Body.String())

	answer := ask(handler(t, nil, nil), http.MethodGet, "/inspect")
	assert.Equal(t, "/inspect/", answer.Header().Get("Location"))
}

// With a token, nothing is told without it.
func TestTokens(t *testing.T) {
	token, err := guard.NewToken("0123456789abcdef")
	require.NoError(t, err)

	src := source(t, nil, nil)
	src.Token = &token
	h := web.Handler(src)

	for _, path := range []string{"/", "/healthz", "/debug/vars", "/inspect/", "/inspect/api/v1/overview", "/nothing"} {
		assert.Equal(t, http.StatusUnauthorized, ask(h, http.MethodGet, path).Code, path)
	}

	request := httptest.NewRequest(http.MethodGet, "/healthz", nil)
	request.Host = "box.example.net"
	request.SetBasicAuth("anybody", "0123456789abcdef")

	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, request)
	assert.Equal(t, http.StatusOK, answer.Code)
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

// TestAClientThatIsSilent has begun a request when the server stops, and never ends it.
func TestAClientThatIsSilent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	server := web.Serve(listener, handler(t, nil, nil), zaptest.NewLogger(t))

	silent, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)

	defer silent.Close()

	_, err = silent.Write([]byte("GET / HTTP/1.1\r\nHost: "))
	require.NoError(t, err)

	// Connections are accepted in turn, so the silent one is known when another one is answered.
	response, err := http.Get("http://" + listener.Addr().String() + "/healthz")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	http.DefaultClient.CloseIdleConnections()

	assert.NoError(t, server.Stop())

	_, err = silent.Read(make([]byte, 1))
	assert.Error(t, err)
}

// A page from elsewhere can neither take the name of this machine for its own, nor have a browser ask for it.
func TestPagesAreForThisMachine(t *testing.T) {
	for host, want := range map[string]int{
		"":                     http.StatusOK,
		"localhost:8080":       http.StatusOK,
		"box.localhost":        http.StatusOK,
		"127.0.0.1":            http.StatusOK,
		"[::1]:8080":           http.StatusOK,
		"box.example.net:8080": http.StatusOK,
		"example.net":          http.StatusMisdirectedRequest,
		"example.net:8080":     http.StatusMisdirectedRequest,
		"localhost.evil.net":   http.StatusMisdirectedRequest,
	} {
		request := httptest.NewRequest(http.MethodGet, "/healthz", nil)
		request.Host = host

		answer := httptest.NewRecorder()
		handler(t, nil, nil).ServeHTTP(answer, request)
		assert.Equal(t, want, answer.Code, host)
	}

	request := httptest.NewRequest(http.MethodGet, "/debug/vars", nil)
	request.Host = "localhost"
	request.Header.Set("Sec-Fetch-Site", "cross-site")

	answer := httptest.NewRecorder()
	handler(t, nil, nil).ServeHTTP(answer, request)
	assert.Equal(t, http.StatusForbidden, answer.Code)
}
