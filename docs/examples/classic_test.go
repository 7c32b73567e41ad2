package examples_test

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// dialler holds a connection to each host. Its finalizer keeps a host in the state until the connection is closed.
type dialler struct {
	connections map[resource.ID]string
}

func (*dialler) Name() string { return "Dialler" }

func (*dialler) Inputs() []controller.Input {
	return []controller.Input{safe.Input[*Host](controller.InputStrong)}
}

func (*dialler) Outputs() []controller.Output { return nil }

func (d *dialler) Run(ctx context.Context, r controller.Runtime, logger *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		if err := d.pass(ctx, r); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

func (d *dialler) pass(ctx context.Context, r controller.Runtime) error {
	hosts, err := safe.ReaderListAll[*Host](ctx, r)
	if err != nil {
		return err
	}

	for host := range hosts.All() {
		id := host.Metadata().ID()

		if host.Metadata().Phase() == resource.PhaseTearingDown {
			delete(d.connections, id)

			if err := r.RemoveFinalizer(ctx, host.Metadata(), d.Name()); err != nil {
				return err
			}

			continue
		}

		// The finalizer comes first: whoever crashes in between leaves a finalizer, not a connection.
		err := stateadapter.AddFinalizerIfRunning(ctx, r, host.Metadata(), d.Name())
		if state.IsPhaseConflictError(err) {
			continue // it is tearing down since it was listed, and a wakeup for that is on its way
		}

		if err != nil {
			return err
		}

		d.connections[id] = host.TypedSpec().Value
	}

	return nil
}

func Example_finalizers() {
	st := newState()

	engine, err := runtime.NewRuntime(st, zap.NewNop())
	must(err)

	d := &dialler{connections: map[resource.ID]string{}}
	must(engine.RegisterController(d))

	run(engine, func(ctx context.Context) {
		web := newHost("web", "192.0.2.7")
		must(st.Create(ctx, web))

		_, err := st.WatchFor(ctx, web.Metadata(), state.WithCondition(func(r resource.Resource) (bool, error) {
			return r != nil && r.Metadata().Finalizers().Has(d.Name()), nil
		}))
		must(err)

		must(st.TeardownAndDestroy(ctx, web.Metadata()))
	})

	fmt.Println("connections left:", len(d.connections))

	// Output:
	// connections left: 0
}

// prober runs when a host changes, and when somebody rings.
type prober struct {
	bell   chan struct{}
	probed chan string
}

func (*prober) Name() string { return "Prober" }

func (*prober) Inputs() []controller.Input {
	return []controller.Input{safe.Input[*Host](controller.InputWeak)}
}

func (*prober) Outputs() []controller.Output { return nil }

func (p *prober) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		cause := "a host has changed"

		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		case <-p.bell:
			cause = "the bell has rung"
		}

		p.probed <- cause
	}
}

func Example_wakingFromOutside() {
	engine, err := runtime.NewRuntime(newState(), zap.NewNop())
	must(err)

	p := &prober{bell: make(chan struct{}), probed: make(chan string)}
	must(engine.RegisterController(p))

	run(engine, func(context.Context) {
		fmt.Println(<-p.probed, "(every run begins with a wakeup)")

		p.bell <- struct{}{}
		fmt.Println(<-p.probed)

		must(engine.Trigger("Prober"))
		fmt.Println(<-p.probed, "(or so it looks)")
	})

	// Output:
	// a host has changed (every run begins with a wakeup)
	// the bell has rung
	// a host has changed (or so it looks)
}

// follower reads one host, and which one is decided at run time.
type follower struct{ seen chan string }

func (*follower) Name() string { return "Follower" }

func (*follower) Inputs() []controller.Input { return hostByID("a") }

func (*follower) Outputs() []controller.Output { return nil }

func hostByID(id resource.ID) []controller.Input {
	return []controller.Input{{Namespace: namespace, Type: hostType, ID: optional.Some(id), Kind: controller.InputWeak}}
}

func (f *follower) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	if err := r.UpdateInputs(hostByID("b")); err != nil {
		return err
	}

	_, err := safe.ReaderGetByID[*Host](ctx, r, "a")
	f.seen <- fmt.Sprint(err)

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		b, err := safe.ReaderGetByID[*Host](ctx, r, "b")
		if state.IsNotFoundError(err) {
			continue
		}

		if err != nil {
			return err
		}

		f.seen <- "b is " + b.TypedSpec().Value
	}
}

func Example_updateInputs() {
	st := newState()

	engine, err := runtime.NewRuntime(st, zap.NewNop())
	must(err)

	f := &follower{seen: make(chan string)}
	must(engine.RegisterController(f))

	run(engine, func(ctx context.Context) {
		fmt.Println(<-f.seen)
		must(st.Create(ctx, newHost("b", "192.0.2.8")))
		fmt.Println(<-f.seen)
	})

	// Output:
	// controller "Follower" may not get default/Hosts.example.dev with id "a": it is neither an input nor an output (declare it in Inputs or Settings, or call UpdateInputs; a list needs an input without an id)
	// b is 192.0.2.8
}
