package main

import (
	"context"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"
)

// classic is a classic controller; without a function it waits for its end.
type classic struct {
	name    string
	inputs  []controller.Input
	outputs []controller.Output
	run     func(ctx context.Context, r controller.Runtime) error
}

func (c *classic) Name() string                 { return c.name }
func (c *classic) Inputs() []controller.Input   { return c.inputs }
func (c *classic) Outputs() []controller.Output { return c.outputs }

func (c *classic) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	if c.run != nil {
		return c.run(ctx, r)
	}

	<-ctx.Done()

	return nil
}

// onWakeup returns a function for a classic controller that calls pass for each wakeup.
func onWakeup(pass func(ctx context.Context, r controller.Runtime) error) func(context.Context, controller.Runtime) error {
	return func(ctx context.Context, r controller.Runtime) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-r.EventCh():
			}

			if err := pass(ctx, r); err != nil {
				return err
			}
		}
	}
}

// lend returns a function for a classic controller that hands its view of the state to whoever reads the channel.
func lend(to chan<- controller.Runtime) func(context.Context, controller.Runtime) error {
	return func(ctx context.Context, r controller.Runtime) error {
		select {
		case to <- r:
			<-ctx.Done()
		case <-ctx.Done():
		}

		return nil
	}
}

// queued is a queue controller.
type queued struct {
	name      string
	inputs    []controller.Input
	outputs   []controller.Output
	workers   uint
	reconcile func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error
	mapInput  func(controller.ReducedResourceMetadata) ([]resource.Pointer, error)
}

func (q *queued) Name() string { return q.name }

func (q *queued) Settings() controller.QSettings {
	return controller.QSettings{Inputs: q.inputs, Outputs: q.outputs, Concurrency: optional.Some(max(q.workers, 1))}
}

func (q *queued) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	return q.reconcile(ctx, r, ptr)
}

func (q *queued) MapInput(
	_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	return q.mapInput(md)
}

// goal is reached after so many hits.
type goal struct {
	left    atomic.Int64
	reached chan struct{}
}

func newGoal(hits int) *goal {
	g := &goal{reached: make(chan struct{})}
	g.left.Store(int64(hits))

	return g
}

func (g *goal) hit() {
	if g.left.Add(-1) == 0 {
		close(g.reached)
	}
}
