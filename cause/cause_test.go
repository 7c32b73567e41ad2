package cause_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/reduced"
)

var hosts = reduced.Kind{Namespace: "net", Type: "Hosts"}

func key(id string) reduced.Key { return reduced.Key{Kind: hosts, ID: id} }

func one(id string, from, to uint64, events uint32, changed reduced.Change) cause.Cause {
	return cause.Cause{Resource: key(id), Change: change(from, to, events, changed)}
}

func change(from, to uint64, events uint32, changed reduced.Change) cause.Change {
	return cause.Change{Input: controller.InputWeak, From: from, To: to, Events: events, Changed: changed}
}

func TestCausesSayWhatHasHappened(t *testing.T) {
	t.Parallel()

	for want, c := range map[string]cause.Cause{
		"Hosts(net/a) v1: created":                 one("a", 0, 1, 1, reduced.ChangeCreated),
		"Hosts(net/a) v3 → v5: spec, labels":       one("a", 3, 5, 2, reduced.ChangeSpec|reduced.ChangeLabels),
		"Hosts(net/a) v5: destroyed":               one("a", 5, 5, 1, reduced.ChangeDestroyed),
		"Hosts(net/a) v5 → v2: created, destroyed": one("a", 5, 2, 3, reduced.ChangeCreated|reduced.ChangeDestroyed),
		"Hosts(net/a) v7: found by listing":        one("a", 6, 7, 1, reduced.ChangeListed),
	} {
		require.Equal(t, want, c.String())
	}

	require.Equal(t, "retry, mapped", (cause.Retried | cause.Mapped).String())
	require.Empty(t, cause.Reasons(0).String())
	require.Equal(t, "modify Hosts(net/a) v3", cause.Access{Resource: key("a"), Verb: "modify", Version: 3}.String())
	require.Equal(t, "Hosts(net/a)", cause.Access{Resource: key("a")}.String())
}

// What is merged is one cause for each resource and input, and what there is no room for is counted.
func TestSetsMergeAndCount(t *testing.T) {
	t.Parallel()

	var set, shared, again *cause.Set

	for i := range 3 * cause.Most {
		c := cause.One(one(fmt.Sprint(i%(2*cause.Most)), uint64(i), uint64(i+1), 1, reduced.ChangeSpec))
		set = set.Then(c)
		shared, again = shared.Shared(c), again.Shared(c)
		require.Same(t, shared, again)
	}

	for name, set := range map[string]*cause.Set{"one by one": set, "shared": shared} {
		tr := cause.New(cause.Config{Controller: "c"})
		tr.Begin(&cause.Begin{Causes: set})

		p := tr.Passes()[0]
		require.Len(t, p.Causes, cause.Most, name)
		require.EqualValues(t, cause.Most, p.More, name)
		require.Equal(t, one("0", 0, 2*cause.Most+1, 2, reduced.ChangeSpec), p.Causes[0], name)
	}

	require.Nil(t, (*cause.Set)(nil).Then(nil))
	require.Nil(t, (*cause.Set)(nil).Shared(nil))
}

// Changes are forgotten when all have worked on them, also where each was the first of two for some, and the second for others.
func TestSharedSetsDoNotKeepEachOther(t *testing.T) {
	t.Parallel()

	var (
		waiting [2]*cause.Set
		all     []weak.Pointer[cause.Set]
	)

	for i := range 100 {
		set := cause.One(one("a", uint64(i), uint64(i+1), 1, reduced.ChangeSpec))
		all = append(all, weak.Make(set))

		for j := range waiting {
			waiting[j] = waiting[j].Shared(set)
		}

		waiting[i%2] = nil // it works on what it was told of
	}

	runtime.GC()

	kept := slices.DeleteFunc(all, func(p weak.Pointer[cause.Set]) bool { return p.Value() == nil })
	require.LessOrEqual(t, len(kept), 2)
	runtime.KeepAlive(&waiting)
}

// A tracer remembers the passes that were made last, and those that run.
func TestTracersRememberTheLastPasses(t *testing.T) {
	t.Parallel()

	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tr := cause.New(cause.Config{Controller: "c", Passes: 4})
	tr.From(epoch)

	long := tr.Begin(&cause.Begin{Kind: &hosts, ID: "long", At: time.Second})

	for i := range 10 {
		o := tr.Begin(&cause.Begin{Kind: &hosts, ID: fmt.Sprint(i), At: time.Duration(i) * time.Minute, Own: change(0, 1, 1, reduced.ChangeCreated)})
		tr.Read(t.Context(), key("r"), 7)
		o.Wrote("modify", key("w").Pointer(), 8, 9)
		o.End(time.Duration(i)*time.Minute+time.Second, cause.Failed, errors.New("broken"), time.Minute)
	}

	passes := tr.Passes()
	require.Len(t, passes, 5)
	require.Equal(t, cause.Pass{
		Controller: "c", Number: 11, Item: key("9"), Began: epoch.Add(9 * time.Minute), Ended: epoch.Add(9*time.Minute + time.Second),
		Outcome: cause.Failed, Failure: "broken", Again: time.Minute, Causes: []cause.Cause{one("9", 0, 1, 1, reduced.ChangeCreated)},
		Reads:  []cause.Access{{Resource: key("r"), Version: 7}},
		Writes: []cause.Access{{Resource: key("w"), Verb: "modify", Version: 8, Life: 9}},
	}, passes[0])
	require.EqualValues(t, 1, passes[4].Number, "one that runs is not forgotten")
	require.Equal(t, cause.Running, passes[4].Outcome)
	require.Zero(t, passes[4].Ended)

	long.End(time.Hour, cause.Succeeded, nil, 0)
	require.Equal(t, epoch.Add(time.Hour), tr.Passes()[3].Ended)
}

