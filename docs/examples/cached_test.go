package examples_test

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// census counts the letters of all addresses, once, and writes nothing.
type census struct {
	counted chan int
}

func (*census) Name() string { return "Census" }

func (*census) Inputs() []controller.Input {
	return []controller.Input{safe.Input[*Host](controller.InputWeak)}
}

func (*census) Outputs() []controller.Output { return nil }

func (c *census) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	total, err := c.count(ctx, r)
	if err != nil {
		return err
	}

	c.counted <- total

	return nil
}

func (c *census) count(ctx context.Context, r controller.Reader) (int, error) {
	hosts := resource.NewMetadata(namespace, hostType, "", resource.VersionUndefined)
	total := 0

	// Whatever was written before counts.
	if err := stateadapter.Barrier(ctx, r, hosts); err != nil {
		return 0, err
	}

	view, err := stateadapter.View(ctx, r, hosts)
	if err != nil {
		return 0, err
	}

	for host, err := range cache.Typed[*Host](view.All()) {
		if err != nil {
			return 0, err
		}

		total += len(host.TypedSpec().Value)
	}

	return total, nil
}

// A controller waits for its cache to show what was written before, and looks at it without copying.
func Example_cachedReads() {
	st := newState()

	engine, err := runtime.NewRuntime(st, nil, options.WithCachedResource(namespace, hostType))
	must(err)

	counter := &census{counted: make(chan int, 1)}

	run(engine, func(ctx context.Context) {
		must(st.Create(ctx, newHost("a", "192.0.2.1")))
		must(st.Create(ctx, newHost("b", "192.0.2.22")))
		must(engine.RegisterController(counter))
		fmt.Println(<-counter.counted)
	})

	// Output:
	// 19
}

// named lists hosts by a label, and names those of a rack without copying them.
func named(ctx context.Context, r controller.Reader) ([]string, error) {
	hosts := resource.NewMetadata(namespace, hostType, "", resource.VersionUndefined)
	names := []string{}

	// Copies, found by an index: what is not listed costs nothing.
	web, err := safe.ReaderListAll[*Host](ctx, r, state.WithLabelQuery(resource.LabelEqual("role", "web")))
	if err != nil {
		return nil, err
	}

	for host := range web.All() {
		names = append(names, "web: "+host.Metadata().ID())
	}

	view, err := stateadapter.View(ctx, r, hosts)
	if err != nil {
		return nil, err
	}

	// The resources themselves: not to be changed.
	for host := range view.Prefix("rack-1-") {
		names = append(names, "rack 1: "+host.Metadata().ID())
	}

	return names, nil
}

// roster names hosts once, and writes nothing.
type roster struct {
	named chan []string
}

func (*roster) Name() string { return "Roster" }

func (*roster) Inputs() []controller.Input {
	return []controller.Input{safe.Input[*Host](controller.InputWeak)}
}

func (*roster) Outputs() []controller.Output { return nil }

func (c *roster) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	names, err := named(ctx, r)
	if err != nil {
		return err
	}

	c.named <- names

	return nil
}

// A controller lists by a label, and walks over the ids that begin in one way.
func Example_lookUps() {
	st := newState()

	engine, err := runtime.NewRuntime(st, nil, options.WithCachedResource(namespace, hostType))
	must(err)

	for _, id := range []string{"rack-1-a", "rack-1-b", "rack-2-a"} {
		host := newHost(id, "192.0.2.1")
		if id != "rack-1-a" {
			host.Metadata().Labels().Set("role", "web")
		}

		must(st.Create(context.Background(), host))
	}

	names := &roster{named: make(chan []string, 1)}

	run(engine, func(context.Context) {
		must(engine.RegisterController(names))

		for _, name := range <-names.named {
			fmt.Println(name)
		}

		must(engine.Unregister(context.Background(), "Roster"))
	})

	// Output:
	// web: rack-1-b
	// web: rack-2-a
	// rack 1: rack-1-a
	// rack 1: rack-1-b
}
