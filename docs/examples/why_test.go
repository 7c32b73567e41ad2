package examples_test

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime"
)

func Example_why() {
	st := newState()
	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{})
	must(err)
	must(engine.RegisterQController(Recorder{}))

	must(st.Create(context.Background(), newHost("web", "192.0.2.7")))

	run(engine, func(ctx context.Context) {
		_, err := st.WatchFor(ctx, newRecord("web").Metadata(), state.WithEventTypes(state.Created))
		must(err)
	})

	fmt.Print(why(engine, newRecord("web").Metadata()))

	// Output:
	// Recorder #1 reconcile Hosts.example.dev(default/web): succeeded (start or resync)
}

// why tells why a resource is as it is, back to what was done from outside.
func why(engine *runtime.Runtime, ptr resource.Pointer) string {
	answers := engine.Book().WhyIs(ptr)
	if len(answers) == 0 {
		return "nobody who is remembered has written it\n"
	}

	return answers[0].String()
}
