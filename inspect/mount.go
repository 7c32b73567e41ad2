package inspect

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// apiRoot is where the API is.
const apiRoot = "/api/v1/"

// isPage tells whether a request is for a page, to which others may link.
func isPage(r *http.Request) bool { return !strings.HasPrefix(r.URL.Path, "/api/") }

// below makes a handler work below any path. All that it is told of the path is what follows: it can lead nowhere but below it
// if it leads by relative addresses alone.
func below(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "":
			w.Header().Set("Location", enter(r))
			w.WriteHeader(http.StatusMovedPermanently)
		case !clean(r.URL.Path) || leadsOn(mux, r):
			sendProblem(w, r, problemOf(http.StatusNotFound, "there is no such page", "go to the first one"))
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// enter is the address of the first page, seen from its path without the slash.
func enter(r *http.Request) string {
	asked, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return "./"
	}

	full := asked.EscapedPath()
	to := "./" + full[strings.LastIndexByte(full, '/')+1:] + "/"

	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}

	return to
}

// clean tells whether a path is written as it should be. Others would be answered by leading to the one that is, without the
// path that the handler is mounted at.
func clean(p string) bool {
	cleaned := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && cleaned != "/" {
		cleaned += "/"
	}

	return p == cleaned
}

// leadsOn tells whether all there is below a path is known, and the path itself is not.
func leadsOn(mux *http.ServeMux, r *http.Request) bool {
	_, pattern := mux.Handler(r)

	return strings.HasSuffix(pattern, r.URL.Path+"/")
}
