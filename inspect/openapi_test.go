package inspect_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect"
)

var update = flag.Bool("update", false, "write openapi.json anew")

func TestOpenAPIIsCurrent(t *testing.T) {
	text := writeDescription(t, describe(t))

	is, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	require.Equal(t, string(is), string(text), "run: go test ./inspect -run OpenAPI -update")
}

func TestNoAddressIsLeftOut(t *testing.T) {
	inWorld(t, func(w *world) {
		doc, _ := described(w)

		for _, path := range w.handler.Routes() {
			assert.NotNil(w, doc.Paths.Value("/"+path), path)
		}

		assert.Len(w, doc.Paths.Map(), len(w.handler.Routes()))
	})
}

// described is the description of the API as the handler sends it, with what it sends held to it: nothing may be there that it
// does not tell.
func described(w *world) (*openapi3.T, routers.Router) {
	w.Helper()

	doc, err := openapi3.NewLoader().LoadFromData(w.get("/api/v1/openapi.json").Body.Bytes())
	require.NoError(w, err)
	require.NoError(w, doc.Validate(w.Context()))

	doc.Servers[0].URL = "http://localhost/api/v1"
	no := false

	for _, schema := range doc.Components.Schemas {
		if schema.Value.Type.Is("object") {
			schema.Value.AdditionalProperties.Has = &no
		}
	}

	router, err := legacy.NewRouter(doc)
	require.NoError(w, err)

	return doc, router
}

// hold holds an answer to the description.
func hold(w *world, router routers.Router, target string, answer *httptest.ResponseRecorder) {
	w.Helper()

	r := httptest.NewRequest(http.MethodGet, "http://localhost"+target, nil)

	route, params, err := router.FindRoute(r)
	require.NoError(w, err, target)

	asked := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}
	if answer.Code == http.StatusOK {
		assert.NoError(w, openapi3filter.ValidateRequest(w.Context(), asked), target)
	}

	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: answer.Code, Header: answer.Header(),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	assert.NoError(w, openapi3filter.ValidateResponse(w.Context(), input.SetBodyBytes(answer.Body.Bytes())), target)
}

// Each answer is as it is described, whatever was asked.
func TestAnswersAreAsDescribed(t *testing.T) {
	inWorld(t, func(w *world) {
		_, router := described(w)
		w.create("one")
		w.create(hostile)

		_, err := w.Teardown(w.Context(), conformance.NewIntResource("source", "one", 1).Metadata())
		require.NoError(w, err)

		names := map[string][]string{
			"name": {"QIntToStrController", hostile, "nobody"}, "controller": {"QIntToStrController", hostile, "nobody"},
			"number": {"1", "3", "0", "x", "99999999999999999999"}, "namespace": {"source", "target", hostile},
			"type": {conformance.IntResourceType, conformance.StrResourceType, "none"}, "id": {"one", hostile, "", "\xff"},
			"limit": {"1", "10000", "0", "-1", "10001", "many"},
		}

		seen := map[int]int{}

		for _, q := range inspect.Questions() {
			for _, params := range combinations(append(append([]string{}, q.Needs...), q.Takes...), names) {
				target := "/api/v1/" + q.Path + query(params...)
				answer := w.get(target)
				seen[answer.Code]++

				assert.Less(w, answer.Code, http.StatusInternalServerError, target)
				hold(w, router, target, answer)
			}
		}

		assert.Greater(w, seen[http.StatusOK], 20)
		assert.Greater(w, seen[http.StatusBadRequest], 20)
		assert.Greater(w, seen[http.StatusNotFound], 5)

		for target, want := range map[string]int{
			"/api/v1/overview?more=1":      http.StatusBadRequest,
			"/api/v1/overview?a=%zz":       http.StatusBadRequest,
			"/api/v1/pass?a;b":             http.StatusBadRequest,
			"/api/v1/passes?limit=1&limit": http.StatusBadRequest,
			"/api/v1/graph?format=pdf":     http.StatusBadRequest,
			"/api/v1/graph":                http.StatusOK,
			"/api/v1/graph?format=json":    http.StatusOK,
			"/api/v1/openapi.json":         http.StatusOK,
		} {
			answer := w.get(target)
			assert.Equal(w, want, answer.Code, target)
			hold(w, router, target, answer)
		}

		// What is refused before it is asked is told in the same way.
		for _, answer := range []*httptest.ResponseRecorder{
			ask(w.handler, http.MethodPost, "localhost", "/api/v1/overview"),
			ask(w.handler, http.MethodGet, "evil.example", "/api/v1/overview"),
			w.get("/api/v1/overview", "Origin", "null"),
		} {
			assert.GreaterOrEqual(w, answer.Code, http.StatusBadRequest)
			hold(w, router, "/api/v1/overview", answer)
		}
	})
}

// combinations are the parameters that a question may be asked with, in pairs: none, all with each value of each, and all but one.
func combinations(params []string, names map[string][]string) (all [][]string) {
	all = append(all, nil)

	for without := range len(params) + 1 {
		for _, changed := range params {
			for _, value := range names[changed] {
				var pairs []string

				for i, name := range params {
					switch {
					case i == without:
					case name == changed:
						pairs = append(pairs, name, value)
					default:
						pairs = append(pairs, name, names[name][0])
					}
				}

				all = append(all, pairs)
			}
		}
	}

	// Questions that can be about a resource or about a controller.
	for _, value := range names["controller"] {
		all = append(all, []string{"controller", value}, []string{"controller", value, "number", "1"})
	}

	for _, id := range names["id"] {
		all = append(all, []string{"namespace", "source", "type", conformance.IntResourceType, "id", id})
	}

	return all
}

// What a browser takes for markup is escaped, in case something shows an answer as what it is not.
func TestAnswersHoldNoMarkup(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create(hostile)

		for _, path := range []string{
			"overview", "controllers", "graph", "controller" + query("name", hostile), "passes", "findings",
			"resource" + query("namespace", "source", "type", conformance.IntResourceType, "id", hostile),
			"resource" + query("namespace", hostile, "type", hostile, "id", hostile), "controller" + query("name", hostile+"x"), "overview?<b>=1",
		} {
			body := w.get("/api/v1/" + path).Body.String()
			assert.False(w, strings.ContainsAny(body, "<>&"), path)
		}
	})
}
