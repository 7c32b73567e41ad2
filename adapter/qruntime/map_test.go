package qruntime_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
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
		deliver := func(phase resource.Phase, gone bool) {
			res := conformance.NewStrResource("n", "s", "")
			res.Metadata().Labels().Set("colour", "red")
			res.Metadata().SetPhase(phase)

			if !gone {
				res.Metadata().Finalizers().Add("holder")
			}

			b.deliver(reduced.Of(res, gone), controller.InputQMapped)
		}

		deliver(resource.PhaseRunning, false)
		deliver(resource.PhaseRunning, false)
		b.Start(b.ctx)
		require.Len(t, b.passes(), 1)

		deliver(resource.PhaseTearingDown, false)
		require.Len(t, b.passes(), 1, "the change goes before the retry")

		deliver(resource.PhaseTearingDown, true)
		require.Len(t, b.passes(), 1)

		require.Equal(t, []call{
			{"red", resource.PhaseRunning, false, false, 2},
			{"red", resource.PhaseTearingDown, false, false, 3},
			{"red", resource.PhaseTearingDown, true, true, 1},
		}, calls)
	})
}

// relabel delivers one change after the other of a mapped input that shows a colour each time.
func (b *bench) relabel(colours ...string) {
	for _, colour := range colours {
		res := conformance.NewStrResource("n", "s", "")
		res.Metadata().Labels().Set("colour", colour)
		b.deliver(reduced.Of(res, false), controller.InputQMapped)
	}
}

// byColour maps to the item that is called like the colour, after it has noted the colour. The colours that are given
// here fail, once for each time they are given; those that begin with "no " are skipped.
func (b *bench) byColour(fail ...string) func(context.Context, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return func(_ context.Context, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
		colour, _ := md.Labels().Get("colour")
		b.note("colour " + colour)

		if i := slices.Index(fail, colour); i >= 0 {
			fail = slices.Delete(fail, i, i+1)

			return nil, errFailed
		}

		if strings.HasPrefix(colour, "no ") {
			return nil, errSkip
		}

		return []resource.Pointer{key("n", colour).Pointer()}, nil
	}
}

// A resource that was relabelled is mapped with each of its former labels too, at once and once for each.
func TestFormerLabelsAreMapped(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) { b.mapInput = b.byColour() }, func(t *testing.T, b *bench) {
		b.relabel("red", "green", "red", "blue")
		b.Start(b.ctx)
		requireTrace(t, b, "0s: map s", "0s: colour blue", "0s: map s", "0s: colour green", "0s: map s", "0s: colour red",
			"0s: blue", "0s: green", "0s: red")
		require.Equal(t, counted{"0", "3", "0", "0", "3", "3"}, b.counted())

		// What was mapped is over.
		b.relabel("blue")
		requireTrace(t, b, "0s: map s", "0s: colour blue", "0s: blue")
	})
}

// While it can not be mapped with all labels, nothing is to be reconciled; it is tried again with all of them, and with
// those that have come to be former ones meanwhile.
func TestFailedMappingKeepsFormerLabels(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) { b.mapInput = b.byColour("red", "red") }, func(t *testing.T, b *bench) {
		b.relabel("red", "green")
		b.Start(b.ctx)
		pass(time.Second)
		requireTrace(t, b, "0s: map s", "0s: colour green", "0s: map s", "0s: colour red",
			"1s: map s", "1s: colour green", "1s: map s", "1s: colour red")

		b.relabel("blue")
		requireTrace(t, b, "1s: map s", "1s: colour blue", "1s: map s", "1s: colour red", "1s: map s", "1s: colour green",
			"1s: blue", "1s: red", "1s: green")
	})
}

// To be skipped with some labels says nothing about the others.
func TestSkippedLabels(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) { b.mapInput = b.byColour() }, func(t *testing.T, b *bench) {
		b.relabel("red", "no green", "blue", "no black")
		b.Start(b.ctx)
		requireTrace(t, b, "0s: map s", "0s: colour no black", "0s: map s", "0s: colour red", "0s: map s", "0s: colour no green",
			"0s: map s", "0s: colour blue", "0s: red", "0s: blue")
		require.Equal(t, counted{"0", "2", "1", "0", "4", "2"}, b.counted())
	})
}

// When the former labels have become too many, it may have concerned anything.
func TestTooManyFormerLabelsConcernEverything(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) {
		b.known = []resource.ID{"a", "b"}
		b.mapInput = b.byColour("last")
	}, func(t *testing.T, b *bench) {
		for i := range reduced.MaxFormer + 1 {
			b.relabel(strconv.Itoa(i))
		}

		b.relabel("last")
		b.Start(b.ctx)
		requireTrace(t, b, "0s: map s", "0s: colour last")

		// It has failed, and is still to concern everything.
		pass(time.Second)
		requireTrace(t, b, "1s: map s", "1s: colour last", "1s: last", "1s: a", "1s: b")

		b.relabel("last")
		requireTrace(t, b, "1s: map s", "1s: colour last", "1s: last")
	})
}

// A resource may be primary and mapped: these are two things to do, each with its own backoff.
func TestMappingAndReconcilingAreTwoItems(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) { b.reconcile = script(errFailed) }, func(t *testing.T, b *bench) {
		md := reduced.Of(conformance.NewIntResource("n", "a", 0), false)

		b.deliver(md, controller.InputQPrimary)
		b.deliver(md, controller.InputQMapped)
		b.deliver(md, controller.InputQMappedDestroyReady)
		require.Equal(t, 2, b.Len())

		b.Start(b.ctx)
		pass(time.Hour)
		requireTrace(t, b, "0s: a", "0s: map a", "1s: a")
	})
}
