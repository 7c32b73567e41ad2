package origin_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/origin"
	"github.com/switchyard-run/switchyard/reduced"
)

// bench is an Own of a controller that is mapped by the integers in "n", and what it has released.
type bench struct {
	*origin.Own

	t        *testing.T
	released []string
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t}
	b.Own = origin.NewOwn([]controller.Input{input(controller.InputQMapped)}, func(md reduced.Metadata, _ controller.InputKind, own bool) {
		b.released = append(b.released, fmt.Sprintf("%d own: %t", md.Version(), own))
	})

	return b
}

func input(kind controller.InputKind) controller.Input {
	return controller.Input{Namespace: "n", Type: conformance.IntResourceType, Kind: kind}
}

// subject is the resource.
func subject() reduced.Key { return reduced.KeyOf(conformance.NewIntResource("n", "a", 0).Metadata()) }

// at is the resource as an event shows it.
func at(version uint64) reduced.Metadata   { return event(version, false) }
func gone(version uint64) reduced.Metadata { return event(version, true) }

func event(version uint64, gone bool) reduced.Metadata {
	res := conformance.NewIntResource("n", "a", 0)
	res.Metadata().SetVersion(versionOf(version))

	return reduced.Of(res, gone)
}

func versionOf(n uint64) resource.Version {
	v := resource.VersionUndefined
	for range n {
		v = v.Next()
	}

	return v
}

func merged(all ...reduced.Metadata) reduced.Metadata {
	md := all[0]
	for _, newer := range all[1:] {
		md = reduced.Merge(md, newer)
	}

	return md
}

// begin begins to write on top of a version.
func (b *bench) begin(on uint64) *origin.Write {
	w := b.Write(context.Background(), subject())
	w.OnTopOf(versionOf(on))

	return w
}

// makes writes a version.
func (b *bench) makes(version uint64) {
	w := b.begin(version - 1)
	w.Made(versionOf(version))
	w.End()
}

func (b *bench) destroys() {
	w := b.Destroy(context.Background(), subject())
	w.Ending()
	w.Ended()
	w.End()
}

// judge returns what is to become of a change, and who has made it.
func (b *bench) judge(md reduced.Metadata) string {
	verdicts := make([]origin.Verdict, 1)
	released := len(b.released)

	b.Judge([]reduced.Metadata{md}, controller.InputQMapped, verdicts)

	switch {
	case verdicts[0] != origin.Kept:
		return fmt.Sprintf("%d own: %t", md.Version(), verdicts[0] == origin.Itself)
	case len(b.released) > released:
		return "released"
	default:
		return "held"
	}
}

func TestJudgement(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		before func(*bench)
		shown  []reduced.Metadata
		want   []string
	}{
		"nothing was written":       {func(*bench) {}, []reduced.Metadata{at(1)}, []string{"1 own: false"}},
		"one version":               {func(b *bench) { b.makes(2) }, []reduced.Metadata{at(2), at(3)}, []string{"2 own: true", "3 own: false"}},
		"several, one by one":       {func(b *bench) { b.makes(2); b.makes(3) }, []reduced.Metadata{at(2), at(3)}, []string{"2 own: true", "3 own: true"}},
		"several, merged":           {func(b *bench) { b.makes(3); b.makes(2) }, []reduced.Metadata{merged(at(2), at(3))}, []string{"3 own: true"}},
		"merged with another's":     {func(b *bench) { b.makes(3) }, []reduced.Metadata{merged(at(2), at(3))}, []string{"3 own: false"}},
		"after another's":           {func(b *bench) { b.makes(3) }, []reduced.Metadata{at(2), at(3)}, []string{"2 own: false", "3 own: false"}},
		"with a gap between":        {func(b *bench) { b.makes(2); b.makes(4) }, []reduced.Metadata{at(2), at(3)}, []string{"2 own: true", "3 own: false"}},
		"listed":                    {func(b *bench) { b.makes(2) }, []reduced.Metadata{at(2).AfterGap()}, []string{"2 own: false"}},
		"loaded before it is shown": {func(b *bench) { b.makes(2); b.Loaded(subject().Kind) }, []reduced.Metadata{at(2)}, []string{"2 own: false"}},
		"destroyed":                 {func(b *bench) { b.destroys() }, []reduced.Metadata{gone(5), gone(5)}, []string{"5 own: true", "5 own: false"}},
		"written and destroyed":     {func(b *bench) { b.makes(5); b.destroys() }, []reduced.Metadata{merged(at(5), gone(5))}, []string{"5 own: true"}},
		"destroyed and created":     {func(b *bench) { b.destroys(); b.makes(1) }, []reduced.Metadata{merged(gone(5), at(1))}, []string{"1 own: true"}},
		"another's destroyed":       {func(b *bench) { b.destroys() }, []reduced.Metadata{merged(at(5), gone(5))}, []string{"5 own: false"}},
		"created by another": {
			func(b *bench) { b.destroys(); b.makes(2) }, []reduced.Metadata{merged(gone(5), at(1), at(2))}, []string{"2 own: false"},
		},
		"a write of nothing": {
			func(b *bench) { w := b.begin(1); w.Made(versionOf(1)); w.End() }, []reduced.Metadata{at(2)}, []string{"2 own: false"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			c.before(b)

			var got []string
			for _, md := range c.shown {
				got = append(got, b.judge(md))
			}

			assert.Equal(t, c.want, got)
			assert.True(t, b.Idle(), "nothing is kept")
		})
	}
}

