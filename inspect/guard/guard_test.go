package guard_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/inspect/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask sends a request for a host, with headers in pairs, and returns the answer.
func ask(h http.Handler, method, host, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Host = host

	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}

	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)

	return w
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") }

func pages(cfg guard.Config) http.Handler {
	cfg.Page = func(r *http.Request) bool { return !strings.HasPrefix(r.URL.Path, "/api/") }

	return guard.New(cfg, http.HandlerFunc(ok))
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]int{
		"":                         http.StatusOK,
		"localhost":                http.StatusOK,
		"LocalHost:8080":           http.StatusOK,
		"localhost.:8080":          http.StatusOK,
		"box.localhost":            http.StatusOK,
		"127.0.0.1":                http.StatusOK,
		"127.0.0.1:8080":           http.StatusOK,
		"[::1]:8080":               http.StatusOK,
		"[::1]":                    http.StatusOK,
		"192.0.2.7:80":             http.StatusOK,
		"box.example.net":          http.StatusOK,
		"Box.Example.Net:8080":     http.StatusOK,
		"other.example.net":        http.StatusOK,
		"example.net":              http.StatusMisdirectedRequest,
		"box.example.net.evil.net": http.StatusMisdirectedRequest,
		"localhost.evil.net":       http.StatusMisdirectedRequest,
		"evillocalhost":            http.StatusMisdirectedRequest,
		"127.0.0.1.evil.net":       http.StatusMisdirectedRequest,
		"127.0.0.1@evil.net":       http.StatusMisdirectedRequest,
		":8080":                    http.StatusMisdirectedRequest,
		".":                        http.StatusMisdirectedRequest,
	} {
		w := ask(pages(guard.Config{Hosts: []string{"box.example.net", "OTHER.example.net:443", ""}}), http.MethodGet, host, "/")
		assert.Equal(t, want, w.Code, host)

		if want != http.StatusOK {
			assert.Contains(t, w.Body.String(), "ask for localhost", host)
		}
	}
}

func TestMethods(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace, http.MethodConnect, "get", "MKCOL"} {
		for _, path := range []string{"/", "/api/v1/overview", "/nowhere"} {
			w := ask(pages(guard.Config{}), method, "localhost", path)
			assert.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
			assert.Equal(t, "GET, HEAD", w.Header().Get("Allow"), method)
		}
	}

	writes := pages(guard.Config{Methods: []string{http.MethodPost}})
	assert.Equal(t, http.StatusOK, ask(writes, http.MethodPost, "localhost", "/").Code)
	assert.Equal(t, http.StatusMethodNotAllowed, ask(writes, http.MethodGet, "localhost", "/").Code)
}

