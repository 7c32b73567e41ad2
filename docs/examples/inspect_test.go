package examples_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/client"
	"github.com/switchyard-run/switchyard/inspect/guard"
	"github.com/switchyard-run/switchyard/runtime"
)

func Example_inspect() {
	st := newState()
	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{})
	must(err)
	must(engine.RegisterQController(Recorder{}))

	mux := http.NewServeMux()

	pages := inspect.New(inspect.Config{Engine: engine, State: st, Title: "records"})
	defer pages.Close()

	mux.Handle("/inspect/", http.StripPrefix("/inspect", pages))

	server := httptest.NewServer(mux)
	defer server.Close()

	run(engine, func(ctx context.Context) {
		must(st.Create(ctx, newHost("web", "192.0.2.7")))

		_, err := st.WatchFor(ctx, newRecord("web").Metadata(), state.WithEventTypes(state.Created))
		must(err)

		must(askWhy(ctx, server.URL+"/inspect/"))

		text, err := explain(ctx, engine, st)
		must(err)

		first, _, _ := strings.Cut(text, "\n")
		fmt.Println(first)
	})

	// Output:
	// written by Recorder #1
	// root cause
}

// explain says in the process of the engine why a record is as it is.
func explain(ctx context.Context, engine *runtime.Runtime, st state.State) (string, error) {
	answers := answer.New(answer.Config{Engine: engine, State: st})

	why, err := answers.WhyResource(ctx, api.Ref{Namespace: namespace, Type: recordType, ID: "web"})
	if err != nil {
		return "", err
	}

	return why.String(), nil
}

// askWhy asks a running host why a record is as it is.
func askWhy(ctx context.Context, address string) error {
	c, err := client.New(client.Config{Address: address})
	if err != nil {
		return err
	}

	why, err := c.WhyResource(ctx, api.Ref{Namespace: namespace, Type: recordType, ID: "web"})
	if err != nil {
		return err
	}

	fmt.Println("written by", why.Trees[0].PassRef)

	return nil
}

// withToken has a handler ask for the token in a file.
func withToken(path string, pages http.Handler) (http.Handler, error) {
	token, err := guard.ReadToken(path)
	if err != nil {
		return nil, err
	}

	return guard.RequireToken(token, pages), nil
}

func Example_inspectToken() {
	_, err := withToken("/no/such/file", http.NotFoundHandler())
	fmt.Println(err)

	// Output:
	// open /no/such/file: no such file or directory
}
