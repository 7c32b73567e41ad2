package examples_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/apply"
)

func Example_apply() {
	st := newState()
	mux := http.NewServeMux()

	mux.Handle("/apply", apply.New(apply.Config{State: st, Allow: hostsOnly}))

	for _, typ := range []string{hostType, recordType} {
		request := httptest.NewRequest(http.MethodPost, "http://localhost/apply", strings.NewReader(
			"metadata: {type: "+typ+", id: web}\nspec: {value: 192.0.2.7}\n"))
		request.Header.Set("Content-Type", apply.ContentType)

		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, request)
		fmt.Println(answer.Code)
	}

	// Output:
	// 200
	// 403
}

// hostsOnly leaves records to the controller that makes them.
func hostsOnly(_ context.Context, access state.Access) error {
	if access.Verb.Readonly() || access.ResourceType == hostType {
		return nil
	}

	return fmt.Errorf("%s are made by controllers", access.ResourceType)
}
