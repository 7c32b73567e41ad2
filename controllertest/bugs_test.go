package controllertest_test

import (
	"context"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/controllertest"
)

// bug is a mistake that authors make, in a copy of the billing controller, with the proof that finds it.
type bug struct {
	reconcile func(b *buggy, ctx context.Context, r controller.QRuntime, o *order) error
	proof     func(t *testing.T, script controllertest.Script)
	// free tells that a bill may be any number.
	free bool
	// tells is what the proof says when it has found the bug.
	tells string
}

// buggy is a copy of billing with one mistake.
type buggy struct {
	billing

	bug

	// memory is what a bug remembers that should be in the state.
	memory map[resource.ID]int
	next   int
}

func (b *buggy) Settings() controller.QSettings {
	settings := b.billing.Settings()
	settings.Concurrency = optional.Some[uint](2)

	return settings
}

func (b *buggy) Reconcile(ctx context.Context, logger *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	o, err := safe.ReaderGet[*order](ctx, r, ptr)
	if state.IsNotFoundError(err) {
		return nil
	}

	if err != nil {
		return err
	}

	return b.reconcile(b, ctx, r, o)
}

// write writes the bill of an order.
func write(ctx context.Context, r controller.QRuntime, o *order, n int) error {
	return safe.WriterModify(ctx, r, newBill(o.Metadata().ID(), 0), func(b *bill) error {
		b.TypedSpec().N = n

		return nil
	})
}

// end takes the bill of an order away, and then the finalizer.
func end(ctx context.Context, r controller.QRuntime, o *order) error {
	md := newBill(o.Metadata().ID(), 0).Metadata()

	ready, err := r.Teardown(ctx, md)

	switch {
	case state.IsNotFoundError(err):
	case err != nil:
		return err
	case !ready:
		return nil
	default:
		if err := r.Destroy(ctx, md); err != nil && !state.IsNotFoundError(err) {
			return err
		}
	}

	return r.RemoveFinalizer(ctx, o.Metadata(), "billing")
}

func tearing(o *order) bool { return o.Metadata().Phase() == resource.PhaseTearingDown }

func crashes(t *testing.T, script controllertest.Script) { controllertest.CrashSweep(t, script) }

func idempotent(t *testing.T, script controllertest.Script) {
	controllertest.AssertIdempotent(t, script)
}

func confluent(t *testing.T, script controllertest.Script) { controllertest.Confluent(t, 300, script) }

func storms(t *testing.T, script controllertest.Script) {
	controllertest.Explore(t, controllertest.Plan{Seeds: 1000, Faults: controllertest.Storm()}, script)
}

