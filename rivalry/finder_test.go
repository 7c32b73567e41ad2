package rivalry_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
)

// Two that undo each other are found after some thirty writes, if these are fast enough.
func TestRivalsAreFound(t *testing.T) {
	t.Parallel()

	b := newBench()
	assert.Less(t, b.fight("a", 1000, 100*time.Millisecond), 40)

	require.Len(t, b.found, 1)
	assert.Equal(t, b.found, b.Rivalries())
	assert.Equal(t, "a", b.found[0].Resource.ID)
	assert.Equal(t, []string{"left", "right"}, b.found[0].Controllers)
	assert.Equal(t, []string{"spec.size"}, b.found[0].Fields)
	assert.Equal(t, 16, b.found[0].Rewrites)
	assert.Positive(t, b.woken)

	slow := newBench()
	assert.Equal(t, 1000, slow.fight("a", 1000, time.Second), "once a second harms nobody")
	assert.Empty(t, slow.found)
}

// Whatever several controllers write to one resource, as long as nobody undoes what another one has done, is no rivalry.
func TestWhatIsNoRivalry(t *testing.T) {
	t.Parallel()

	for name, write := range map[string]func(b *bench, i int){
		"counting": func(b *bench, i int) { b.write(fmt.Sprint(i%2), newThing("a", i)) },
		"nothing changes": func(b *bench, i int) {
			b.write(fmt.Sprint(i%2), newThing("a", 7))
		},
		"one alone":    func(b *bench, i int) { b.write("one", newThing("a", i%2)) },
		"each its own": func(b *bench, i int) { b.write(fmt.Sprint(i%2), newThing(fmt.Sprint(i%2), i/2%2)) },
		"each its label": func(b *bench, i int) {
			res := newThing("a", 0)
			for label := range 2 {
				res.Metadata().Labels().Set(fmt.Sprint(label), fmt.Sprint((i+label)/2%2)) // of which one has changed
			}

			b.write(fmt.Sprint((i+1)%2), res)
		},
		"each its type": func(b *bench, i int) {
			res := newThing("a", i%2)
			md := resource.NewMetadata("n", fmt.Sprint(i%2), "a", res.Metadata().Version())
			*res.Metadata() = md
			b.write(fmt.Sprint(i%2), res)
		},
		"one goes back and forth, another one counts": func(b *bench, i int) {
			res := newThing("a", i/2)
			res.Metadata().Labels().Set("odd", fmt.Sprint((i+1)/2%2))
			b.write(fmt.Sprint(i%2), res)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench()
			for i := range 10_000 {
				write(b, i)
			}

			assert.Empty(t, b.found)
		})
	}
}

// A rivalry that begins after a long time of peace is found as well.
func TestPeaceDoesNotLast(t *testing.T) {
	t.Parallel()

	b := newBench()
	for i := range 10_000 {
		b.write(fmt.Sprint(i%2), newThing("a", i))
	}

	assert.Less(t, b.fight("a", 10_000, time.Millisecond), 1200)
}

// Whatever else is written meanwhile, rivals are found.
func TestRivalsAreFoundInACrowd(t *testing.T) {
	t.Parallel()

	b := newBench()
	rounds := 0

	for ; b.Len() == 0 && rounds < 1000; rounds++ {
		b.write([]string{"left", "right"}[rounds%2], newThing("a", rounds%2))

		for i := range 2000 {
			b.write("other", newThing(fmt.Sprint("crowd", i), rounds))
		}
	}

	assert.Less(t, rounds, 40, "a resource that is written seldom has its place among others")
}

