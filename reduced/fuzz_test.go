package reduced_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/internal/fuzzed"
	"github.com/switchyard-run/switchyard/reduced"
)

// seen is what one event has shown of a resource.
type seen struct {
	res  *thing
	gone bool
}

// pickSeen picks any event of the resource with the id, with versions that jump and times of creation from all ages.
func pickSeen(b *fuzzed.Bytes, id resource.ID, labels []string) seen {
	version := resource.VersionUndefined
	if v := fuzzed.One(b, []string{"undefined", "0", "1", "2", "9223372036854775807", "-1", "undefined"}); b.Often(4) {
		version, _ = resource.ParseVersion(v)
	}

	s := seen{res: &thing{resource.NewMetadata("n", "T", id, version)}, gone: b.Pick(4) == 3}

	s.res.md.SetCreated(fuzzed.One(b, []time.Time{
		{}, time.Unix(0, 0), time.Unix(0, 1), time.Unix(0, math.MaxInt64), time.Unix(0, math.MinInt64), time.Unix(math.MaxInt64/2, 0),
	}))
	s.res.md.SetPhase(resource.Phase(fuzzed.One(b, []int{0, 0, 0, 1, 1, 2, -1})))

	for range b.Pick(3) {
		s.res.md.Labels().Set(fuzzed.One(b, labels), fuzzed.One(b, labels))
	}

	if b.Pick(2) == 1 {
		s.res.md.Finalizers().Add(fuzzed.One(b, labels))
	}

	return s
}

// formerOf returns the label sets that the resource has no more, each once, the one seen last at the end.
func formerOf(events []seen) (former []map[string]string) {
	last := events[len(events)-1].res.md.Labels().Raw()

	for i := range events {
		labels := events[i].res.md.Labels().Raw()
		same := func(other map[string]string) bool { return maps.Equal(labels, other) }

		if former = slices.DeleteFunc(former, same); !same(last) {
			former = append(former, labels)
		}
	}

	return former
}

// Whatever happens to a resource, and in whatever parts it is merged, nothing is lost that a later event must not hide.
func FuzzMerge(f *testing.F) {
	f.Add([]byte("\x03abcdefgh\x00\x01\x02\x03\x04\x05\x06\x07"))
	f.Add([]byte("it was created, labelled, labelled anew, torn down, destroyed, and there it is again, as if nothing had happened"))
	f.Add([]byte("\x81\x05\x82\x83\x84\x85\x86\x87\x02\x01\x03\x01\x01\x02\x01\x00\x00\x01\x04\x03\x02\x03\x01\x00\x01\x02\x03\x04\x05"))

	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 40

		b := fuzzed.From(data)
		id, labels := b.Text(), b.Texts(6)

		var (
			events  []seen
			reduce  []reduced.Metadata
			destroy bool // seen in between
			lost    bool // more former labels than are remembered, at any time
		)

		for len(events) == 0 || b.More() && len(events) < most {
			s := pickSeen(b, id, labels)
			events, reduce = append(events, s), append(reduce, reduced.Of(s.res, s.gone))
			destroy = destroy || s.gone
			lost = lost || len(formerOf(events)) > reduced.MaxFormer
		}

		last, merged := events[len(events)-1], fold(reduce)
		md := last.res.Metadata()

		require.Equal(t, id, merged.ID())
		require.Equal(t, md.Version().Value(), merged.Version())
		require.Equal(t, last.gone, merged.Destroyed())
		require.Equal(t, md.Finalizers().Empty(), merged.FinalizersEmpty())
		require.True(t, merged.Labels().Equal(*md.Labels()))
		require.Equal(t, destroy || md.Phase() == resource.PhaseTearingDown && md.Finalizers().Empty(), merged.DestroyReady())
		require.Equal(t, reduced.Causes{Events: uint32(len(events)), FirstVersion: events[0].res.md.Version().Value()}, merged.Causes())
		require.Equal(t, merged, reduced.Merge(reduced.Metadata{}, merged))
		require.Equal(t, merged, reduced.Merge(merged, reduced.Metadata{}))

		former, all := merged.FormerLabels()
		require.Equal(t, !lost, all)

		if all {
			requireSets(t, formerOf(events), former)
		}

		if len(reduce) < 2 {
			return
		}

		// In two parts, more may be known than one by one: of labels that it had for a while too many to remember, it may have
		// some again.
		cut := 1 + b.Pick(len(reduce)-1)
		parts := reduced.Merge(fold(reduce[:cut]), fold(reduce[cut:]))
		former, all = parts.FormerLabels()

		require.True(t, all || lost)

		if all {
			requireSets(t, formerOf(events), former)
		}

		require.Equal(t, merged.WithLabels(resource.Labels{}), parts.WithLabels(resource.Labels{}))
	})
}

func requireSets(t *testing.T, want []map[string]string, got []resource.Labels) {
	t.Helper()
	require.Len(t, got, len(want))

	for i := range want {
		require.True(t, maps.Equal(want[i], got[i].Raw()), "%v, %v", want[i], got[i].Raw())
	}
}
