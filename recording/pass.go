package recording

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"
)

// recordedQController is a queue controller whose passes are recorded. Its hooks get what the engine hands to them: what
// they write is recorded as from outside.
type recordedQController struct {
	controller.QController

	rec *Recorder
}

// Reconcile implements [controller.QController].
func (c *recordedQController) Reconcile(ctx context.Context, logger *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	of := nameOf(ptr)

	_, err := c.pass(ctx, r, begin{By: Reconciled, Of: &of},
		func(ctx context.Context, r controller.QRuntime) ([]resource.Pointer, error) {
			return nil, c.QController.Reconcile(ctx, logger, r, ptr)
		})

	return err
}

// MapInput implements [controller.QController].
func (c *recordedQController) MapInput(
	ctx context.Context, logger *zap.Logger, r controller.QRuntime, md controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	of := nameOf(md)

	return c.pass(ctx, r, begin{By: Mapped, Of: &of, Facts: factsOf(md)},
		func(ctx context.Context, r controller.QRuntime) ([]resource.Pointer, error) {
			return c.QController.MapInput(ctx, logger, r, md)
		})
}

func (c *recordedQController) pass(
	ctx context.Context, r controller.QRuntime, b begin, do func(context.Context, controller.QRuntime) ([]resource.Pointer, error),
) ([]resource.Pointer, error) {
	l := &live{rec: c.rec}
	b.Controller = c.Name()
	l.enter(b)

	shown := l.show(ctx)
	o := broken // unless it returns

	defer func() {
		shown.end()
		l.endWatches()
		l.leave(o)
	}()

	items, err := do(shown, &access{trace: l, inner: r})
	o = outcomeOf(items, err)

	return items, err
}
