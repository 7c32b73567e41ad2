package rivalry_test

import (
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/reduced"
)

// told is what rivals are told of a change when it comes, or "held".
func (b *bench) told(t require.TestingT, md reduced.Metadata) any {
	rivals, forThem := b.Delay(&md)
	require.Len(t, rivals, 2)

	if forThem == nil {
		return "held"
	}

	return forThem.Causes()
}

func newFight(t require.TestingT) *bench {
	b := newBench()
	b.fight("a", 1000, 0)
	require.Equal(t, 1, b.Len())

	return b
}

func events(n, first int) reduced.Causes {
	return reduced.Causes{Events: uint32(n), FirstVersion: uint64(first)}
}

// What rivals do is held, and told when its time has come, which takes longer and longer while they go on.
func TestRivalsAreHeldBack(t *testing.T) {
	t.Parallel()

	b := newFight(t)

	for _, interval := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second} {
		require.Equal(t, interval, b.Rivalries()[0].Interval)

		at, some := b.Next()
		require.True(t, some)
		require.Equal(t, b.clock.Now().Add(interval), at)

		first := b.versions["a"] + 1
		require.Equal(t, "held", b.told(t, b.write("left", newThing("a", 0))))
		require.Equal(t, "held", b.told(t, b.write("right", newThing("a", 1))))

		b.clock.Advance(interval - 1)
		held, over := b.Due()
		require.Empty(t, held)
		require.Empty(t, over)

		b.clock.Advance(1)
		held, over = b.Due()
		require.Empty(t, over)
		require.Len(t, held, 1)
		require.Equal(t, events(2, first), held[0].Change.Causes())
		require.Equal(t, uint64(first+1), held[0].Change.Version())
		require.Len(t, held[0].Rivals, 2)
	}
}

// When nothing is undone any more, what is held is told a last time, and it is over.
func TestRivalryEnds(t *testing.T) {
	t.Parallel()

	b := newFight(t)
	first := b.versions["a"] + 1
	require.Equal(t, "held", b.told(t, b.write("left", newThing("a", 100))))
	b.clock.Advance(time.Second)

	held, over := b.Due()
	require.Len(t, held, 1)
	assert.Equal(t, events(1, first), held[0].Change.Causes())
	require.Len(t, over, 1)
	assert.Equal(t, b.found[0], over[0])
	assert.True(t, b.None())

	_, some := b.Next()
	assert.False(t, some)

	md := b.write("left", newThing("a", 0))
	rivals, _ := b.Delay(&md)
	assert.Nil(t, rivals)
}

// Who is left alone need not wait.
func TestRivalLeaves(t *testing.T) {
	t.Parallel()

	b := newFight(t)
	first := b.versions["a"] + 1
	require.Equal(t, "held", b.told(t, b.write("left", newThing("a", 0))))

	b.Left("nobody")

	held, over := b.Due()
	assert.Empty(t, held)
	assert.Empty(t, over)

	woken := b.woken
	b.Left("right")
	assert.Greater(t, b.woken, woken)

	// What comes now is not told before what was held.
	md := b.write("left", newThing("a", 1))
	rivals, forThem := b.Delay(&md)
	require.Len(t, rivals, 1)
	assert.Equal(t, events(2, first), forThem.Causes())

	held, over = b.Due()
	assert.Empty(t, held)
	assert.Len(t, over, 1)
	assert.Equal(t, []string{"left"}, over[0].Controllers)
}

// What others do is told at once, with all that was held before it.
func TestOthersAreNotHeldBack(t *testing.T) {
	t.Parallel()

	// next is the next version of the resource, as somebody else has made it.
	next := func(b *bench) reduced.Metadata {
		b.versions["a"]++

		res := newThing("a", 5)
		res.Metadata().SetVersion(version(b.versions["a"]))

		return reduced.Of(res, false)
	}

	for name, c := range map[string]struct {
		change func(b *bench) reduced.Metadata
		events int // 0 is that it is held
	}{
		"a rival":                       {func(b *bench) reduced.Metadata { return b.write("left", newThing("a", 0)) }, 0},
		"somebody else":                 {next, 2},
		"a controller that is no rival": {func(b *bench) reduced.Metadata { return b.write("third", newThing("a", 1000)) }, 2},
		"a rival and somebody else, merged": {func(b *bench) reduced.Metadata {
			first := b.write("left", newThing("a", 0))
			return reduced.Merge(first, next(b))
		}, 3},
		"somebody else and a rival, merged": {func(b *bench) reduced.Metadata {
			first := next(b)
			return reduced.Merge(first, b.write("left", newThing("a", 0)))
		}, 3},
		"two rivals, merged": {func(b *bench) reduced.Metadata {
			first := b.write("left", newThing("a", 0))

			return reduced.Merge(first, b.write("right", newThing("a", 1)))
		}, 0},
		"a list":                    {func(b *bench) reduced.Metadata { return b.write("left", newThing("a", 0)).AfterGap() }, 2},
		"a rival destroys it":       {func(b *bench) reduced.Metadata { return b.destroy("left", "a") }, 0},
		"somebody else destroys it": {func(b *bench) reduced.Metadata { return next(b).Gone() }, 2},
		"rivals destroy and make it": {func(b *bench) reduced.Metadata {
			first := b.destroy("left", "a")

			return reduced.Merge(first, b.write("right", newThing("a", 0)).Recreated())
		}, 0},
		"somebody else makes what a rival has destroyed": {func(b *bench) reduced.Metadata {
			first := b.destroy("left", "a")

			return reduced.Merge(first, next(b).Recreated())
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newFight(t)
			require.Equal(t, "held", b.told(t, b.write("right", newThing("a", 1))))

			got := b.told(t, c.change(b))
			if c.events == 0 {
				assert.Equal(t, "held", got)
			} else {
				assert.Equal(t, uint32(c.events), got.(reduced.Causes).Events)
			}
		})
	}
}