var bugs = map[string]bug{
	"finalizer removed too early": {
		proof: storms, tells: "should not be there",
		reconcile: func(_ *buggy, ctx context.Context, r controller.QRuntime, o *order) error {
			if tearing(o) {
				if err := r.RemoveFinalizer(ctx, o.Metadata(), "billing"); err != nil {
					return err
				}

				return end(ctx, r, o)
			}

			if err := r.AddFinalizer(ctx, o.Metadata(), "billing"); err != nil {
				return err
			}

			return write(ctx, r, o, 2*o.TypedSpec().N)
		},
	},
	"write before finalizer": {
		proof: storms, tells: "with seed",
		reconcile: func(_ *buggy, ctx context.Context, r controller.QRuntime, o *order) error {
			if tearing(o) {
				return end(ctx, r, o)
			}

			if err := write(ctx, r, o, 2*o.TypedSpec().N); err != nil {
				return err
			}

			return r.AddFinalizer(ctx, o.Metadata(), "billing")
		},
	},
	"error swallowed": {
		proof: storms, tells: "with seed",
		reconcile: func(_ *buggy, ctx context.Context, r controller.QRuntime, o *order) error {
			if tearing(o) {
				return end(ctx, r, o)
			}

			if err := r.AddFinalizer(ctx, o.Metadata(), "billing"); err != nil {
				return err
			}

			_ = write(ctx, r, o, 2*o.TypedSpec().N)

			return nil
		},
	},
	"truth kept in memory": {
		free: true, proof: crashes, tells: "ends in another state",
		reconcile: func(b *buggy, ctx context.Context, r controller.QRuntime, o *order) error {
			if tearing(o) {
				return end(ctx, r, o)
			}

			if err := r.AddFinalizer(ctx, o.Metadata(), "billing"); err != nil {
				return err
			}

			if b.memory[o.Metadata().ID()] == 0 {
				b.next++
				b.memory[o.Metadata().ID()] = b.next
			}

			return write(ctx, r, o, b.memory[o.Metadata().ID()])
		},
	},
	"stale read kept": {
		proof: controllertest.Run, tells: "the run fails",
		reconcile: func(b *buggy, ctx context.Context, r controller.QRuntime, o *order) error {
			if tearing(o) {
				return end(ctx, r, o)
			}

			if err := r.AddFinalizer(ctx, o.Metadata(), "billing"); err != nil {
				return err
			}

			if b.memory[o.Metadata().ID()] == 0 {
				b.memory[o.Metadata().ID()] = o.TypedSpec().N
			}

			return write(ctx, r, o, 2*b.memory[o.Metadata().ID()])
		},
	},
	"something written at each pass": {
		proof: idempotent, tells: "this was written after all controllers were woken, although nothing had changed:",
		reconcile: func(b *buggy, ctx context.Context, r controller.QRuntime, o *order) error {
			if tearing(o) {
				return end(ctx, r, o)
			}

			if err := r.AddFinalizer(ctx, o.Metadata(), "billing"); err != nil {
				return err
			}

			return safe.WriterModify(ctx, r, newBill(o.Metadata().ID(), 0), func(bill *bill) error {
				bill.TypedSpec().N = 2 * o.TypedSpec().N
				b.next++
				bill.Metadata().Annotations().Set("pass", string(rune('a'+b.next)))

				return nil
			})
		},
	},
	"first come, first served": {
		free: true, proof: confluent, tells: "two orders end in different states",
		reconcile: func(b *buggy, ctx context.Context, r controller.QRuntime, o *order) error {
			if tearing(o) {
				return end(ctx, r, o)
			}

			if err := r.AddFinalizer(ctx, o.Metadata(), "billing"); err != nil {
				return err
			}

			bills, err := safe.ReaderListAll[*bill](ctx, r)
			if err != nil {
				return err
			}

			if _, err := r.Get(ctx, newBill(o.Metadata().ID(), 0).Metadata()); err == nil {
				return nil
			}

			return write(ctx, r, o, 1+bills.Len())
		},
	},
	"half of the work taken for all of it": {
		free: true, proof: crashes, tells: "with a crash of",
		reconcile: func(_ *buggy, ctx context.Context, r controller.QRuntime, o *order) error {
			if tearing(o) {
				return end(ctx, r, o)
			}

			if o.Metadata().Finalizers().Has("billing") {
				return nil // it was dealt with before
			}

			if err := r.AddFinalizer(ctx, o.Metadata(), "billing"); err != nil {
				return err
			}

			return write(ctx, r, o, 2*o.TypedSpec().N)
		},
	},
}

// buying is the script that the proofs of bugs run.
func (b bug) buying(w *controllertest.World) {
	w.Start(func(e controller.Engine) error {
		return e.RegisterQController(&buggy{bug: b, memory: map[resource.ID]int{}})
	})
	w.Create(newOrder("a", 1), newOrder("b", 2), newOrder("c", 3))
	w.Destroy(newOrder("b", 0).Metadata())
	w.Settle()
	controllertest.Gone(w, newBill("b", 0).Metadata())
	controllertest.Update(w, newOrder("a", 0).Metadata(), func(o *order) { o.TypedSpec().N = 5 })
	w.Settle()

	if n := controllertest.Get[*bill](w, newBill("a", 0).Metadata()).TypedSpec().N; !b.free {
		require.Equal(w, 10, n)
	}
}

// Each bug is found by its proof, which tells of it.
func TestBugsAreFound(t *testing.T) {
	for name, bug := range bugs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, failing(t, name, ""), bug.tells)
		})
	}
}
