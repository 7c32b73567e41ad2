package examples_test

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
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
