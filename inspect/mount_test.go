package inspect_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect/guard"
)

// Whoever asks for the handler without the slash is led to it, whatever it is mounted at.
func TestMountedBelowAPath(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, prefix := range []string{"/inspect", "/debug/engine/inspect", "/a:b"} {
			mounted := http.StripPrefix(prefix, w.handler)

			answer := ask(mounted, http.MethodGet, "localhost", prefix+"?q=1")
			assert.Equal(w, http.StatusMovedPermanently, answer.Code, prefix)

			at, err := url.Parse("http://localhost" + prefix + "?q=1")
			require.NoError(w, err)

			to, err := at.Parse(answer.Header().Get("Location"))
			require.NoError(w, err)
			assert.Equal(w, "http://localhost"+prefix+"/?q=1", to.String())

			assert.Equal(w, http.StatusOK, ask(mounted, http.MethodGet, "localhost", prefix+"/").Code, prefix)
			assert.Equal(w, http.StatusOK, ask(mounted, http.MethodGet, "localhost", prefix+"/api/v1/overview").Code, prefix)
		}
	})
}

// Nothing leads to where the handler is not.
func TestOddPaths(t *testing.T) {
	inWorld(t, func(w *world) {
		mounted := http.StripPrefix("/inspect", w.handler)

		for _, path := range []string{
			"//", "//evil.example/", "/./", "/api/v1//overview", "/api/../api/v1/overview", "/..", "more", "/api/v1/overview/", "/api",
			"/api/", "/api/v2/overview", "/nowhere", "/%2e%2e/", "/%00",
		} {
			answer := ask(mounted, http.MethodGet, "localhost", "/inspect"+path)
			assert.Equal(w, http.StatusNotFound, answer.Code, path)
			assert.Empty(w, answer.Header().Get("Location"), path)
		}
	})
}

func TestEveryAddressIsGuarded(t *testing.T) {
	inWorld(t, func(w *world) {
		mounted := http.StripPrefix("/inspect", w.handler)

		for _, path := range []string{"", "/", "/api/v1/overview", "/api/v1/graph", "/api/v1/nothing", "/nothing"} {
			path = "/inspect" + path

			for name, answer := range map[string]int{
				"host":   ask(mounted, http.MethodGet, "evil.example", path).Code,
				"method": ask(mounted, http.MethodPost, "localhost", path).Code,
				"origin": ask(mounted, http.MethodGet, "localhost", path, "Origin", "http://evil.example").Code,
				"embed":  ask(mounted, http.MethodGet, "localhost", path, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image").Code,
			} {
				want := map[string]int{
					"host": http.StatusMisdirectedRequest, "method": http.StatusMethodNotAllowed, "origin": http.StatusForbidden, "embed": http.StatusForbidden,
				}[name]
				assert.Equal(w, want, answer, "%s: %s", name, path)
			}

			answer := ask(mounted, http.MethodGet, "box.example.net:8080", path)
			assert.Less(w, answer.Code, http.StatusInternalServerError, path)
			assert.NotEqual(w, http.StatusMisdirectedRequest, answer.Code, path)
			assert.Equal(w, guard.Policy, answer.Header().Get("Content-Security-Policy"), path)
		}

		// A link from elsewhere leads to pages, and to no data.
		link := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
		assert.Equal(w, http.StatusOK, w.get("/", link...).Code)
		assert.Equal(w, http.StatusForbidden, w.get("/api/v1/overview", link...).Code)
	})
}