// What is remembered is bounded, however many resources are rewritten, or written by several.
func TestMemoryIsBounded(t *testing.T) {
	b := newBench()
	left, right := b.writer("left"), b.writer("right")

	write := func(w *rivalry.Writer, id resource.ID, size int) {
		res := newThing(id, size)
		call := w.Write(res.Metadata())
		call.OnTopOf(version(0))
		res.Metadata().SetVersion(version(1))
		call.Made(res)
		call.End()
	}

	before := heap()

	for i := range 20_000 {
		for turn := range 10 {
			write([]*rivalry.Writer{left, right}[turn%2], fmt.Sprint("innocent", i), 10*i+turn)
		}
	}

	assert.Less(t, heap()-before, 4<<20)
	assert.Zero(t, b.Len())

	for i := range 5000 {
		for turn := range 60 {
			write([]*rivalry.Writer{left, right}[turn%2], fmt.Sprint("bone", i), turn%2)
		}
	}

	assert.Equal(t, 4096, b.Len())
	assert.Len(t, b.Rivalries(), 4096)
	assert.Less(t, heap()-before, 16<<20)
	runtime.KeepAlive(b)
}

func heap() int {
	var stats runtime.MemStats

	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)

	return int(stats.HeapAlloc)
}

// Not parallel: it counts allocations. Nearly all writes are nobody's business.
func TestOrdinaryWritesCostNothing(t *testing.T) {
	b := newBench()
	one, other := b.writer("one"), b.writer("other")
	a, first, second := newThing("a", 0), version(0), version(1)
	a.Metadata().SetVersion(second)

	write := func(w *rivalry.Writer) {
		call := w.Write(a.Metadata())
		call.OnTopOf(first)
		call.Made(a)
		call.End()
	}

	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() { write(one) }), 1.0, "the call itself")

	for range 1000 {
		write(one)
		write(other)
	}

	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { write(one); write(other) }), 2.0, "it was looked at, and found to be harmless")
}

// A write that was not made, or did not change anything, is none.
func TestWritesThatAreNotMade(t *testing.T) {
	t.Parallel()

	b := newBench()

	for i := range 1000 {
		res := newThing("a", i%2)
		res.Metadata().SetVersion(version(5))

		w := b.writer(fmt.Sprint(i % 2)).Write(res.Metadata())
		w.OnTopOf(version(4))

		if i%2 == 0 {
			w.OnTopOf(version(5))
			w.Made(res)
		}

		w.End()
	}

	assert.Empty(t, b.found)
}

// Nobody is found while nobody is looked for.
func TestClosedFinder(t *testing.T) {
	t.Parallel()

	b := newBench()
	b.fight("a", 1000, 0)
	require.Equal(t, 1, b.Len())

	b.Close()
	assert.True(t, b.None())
	assert.Empty(t, b.Rivalries())
	assert.Equal(t, 1000, b.fight("a", 1000, 0))

	b.Open()
	b.fight("a", 10_000, 0)
	assert.Equal(t, 1, b.Len())

	var nobody *rivalry.Finder

	nobody.Open()
	nobody.Close()
	nobody.Left("w")
	assert.True(t, nobody.None())
	assert.Zero(t, nobody.Len())
	assert.Empty(t, nobody.Rivalries())

	call := nobody.Enter("w").Write(newThing("a", 0).Metadata())
	call.OnTopOf(version(0))
	call.Made(newThing("a", 0))
	call.Ending()
	call.Ended()
	call.End()

	held, over := nobody.Due()
	assert.Empty(t, held)
	assert.Empty(t, over)
}

// Many controllers write, look and are told at the same time.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewRealClock()
	f := rivalry.NewFinder(rivalry.Config{Clock: clock, Epoch: clock.Now(), Wake: func() {}, Found: func(rivalry.Rivalry) {}})
	f.Open()

	var running sync.WaitGroup

	for i := range 4 {
		w := f.Enter(fmt.Sprint(i))

		running.Go(func() {
			for n := range 2000 {
				res := newThing(fmt.Sprint(n%3), i)
				call := w.Write(res.Metadata())
				call.OnTopOf(version(n % 9))
				res.Metadata().SetVersion(version(n%9 + 1))
				call.Made(res)
				call.End()

				if n%500 == 0 {
					f.Left(w.Name())
				}
			}
		})
	}

	for n := range 2000 {
		res := newThing(fmt.Sprint(n%3), 0)
		res.Metadata().SetVersion(version(n%9 + 1))

		md := reduced.Of(res, n%7 == 0)
		f.Delay(&md)
		f.Due()
		f.Next()
		f.Rivalries()
	}

	running.Wait()
	f.Close()
	assert.Zero(t, f.Len())
}
