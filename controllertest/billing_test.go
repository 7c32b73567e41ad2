package controllertest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/controllertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ns = resource.Namespace("test")

type number struct{ N int }

func (n number) DeepCopy() number { return n }

type orderExtension struct{}

func (orderExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Orders.test.switchyard.run", DefaultNamespace: ns}
}

type billExtension struct{}

func (billExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Bills.test.switchyard.run", DefaultNamespace: ns}
}

type (
	order = typed.Resource[number, orderExtension]
	bill  = typed.Resource[number, billExtension]
)

func newOrder(id resource.ID, n int) *order {
	return typed.NewResource[number, orderExtension](resource.NewMetadata(ns, "Orders.test.switchyard.run", id, resource.VersionUndefined), number{n})
}

func newBill(id resource.ID, n int) *bill {
	return typed.NewResource[number, billExtension](resource.NewMetadata(ns, "Bills.test.switchyard.run", id, resource.VersionUndefined), number{n})
}

var errNoPaper = errors.New("no paper")

// billing writes a bill for each order, and takes it away with the order.
type billing struct {
	before func(o *order) error
}

func (*billing) Name() string { return "billing" }

func (*billing) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs: []controller.Input{
			{Namespace: ns, Type: "Orders.test.switchyard.run", Kind: controller.InputQPrimary},
			{Namespace: ns, Type: "Bills.test.switchyard.run", Kind: controller.InputQMappedDestroyReady},
		},
		Outputs: []controller.Output{{Type: "Bills.test.switchyard.run", Kind: controller.OutputExclusive}},
	}
}

func (b *billing) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	o, err := safe.ReaderGet[*order](ctx, r, ptr)
	if state.IsNotFoundError(err) {
		return nil
	}

	if err != nil {
		return err
	}

	md := newBill(ptr.ID(), 0).Metadata()

	if o.Metadata().Phase() == resource.PhaseTearingDown {
		ready, err := r.Teardown(ctx, md)
		if err != nil && !state.IsNotFoundError(err) {
			return err
		}

		if err == nil {
			if !ready {
				return nil
			}

			if err = r.Destroy(ctx, md); err != nil && !state.IsNotFoundError(err) {
				return err
			}
		}

		return r.RemoveFinalizer(ctx, ptr, "billing")
	}

	if b.before != nil {
		if err := b.before(o); err != nil {
			return err
		}
	}

	if err := r.AddFinalizer(ctx, ptr, "billing"); err != nil {
		return err
	}

	if have, err := safe.ReaderGet[*bill](ctx, r, md); err == nil && have.TypedSpec().N == 2*o.TypedSpec().N {
		return nil
	}

	return safe.WriterModify(ctx, r, newBill(ptr.ID(), 0), func(b *bill) error {
		b.TypedSpec().N = 2 * o.TypedSpec().N

		return nil
	})
}

func (*billing) MapInput(_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return []resource.Pointer{newOrder(md.ID(), 0).Metadata()}, nil
}

func withBilling(b billing) func(e controller.Engine) error {
	return func(e controller.Engine) error {
		fresh := b

		return e.RegisterQController(&fresh)
	}
}

func orders(w *controllertest.World) {
	w.Start(withBilling(billing{}))
	w.Create(newOrder("a", 1), newOrder("b", 2))
	w.Settle()
	controllertest.Update(w, newOrder("a", 0).Metadata(), func(o *order) { o.TypedSpec().N = 5 })
	w.Settle()
	require.Equal(w, 10, controllertest.Get[*bill](w, newBill("a", 0).Metadata()).TypedSpec().N)
	w.Destroy(newOrder("b", 0).Metadata())
	w.Settle()
	controllertest.Gone(w, newBill("b", 0).Metadata())
	controllertest.Gone(w, newOrder("b", 0).Metadata())
}

// A controller that is right comes through all proofs.
func TestProofsOfARightController(t *testing.T) {
	controllertest.Run(t, orders)
	controllertest.CrashSweep(t, orders)
	controllertest.AssertIdempotent(t, orders)
	controllertest.Confluent(t, 20, orders)
	controllertest.Explore(t, controllertest.Plan{Seeds: 200, Faults: controllertest.Storm()}, orders)
}

// What does not count when two ends are compared may be written by who is woken for nothing.
func TestIdempotenceIsOfWhatCounts(t *testing.T) {
	controllertest.AssertIdempotent(t, func(w *controllertest.World) {
		w.Compare(func(res resource.Resource) resource.Resource {
			if _, ok := res.(*bill); ok {
				return nil
			}

			return res
		})
		bugs["something written at each pass"].buying(w)
	})
}

// What a fake of the outside world notes stands among what the pass does that calls it, in its order.
func TestNotesOfFakesStandAmongThoseOfThePass(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		w.Start(withBilling(billing{before: func(*order) error {
			w.Logf("asked the fake")

			return nil
		}}))
		w.Create(newOrder("a", 1))
		w.Logf("all is created")
		w.Settle()

		notes := map[string][]controllertest.Note{}
		for _, turn := range w.Trace().Turns() {
			notes[turn.What] = append(notes[turn.What], turn.Notes...)
		}

		pass := "billing: reconciles Orders/a"
		require.Equal(w, []controllertest.Note{
			{By: pass, What: "asked the fake"}, {By: pass, What: "update Orders/a v2 held by billing {N:1}"}, {By: pass, What: "create Bills/a v1 {N:2}"},
		}, notes[pass][:3])
		require.Contains(w, notes["script creates Orders/a"], controllertest.Note{By: "script", What: "all is created"})
	})
}
