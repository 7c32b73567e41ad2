package controllertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/runtime"
)

// counting is a classic controller that bills the number of orders.
type counting struct{}

func (counting) Name() string { return "counting" }

func (counting) Inputs() []controller.Input {
	return []controller.Input{{Namespace: ns, Type: "Orders.test.switchyard.run", Kind: controller.InputWeak}}
}

func (counting) Outputs() []controller.Output {
	return []controller.Output{{Type: "Bills.test.switchyard.run", Kind: controller.OutputExclusive}}
}

func (counting) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		all, err := safe.ReaderListAll[*order](ctx, r)
		if err != nil {
			return err
		}

		if err = safe.WriterModify(ctx, r, newBill("all", 0), func(b *bill) error {
			b.TypedSpec().N = all.Len()

			return nil
		}); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

// An engine with deadlines of passes runs in a world as any other does, whatever the form of its controllers.
func TestWorldsOfEnginesWithDeadlines(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		w.Configure(func(cfg *runtime.Config) { cfg.PassDeadline = time.Minute })
		w.Start(func(e controller.Engine) error { return e.RegisterController(counting{}) })
		w.Create(newOrder("a", 1), newOrder("b", 2))
		w.Settle()
		require.Equal(w, 2, controllertest.Get[*bill](w, newBill("all", 0).Metadata()).TypedSpec().N)
	})
}