// A change that comes before the call has returned that made it is the rival's as well; one that was not made is not.
func TestChangeComesBeforeItsCallReturns(t *testing.T) {
	t.Parallel()

	b := newFight(t)
	res := newThing("a", 0)
	md := func() reduced.Metadata {
		res.Metadata().SetVersion(version(b.versions["a"] + 1))

		return reduced.Of(res, false)
	}

	w := b.writer("left").Write(res.Metadata())
	w.OnTopOf(version(b.versions["a"]))
	assert.Equal(t, "held", b.told(t, md()))
	w.End()
	assert.Equal(t, events(2, b.versions["a"]+1), b.told(t, md()))

	w = b.writer("left").Write(res.Metadata())
	w.Ending()
	w.OnTopOf(version(b.versions["a"]))
	w.OnTopOf(version(b.versions["a"] + 7))
	assert.NotEqual(t, "held", b.told(t, md()))
	assert.NotEqual(t, "held", b.told(t, md().Gone()))
	w.End()
}

// Whatever happens in whatever order, rivals are told of everything once, and of nothing older after something newer.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		b := newFight(t)
		sent, got := 0, 0

		var last reduced.Metadata

		take := func(md *reduced.Metadata) {
			got += int(md.Causes().Events)

			if !md.SawDestroy() {
				require.GreaterOrEqual(t, md.Version(), last.Version())
			}

			last = *md
			if md.Destroyed() {
				last = reduced.Metadata{} // versions begin again
			}
		}

		send := func(md reduced.Metadata) {
			sent++

			switch rivals, forThem := b.Delay(&md); {
			case rivals == nil:
				take(&md)
			case forThem != nil:
				take(forThem)
			}
		}

		due := func() {
			held, _ := b.Due()
			for i := range held {
				take(&held[i].Change)
			}
		}

		for _, step := range rapid.SliceOfN(rapid.IntRange(0, 7), 1, 60).Draw(t, "steps") {
			switch step {
			case 0, 1:
				send(b.write("left", newThing("a", 0)))
			case 2:
				send(b.write("right", newThing("a", 1)))
			case 3:
				send(b.write("third", newThing("a", 2)))
			case 4:
				if b.versions["a"] > 0 {
					send(b.destroy("right", resource.ID("a")))
				}
			case 5:
				b.clock.Advance(700 * time.Millisecond)
				due()
			case 6:
				due()
			case 7:
				b.Left("right")
			}
		}

		for !b.None() {
			b.clock.Advance(time.Minute)
			due()
		}

		require.Equal(t, sent, got)
	})
}

// Of rivals that write at the same time, the second one may be the first to tell of it. That they go on is seen all the same.
func TestRivalsWriteAtTheSameTime(t *testing.T) {
	t.Parallel()

	b := newBench()

	// round has both of them write, right after left, and tell of it the other way round.
	round := func() {
		var told []func()

		for size, name := range []string{"left", "right"} {
			res := newThing("a", size)
			w := b.writer(name).Write(res.Metadata())
			w.OnTopOf(version(b.versions["a"]))

			b.versions["a"]++
			res.Metadata().SetVersion(version(b.versions["a"]))

			told = append(told, func() { w.Made(res); w.End() })
		}

		told[1]()
		told[0]()
	}

	for range 20 {
		round()
	}

	require.Equal(t, 1, b.Len())

	for range 20 {
		round()
		b.clock.Advance(time.Minute)

		_, over := b.Due()
		require.Empty(t, over)
	}

	b.clock.Advance(time.Minute)

	_, over := b.Due()
	require.Len(t, over, 1)
}

// So may who creates a resource be the first, before who has destroyed it.
func TestLivesAreMixedUp(t *testing.T) {
	t.Parallel()

	b := newBench()

	round := func() {
		res := newThing("a", 0)
		destroys, creates := b.writer("left").Write(res.Metadata()), b.writer("right").Write(res.Metadata())

		destroys.Ending()
		creates.OnTopOf(version(0))
		res.Metadata().SetVersion(version(1))
		creates.Made(res)
		creates.End()
		destroys.Ended()
		destroys.End()
	}

	for range 40 {
		b.destroy("left", "a")
		b.write("right", newThing("a", 0))
	}

	require.Equal(t, 1, b.Len())
	assert.Equal(t, []string{"existence"}, b.found[0].Fields)

	for range 20 {
		round()
		b.clock.Advance(time.Minute)

		_, over := b.Due()
		require.Empty(t, over)
	}
}