// More accesses than are remembered are counted.
func TestAccessesAreCounted(t *testing.T) {
	t.Parallel()

	tr := cause.New(cause.Config{Controller: "c"})
	o := tr.Begin(&cause.Begin{})

	for i := range 100 {
		tr.Read(t.Context(), key("r"), uint64(i))
		o.Wrote("update", key("w").Pointer(), uint64(i), 0)
	}

	counted := func(p cause.Pass, reads int) {
		require.Equal(t, reads, len(p.Reads)+p.MoreReads)
		require.Positive(t, p.MoreReads)
	}

	counted(tr.Passes()[0], 100)
	require.Equal(t, 100, len(tr.Passes()[0].Writes)+tr.Passes()[0].MoreWrites)

	next := o.Next(time.Second, cause.Succeeded, &cause.Begin{})

	var reading sync.WaitGroup

	for range 8 {
		reading.Go(func() {
			for range 10 {
				tr.Read(t.Context(), key("r"), 1)
			}
		})
	}

	reading.Wait()
	counted(tr.Passes()[0], 80)
	counted(tr.Passes()[1], 100)
	next.End(2*time.Second, cause.Succeeded, nil, 0)
	counted(tr.Passes()[0], 80)
}

// A call is in the pass of its context where several run at once, and otherwise in the one that runs.
func TestCallsAreInTheirPass(t *testing.T) {
	t.Parallel()

	single := cause.New(cause.Config{Controller: "c"})
	require.Nil(t, single.In(t.Context()))

	o := single.Begin(&cause.Begin{})
	require.Same(t, o, single.In(t.Context()))
	o.End(0, cause.Succeeded, nil, 0)
	require.Nil(t, single.In(t.Context()))

	several := cause.New(cause.Config{Controller: "c", Workers: 2})
	a, b := several.Within(t.Context()), several.Within(t.Context())
	first, second := a.Begin(&cause.Begin{}), b.Begin(&cause.Begin{})

	type other struct{}

	require.Same(t, first, several.In(context.WithValue(a, other{}, 1)))
	require.Same(t, second, several.In(b))
	require.Nil(t, several.In(t.Context()))

	first.End(0, cause.Succeeded, nil, 0)
	require.Nil(t, several.In(a))
	require.Same(t, second, several.In(b))
}

// Where nothing is remembered, everything can be called all the same.
func TestNothingIsRememberedOfNothing(t *testing.T) {
	t.Parallel()

	var tr *cause.Tracer

	o := tr.Begin(&cause.Begin{})
	tr.Read(t.Context(), key("r"), 1)
	o.Wrote("update", key("w").Pointer(), 1, 0)
	o.End(0, cause.Failed, errors.New("broken"), 0)
	tr.From(time.Time{})

	require.Nil(t, tr.In(t.Context()))
	require.Empty(t, tr.Passes())
	require.False(t, tr.Several())
}

// Once as many passes were made as are remembered, another one takes no memory.
func TestPassesTakeNoMemory(t *testing.T) {
	tr := cause.New(cause.Config{Controller: "c"})
	k, ptr := key("a"), key("w").Pointer()
	set := cause.One(one("m", 1, 2, 1, reduced.ChangeSpec))

	pass := func() {
		o := tr.Begin(&cause.Begin{Kind: &hosts, ID: "a", Own: change(1, 2, 1, reduced.ChangeSpec), Causes: set})
		tr.Read(t.Context(), k, 1)
		tr.Read(t.Context(), k, 2)
		o.Wrote("update", ptr, 3, 4)
		o.End(0, cause.Succeeded, nil, 0)
	}

	for range 2 * cause.DefaultPasses {
		pass()
	}

	require.Zero(t, testing.AllocsPerRun(1000, pass))
}

func BenchmarkPass(b *testing.B) {
	tr := cause.New(cause.Config{Controller: "c"})
	k, ptr := key("a"), key("w").Pointer()

	b.ReportAllocs()

	for b.Loop() {
		o := tr.Begin(&cause.Begin{Kind: &hosts, ID: "a", Own: change(1, 2, 1, reduced.ChangeSpec)})
		tr.Read(b.Context(), k, 1)
		o.Wrote("update", ptr, 3, 4)
		o.End(0, cause.Succeeded, nil, 0)
	}
}
