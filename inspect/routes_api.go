package inspect

import (
	"encoding/json"
	"net/http"
)

// routeAPI puts the API where it belongs.
func (h *Handler) routeAPI(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/controllers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")

		_ = json.NewEncoder(w).Encode(h.answers.Controllers()) // a client that has gone is no concern of the page
	})
}
