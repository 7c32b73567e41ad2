package incidents_test

import (
	"context"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"
)

// maker is a queue controller that makes a resource of one kind for each of another one, of the same id and with the same text.
type maker struct {
	name     string
	from, to resource.Type
	// needs are kinds of which one of the same id has to be there, and be ready; as long as it is not, it waits.
	needs []resource.Type
	// asks is how long it waits before it looks again; 0 is for a change.
	asks time.Duration
	// holds has it put its finalizer on what it is made of, and tear down what it has made first.
	holds bool
	// does is done before a resource is made, undoes before its finalizer goes.
	does, undoes func(ctx context.Context, r controller.QRuntime, id resource.ID) error
	// writes is what it writes beside, and shares with others.
	writes  resource.Type
	workers uint
}

func (m *maker) Name() string { return m.name }

func (m *maker) Settings() controller.QSettings {
	s := controller.QSettings{Inputs: []controller.Input{{Namespace: ns, Type: m.from, Kind: controller.InputQPrimary}}}

	for _, kind := range m.needs {
		s.Inputs = append(s.Inputs, controller.Input{Namespace: ns, Type: kind, Kind: controller.InputQMapped})
	}

	if m.to != "" {
		s.Inputs = append(s.Inputs, controller.Input{Namespace: ns, Type: m.to, Kind: controller.InputQMappedDestroyReady})
	}

	if m.to != "" {
		s.Outputs = exclusive(m.to)
	}

	if m.writes != "" {
		s.Outputs = append(s.Outputs, shared(m.writes)...)
	}

	if m.workers > 0 {
		s.Concurrency = optional.Some(m.workers)
	}

	return s
}

func (m *maker) MapInput(_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return []resource.Pointer{pointer(m.from, md.ID())}, nil
}

func (m *maker) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	res, err := r.Get(ctx, ptr)

	switch {
	case state.IsNotFoundError(err):
		return nil
	case err != nil:
		return err
	case res.Metadata().Phase() == resource.PhaseTearingDown:
		return m.cleanUp(ctx, r, res)
	}

	if m.holds && !res.Metadata().Finalizers().Has(m.name) {
		if err := r.AddFinalizer(ctx, ptr, m.name); err != nil {
			return err
		}
	}

	for _, kind := range m.needs {
		if ready, err := m.ready(ctx, r, kind, ptr.ID()); !ready || err != nil {
			return err
		}
	}

	if m.does != nil {
		if err := m.does(ctx, r, ptr.ID()); err != nil {
			return err
		}
	}

	if m.to == "" {
		return nil
	}

	return r.Modify(ctx, newThing(m.to, ptr.ID(), ""), func(made resource.Resource) error {
		made.(*thing).spec.Text = res.(*thing).spec.Text

		return nil
	})
}

func (m *maker) ready(ctx context.Context, r controller.Reader, kind resource.Type, id resource.ID) (bool, error) {
	res, err := r.Get(ctx, pointer(kind, id))
	if err != nil && !state.IsNotFoundError(err) {
		return false, err
	}

	ready := err == nil

	if ready {
		for _, c := range res.(*thing).spec.Conditions {
			ready = ready && c.Status == "True"
		}
	}

	if !ready && m.asks > 0 {
		return false, controller.NewRequeueInterval(m.asks)
	}

	return ready, nil
}

func (m *maker) cleanUp(ctx context.Context, r controller.QRuntime, res resource.Resource) error {
	id := res.Metadata().ID()

	if !res.Metadata().Finalizers().Has(m.name) {
		return nil
	}

	if m.to != "" {
		ready, err := r.Teardown(ctx, pointer(m.to, id))

		switch {
		case state.IsNotFoundError(err):
		case err != nil:
			return err
		case !ready:
			return nil // it is told when the last finalizer goes
		default:
			if err := r.Destroy(ctx, pointer(m.to, id)); err != nil {
				return err
			}
		}
	}

	if m.undoes != nil {
		if err := m.undoes(ctx, r, id); err != nil {
			return err
		}
	}

	return r.RemoveFinalizer(ctx, res.Metadata(), m.name)
}

// classic is a classic controller made of a function for each wakeup, or of one for all.
type classic struct {
	name    string
	inputs  []controller.Input
	outputs []controller.Output
	pass    func(ctx context.Context, r controller.Runtime) error
	run     func(ctx context.Context, r controller.Runtime) error
}

func (c *classic) Name() string                 { return c.name }
func (c *classic) Inputs() []controller.Input   { return c.inputs }
func (c *classic) Outputs() []controller.Output { return c.outputs }

func (c *classic) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	if c.run != nil {
		return c.run(ctx, r)
	}

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		if err := c.pass(ctx, r); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

func weak(kind resource.Type) []controller.Input {
	return []controller.Input{{Namespace: ns, Type: kind, Kind: controller.InputWeak}}
}

func exclusive(kind resource.Type) []controller.Output {
	return []controller.Output{{Type: kind, Kind: controller.OutputExclusive}}
}

func shared(kind resource.Type) []controller.Output {
	return []controller.Output{{Type: kind, Kind: controller.OutputShared}}
}

// fails returns something to do that fails.
func fails(format string, args ...any) func(context.Context, controller.QRuntime, resource.ID) error {
	return func(context.Context, controller.QRuntime, resource.ID) error { return fmt.Errorf(format, args...) }
}

// takes returns something to do that takes a while.
func takes(d time.Duration) func(context.Context, controller.QRuntime, resource.ID) error {
	return func(ctx context.Context, _ controller.QRuntime, _ resource.ID) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}
}