// What a page of another origin makes a browser send is refused, but for links to pages.
func TestOrigins(t *testing.T) {
	const host = "localhost:8080"

	for name, test := range map[string]struct {
		path    string
		headers []string
		want    int
	}{
		"a program":              {"/api/v1/overview", nil, http.StatusOK},
		"the address bar":        {"/", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, http.StatusOK},
		"its own page":           {"/api/v1/live", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors", "Origin", "http://localhost:8080"}, http.StatusOK},
		"a link from elsewhere":  {"/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, http.StatusOK},
		"a link from a neighbor": {"/", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, http.StatusOK},
		"a link to data":         {"/api/v1/overview", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, http.StatusForbidden},
		"a frame":                {"/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, http.StatusForbidden},
		"a picture":              {"/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, http.StatusForbidden},
		"a script":               {"/", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}, http.StatusForbidden},
		"a fetch":                {"/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, http.StatusForbidden},
		"what is yet to come":    {"/", []string{"Sec-Fetch-Site", "next-door"}, http.StatusForbidden},
		"an older browser":       {"/", []string{"Origin", "http://evil.example"}, http.StatusForbidden},
		"another port":           {"/", []string{"Origin", "http://localhost:3000"}, http.StatusForbidden},
		"a hidden origin":        {"/", []string{"Origin", "null"}, http.StatusForbidden},
		"an odd origin":          {"/", []string{"Origin", "file://localhost:8080"}, http.StatusForbidden},
		"no origin at all":       {"/", []string{"Origin", ""}, http.StatusForbidden},
		"two origins":            {"/", []string{"Origin", "http://localhost:8080", "Origin", "http://evil.example"}, http.StatusForbidden},
		"a proxy with TLS":       {"/", []string{"Origin", "https://LOCALHOST:8080"}, http.StatusOK},
	} {
		w := ask(pages(guard.Config{}), http.MethodGet, host, test.path, test.headers...)
		assert.Equal(t, test.want, w.Code, name)
	}

	assert.Equal(t, http.StatusOK, ask(pages(guard.Config{}), http.MethodGet, "localhost", "/", "Origin", "http://localhost:80").Code)
	assert.Equal(t, http.StatusOK, ask(pages(guard.Config{}), http.MethodGet, "localhost:443", "/", "Origin", "https://localhost").Code)
	assert.Equal(t, http.StatusForbidden, ask(pages(guard.Config{}), http.MethodGet, "localhost:443", "/", "Origin", "http://localhost").Code)

	// A link never writes.
	w := ask(pages(guard.Config{Methods: []string{http.MethodPost}}), http.MethodPost, host, "/",
		"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	assert.Equal(t, http.StatusForbidden, w.Code)
}

func TestHeadersAreOnEveryAnswer(t *testing.T) {
	panics := guard.New(guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "7")
		w.Header().Set("Cache-Control", "public")
		w.Header().Del("Content-Security-Policy")
		panic("oh")
	}))

	token, err := guard.NewToken("0123456789abcdef")
	require.NoError(t, err)

	for name, w := range map[string]*httptest.ResponseRecorder{
		"an answer":     ask(pages(guard.Config{}), http.MethodGet, "localhost", "/"),
		"a host":        ask(pages(guard.Config{}), http.MethodGet, "evil.example", "/"),
		"a method":      ask(pages(guard.Config{}), http.MethodPost, "localhost", "/"),
		"an origin":     ask(pages(guard.Config{}), http.MethodGet, "localhost", "/", "Origin", "null"),
		"a panic":       ask(panics, http.MethodGet, "localhost", "/"),
		"without token": ask(guard.RequireToken(token, http.HandlerFunc(ok)), http.MethodGet, "localhost", "/"),
	} {
		for header, want := range map[string]string{
			"Content-Security-Policy":      guard.Policy,
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cache-Control":                "no-store",
			"Access-Control-Allow-Origin":  "",
		} {
			assert.Equal(t, want, w.Header().Get(header), "%s: %s", name, header)
		}
	}
}

func TestAPanicIsAnAnswer(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	h := guard.New(guard.Config{Logger: zap.New(core)}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(errors.New("oh")) }))

	w := ask(h, http.MethodGet, "localhost", "/page")
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.NotContains(t, w.Body.String(), "oh")

	require.Equal(t, 1, logs.Len())
	assert.Equal(t, "/page", logs.All()[0].ContextMap()["path"])
	assert.Contains(t, logs.All()[0].ContextMap()["stack"], "guard_test.go")
}

// An answer that has begun is broken off, and not taken for whole.
func TestAPanicAmidAnAnswer(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	server := httptest.NewServer(guard.New(guard.Config{Logger: zap.New(core)}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}

		_ = http.NewResponseController(w).Flush()

		panic("oh")
	})))
	defer server.Close()

	response, err := server.Client().Get(server.URL)
	require.NoError(t, err)

	_, err = io.ReadAll(response.Body)
	require.Error(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, 1, logs.Len())

	_, err = server.Client().Get(server.URL + "/abort")
	require.Error(t, err)
	assert.Equal(t, 1, logs.Len())
}

// Streams need the controls of the answer below.
func TestControlsOfAnAnswer(t *testing.T) {
	server := httptest.NewServer(guard.New(guard.Config{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
			panic(err)
		}
	})))
	defer server.Close()

	response, err := server.Client().Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)
}
