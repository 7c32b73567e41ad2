package inspect

import "net/http"

// routePages puts the pages where they belong.
func (h *Handler) routePages(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	})
}
