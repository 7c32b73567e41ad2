package inspect

import (
	_ "embed"
	"net/http"
)

// openAPIText describes the API. A test makes it, out of the questions and the documents: go test ./inspect -run OpenAPI -update.
//
//go:embed openapi.json
var openAPIText []byte

func openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")

	_, _ = w.Write(openAPIText) // a client that has gone is no concern of the answer
}
