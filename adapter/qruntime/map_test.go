package qruntime_test

import (
	"context"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/reduced"
)

// mapsTo returns a callback that maps every input to the same items.
func mapsTo(pointers ...resource.Pointer) func(context.Context, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return func(context.Context, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
		return pointers, nil
	}
}

func TestMappedItemsAreReconciled(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) {
		b.mapInput = mapsTo(key("n", "b").Pointer(), key("n", "a").Pointer(), key("n", "b").Pointer(), key("m", "only").Pointer())
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.changeMapped("s")
		requireTrace(t, b, "0s: map s", "0s: b", "0s: a", "0s: only")
		require.Equal(t, counted{"0", "3", "0", "0", "1", "4"}, b.counted())
	})
}

// One wrong pointer, and nothing is queued: the good ones among them would be queued by each retry again.
func TestWrongPointersQueueNothing(t *testing.T) {
	t.Parallel()

	good := key("n", "good").Pointer()

	for name, test := range map[string]struct {
		wrong resource.Pointer
		says  string
	}{
		"another namespace":   {key("elsewhere", "a").Pointer(), "test/int(elsewhere/a)"},
		"an id not declared":  {key("m", "other").Pointer(), "test/int(m/other)"},
		"only a mapped input": {conformance.NewStrResource("n", "s", "").Metadata(), "test/str(n/s)"},
		"nil":                 {nil, "nil pointer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inBubble(t, func(_ *testing.T, b *bench) { b.mapInput = mapsTo(good, test.wrong, good) }, func(t *testing.T, b *bench) {
				b.Start(b.ctx)
				b.changeMapped("s")
				pass(4 * time.Second)

				requireTrace(t, b, "0s: map s", "1s: map s", "3s: map s")
				require.Equal(t, counted{"3", "0", "0", "3", "3", "0"}, b.counted())
				require.Len(t, b.failures(), 3)
				require.Contains(t, b.failures()[0].ContextMap()["error"], test.says)
				require.Contains(t, b.failures()[0].ContextMap()["error"], "index 1")
			})
		})
	}
}

// MapInput sees the last state of the resource, also in a retry that a change has come to meet.
func TestMapInputSeesTheLastState(t *testing.T) {
	t.Parallel()

	type call struct {
		colour     string
		phase      resource.Phase
		free, gone bool
		events     uint32
	}

	var calls []call

	inBubble(t, func(_ *testing.T, b *bench) {
		b.mapInput = func(_ context.Context, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
			colour, _ := md.Labels().Get("colour")
			full := md.(*reduced.Metadata)

			calls = append(calls, call{colour, md.Phase(), md.FinalizersEmpty(), full.Destroyed(), full.Causes().Events})
			md.Labels().Set("colour", "spoilt")

			if len(calls) == 1 {
				return nil, errFailed
			}

			return nil, nil
		}
	}, func(t *testing.T, b *bench) {
		deliver := func(colour string, phase resource.Phase, gone bool) {
			res := conformance.NewStrResource("n", "s", "")
			res.Metadata().Labels().Set("colour", colour)
			res.Metadata().SetPhase(phase)

			if !gone {
				res.Metadata().Finalizers().Add("holder")
			}

			md := reduced.Of(res, gone)
			b.Deliver(&md, controller.InputQMapped)
		}

		deliver("red", resource.PhaseRunning, false)
		deliver("green", resource.PhaseRunning, false)
		b.Start(b.ctx)
		require.Len(t, b.passes(), 1)

		deliver("blue", resource.PhaseTearingDown, false)
		require.Len(t, b.passes(), 1, "the change goes before the retry")

		deliver("black", resource.PhaseTearingDown, true)
		require.Len(t, b.passes(), 1)

		require.Equal(t, []call{
			{"green", resource.PhaseRunning, false, false, 2},
			{"blue", resource.PhaseTearingDown, false, false, 3},
			{"black", resource.PhaseTearingDown, true, true, 1},
		}, calls)
	})
}

// A resource may be primary and mapped: these are two things to do, each with its own backoff.
func TestMappingAndReconcilingAreTwoItems(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) { b.reconcile = script(errFailed) }, func(t *testing.T, b *bench) {
		md := reduced.Of(conformance.NewIntResource("n", "a", 0), false)

		b.Deliver(&md, controller.InputQPrimary)
		b.Deliver(&md, controller.InputQMapped)
		b.Deliver(&md, controller.InputQMappedDestroyReady)
		require.Equal(t, 2, b.Len())

		b.Start(b.ctx)
		pass(time.Hour)
		requireTrace(t, b, "0s: a", "0s: map a", "1s: a")
	})
}
