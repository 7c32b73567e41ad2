package examples_test

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/runtime"
)

func Example_why() {
	st := newState()
	engine, err := runtime.NewRuntime(st, zap.NewNop())
	must(err)
	must(engine.RegisterQController(Recorder{}))

	must(st.Create(context.Background(), newHost("web", "192.0.2.7")))

	run(engine, func(ctx context.Context) {
		_, err := st.WatchFor(ctx, newRecord("web").Metadata(), state.WithEventTypes(state.Created))
		must(err)
	})

	fmt.Println(lastWriter(engine, newRecord("web").Metadata()))

	// Output:
	// Recorder: reconcile Hosts.example.dev(default/web) because of [] start or resync
}

// lastWriter tells which pass has written a resource last, and why it was made.
func lastWriter(engine *runtime.Runtime, ptr resource.Pointer) string {
	book := engine.Book()

	last := book.WrittenBy(ptr)
	if len(last) == 0 {
		return "nobody who is remembered"
	}

	return because(last[len(last)-1])
}

func because(p *cause.Pass) string {
	return fmt.Sprintf("%s: %s %s because of %s %s", p.Controller, p.Doing, p.Item, p.Causes, p.Reasons)
}