// A change that a write under way may have made waits until that is known, and no longer.
func TestHeldChanges(t *testing.T) {
	t.Parallel()

	b := newBench(t)

	w := b.begin(1)
	require.Equal(t, "held", b.judge(at(2)))
	w.Made(versionOf(2))
	w.End()
	require.Equal(t, []string{"2 own: true"}, b.released)

	w = b.begin(2)
	require.Equal(t, "held", b.judge(at(3)))
	w.OnTopOf(versionOf(3)) // that was somebody else's, and is built upon
	require.Equal(t, "3 own: false", b.released[1])
	require.Equal(t, "held", b.judge(at(4)))
	require.Equal(t, "released", b.judge(at(5)))
	require.Equal(t, "5 own: false", b.released[2], "what was held is in it")
	w.End()

	w = b.begin(5)
	require.Equal(t, "held", b.judge(at(6)))
	w.End()
	require.Equal(t, []string{"2 own: true", "3 own: false", "5 own: false", "6 own: false"}, b.released)
	require.True(t, b.Idle())
}

// A change is not held for ever by a write that does not come back, and one that does is too late.
func TestHeldChangesAreLetGo(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.LetGo()

	w := b.begin(1)
	require.Equal(t, "held", b.judge(at(2)))
	b.LetGo()
	require.Empty(t, b.released)
	b.LetGo()
	require.Equal(t, []string{"2 own: false"}, b.released)

	w.Made(versionOf(2))
	w.End()
	require.True(t, b.Idle())
}

func TestWhatIsNotFollowed(t *testing.T) {
	t.Parallel()

	one := input(controller.InputQPrimary)
	one.ID = optional.Some("a")

	require.Nil(t, origin.NewOwn(nil, nil))
	require.Nil(t, origin.NewOwn([]controller.Input{one, input(controller.InputQMapped)}, nil), "a change comes twice")

	o := origin.NewOwn([]controller.Input{one}, nil)
	w := o.Write(context.Background(), reduced.KeyOf(conformance.NewIntResource("n", "b", 0).Metadata()))
	w.OnTopOf(resource.VersionUndefined)
	w.Made(versionOf(1))
	w.End()
	require.True(t, o.Idle())
	require.Zero(t, o.Made())

	ends := origin.NewOwn([]controller.Input{input(controller.InputQMappedDestroyReady)}, nil)
	w = ends.Write(context.Background(), subject())
	w.OnTopOf(resource.VersionUndefined)
	w.Made(versionOf(1))
	w.End()
	require.True(t, ends.Idle(), "the controller is told of the end only")
}

// However much is written that nobody is shown, what is kept of it is bounded.
func TestNotesAreBounded(t *testing.T) {
	t.Parallel()

	o := origin.NewOwn([]controller.Input{input(controller.InputQMapped)}, nil)

	for i := range 10_000 {
		w := o.Write(context.Background(), reduced.KeyOf(conformance.NewIntResource("n", fmt.Sprint(i), 0).Metadata()))
		w.OnTopOf(resource.VersionUndefined)
		w.Made(versionOf(1))
		w.End()
	}

	md := reduced.Of(conformance.NewIntResource("n", "0", 0), false)
	verdicts := make([]origin.Verdict, 1)
	o.Judge([]reduced.Metadata{md}, controller.InputQMapped, verdicts)
	require.Equal(t, []origin.Verdict{origin.Others}, verdicts)

	b := newBench(t)

	for version := uint64(2); version < 1000; version += 2 {
		b.makes(version)
	}

	require.Equal(t, "3 own: false", b.judge(at(3)))
	require.True(t, b.Idle())
}

// Workers write at once, and the delivery asks at the same time. It is for the race detector.
func TestWritesAtOnce(t *testing.T) {
	t.Parallel()

	o := origin.NewOwn([]controller.Input{input(controller.InputQMapped)}, func(reduced.Metadata, controller.InputKind, bool) {})

	var all sync.WaitGroup

	for worker := range 4 {
		ptr := conformance.NewIntResource("n", fmt.Sprint(worker), 0)

		all.Go(func() {
			for range 100 {
				w := o.Write(context.Background(), reduced.KeyOf(ptr.Metadata()))
				w.OnTopOf(resource.VersionUndefined)
				w.Made(versionOf(1))
				w.End()
				o.Judge([]reduced.Metadata{reduced.Of(ptr, false)}, controller.InputQMapped, make([]origin.Verdict, 1))
			}
		})
	}

	all.Wait()
	require.EqualValues(t, 400, o.Made())
	o.Loaded(subject().Kind)
	require.True(t, o.Idle())
}
