package queue_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/queue"
)

// bench is a Keyed on a clock moved by hand, and a count of the calls of its ready function.
type bench struct {
	*queue.Keyed[string, string]

	clk  *handClock
	told int
}

func newBench(t *testing.T) *bench {
	t.Helper()

	b := &bench{clk: newHandClock()}
	b.Keyed = queue.NewKeyed(b.clk, queue.KeyedConfig[string, string]{
		Merge: func(older, newer string) string { return older + "+" + newer },
		Ready: func() { b.told++ },
	})

	t.Cleanup(b.Stop)

	return b
}

// take takes the next key and returns it with its value as "key=value", "" if there is none.
func (b *bench) take() string {
	key, value, ok := b.Take()
	if !ok {
		return ""
	}

	return key + "=" + value
}

func TestKeyedPut(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		// before brings the key "a" into a state, with value 1 unless it is nowhere.
		before func(*bench)
		lane   queue.Lane
		// told is whether the put calls the ready function, want what can be taken afterwards.
		told int
		want []string
	}{
		"nowhere": {
			before: func(*bench) {}, lane: queue.Live,
			told: 1, want: []string{"a=2"},
		},
		"ready, keeps its place": {
			before: func(b *bench) { b.Put("a", "1", queue.Live); b.Put("b", "1", queue.Live) }, lane: queue.Live,
			told: 0, want: []string{"a=1+2", "b=1"},
		},
		"ready, is not downgraded": {
			before: func(b *bench) { b.Put("f", "1", queue.Fill); b.Put("a", "1", queue.Live) }, lane: queue.Fill,
			told: 0, want: []string{"a=1+2", "f=1"},
		},
		"in Fill, moves to the end of Live": {
			before: func(b *bench) {
				b.Put("f", "1", queue.Fill)
				b.Put("a", "1", queue.Fill)
				b.Put("b", "1", queue.Live)
			},
			lane: queue.Live,
			told: 0, want: []string{"b=1", "a=1+2", "f=1"},
		},
		"delayed, Live cancels the delay": {
			before: func(b *bench) { b.Put("a", "0", queue.Live); b.Take(); b.Retry("a", "1", time.Hour) }, lane: queue.Live,
			told: 1, want: []string{"a=1+2"},
		},
		"delayed, Fill leaves the delay": {
			before: func(b *bench) { b.Put("a", "0", queue.Live); b.Take(); b.Retry("a", "1", time.Hour) }, lane: queue.Fill,
			told: 0, want: nil,
		},
		"processing": {
			before: func(b *bench) { b.Put("a", "0", queue.Live); b.Take() }, lane: queue.Live,
			told: 0, want: nil,
		},
		"failed and forgotten about": {
			before: func(b *bench) { b.Fail("a") }, lane: queue.Live,
			told: 1, want: []string{"a=2"},
		},
		"any other lane is Fill": {
			before: func(b *bench) { b.Put("a", "1", 7); b.Put("b", "1", queue.Live) }, lane: 200,
			told: 0, want: []string{"b=1", "a=1+2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			c.before(b)
			b.told = 0
			b.Put("a", "2", c.lane)
			assert.Equal(t, c.told, b.told)

			var got []string
			for item := b.take(); item != ""; item = b.take() {
				got = append(got, item)
			}

			assert.Equal(t, c.want, got)
		})
	}
}

func TestKeyedFillPutMergesIntoADelay(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.Put("a", "0", queue.Live)
	b.Take()
	b.Retry("a", "1", time.Minute)
	b.Put("a", "2", queue.Fill)
	b.clk.advance(time.Minute - 1)
	assert.Empty(t, b.take())
	b.clk.advance(1)
	assert.Equal(t, "a=1+2", b.take())
}

func TestKeyedPutWhileProcessingComesBackOnceAtDone(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.Put("a", "1", queue.Fill)
	b.Take()
	b.Put("a", "2", queue.Fill)
	b.Put("a", "3", queue.Live)
	b.Put("a", "4", queue.Fill)
	b.Put("b", "1", queue.Live)
	b.Put("c", "1", queue.Fill)
	b.told = 0

	assert.False(t, slices.ContainsFunc(b.Pending(), func(i queue.PendingItem[string]) bool {
		return i.Key == "a" && i.State != queue.Processing
	}))

	b.Done("a")
	assert.Equal(t, 1, b.told)
	assert.Equal(t, "b=1", b.take())
	assert.Equal(t, "a=2+3+4", b.take(), "in Live, the most urgent of the lanes")
	b.Done("a")
	assert.Equal(t, "c=1", b.take())
	assert.Empty(t, b.take())
	assert.Equal(t, 1, b.told)
}

func TestKeyedRetry(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		taken     queue.Lane
		meanwhile []queue.Lane
		delay     time.Duration
		// now is what can be taken at once, later what after the delay. There is a ready key in each lane.
		now, later []string
	}{
		"delayed":                    {delay: time.Second, now: []string{"live=", "fill="}, later: []string{"a=1"}},
		"without delay":              {now: []string{"live=", "a=1", "fill="}},
		"negative delay":             {delay: -1, now: []string{"live=", "a=1", "fill="}},
		"of Fill, delayed":           {delay: time.Second, taken: queue.Fill, now: []string{"live=", "fill="}, later: []string{"a=1"}},
		"of Fill stays in Fill":      {taken: queue.Fill, now: []string{"live=", "fill=", "a=1"}},
		"a Live put overtakes":       {delay: time.Second, meanwhile: []queue.Lane{queue.Live}, now: []string{"live=", "a=1+0", "fill="}},
		"a Fill put does not":        {delay: time.Second, meanwhile: []queue.Lane{queue.Fill}, now: []string{"live=", "fill="}, later: []string{"a=1+0"}},
		"a Live put after Fill puts": {delay: time.Second, taken: queue.Fill, meanwhile: []queue.Lane{queue.Fill, queue.Live}, now: []string{"live=", "a=1+0+1", "fill="}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.Put("a", "0", c.taken)
			b.Take()

			for i, lane := range c.meanwhile {
				b.Put("a", fmt.Sprint(i), lane)
			}

			b.Put("live", "", queue.Live)
			b.Put("fill", "", queue.Fill)
			b.Retry("a", "1", c.delay)

			takeAll := func() (got []string) {
				for item := b.take(); item != ""; item = b.take() {
					got = append(got, item)
				}

				return got
			}

			assert.Equal(t, c.now, takeAll())
			b.clk.advance(time.Second)
			assert.Equal(t, c.later, takeAll())
		})
	}
}

func TestKeyedDoneAndRetryAreForKeysThatAreOut(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.Done("a")
	b.Retry("a", "1", 0)
	assert.Zero(t, b.Stats())

	b.Put("a", "1", queue.Live)
	b.Done("a")
	b.Retry("a", "2", time.Hour)
	assert.Equal(t, "a=1", b.take())

	b.Retry("a", "2", time.Hour)
	b.Done("a")
	b.Retry("a", "3", 0)
	assert.Equal(t, queue.Stats{Delayed: 1}, b.Stats())
}

func TestKeyedWithoutMergeTheNewerValueWins(t *testing.T) {
	t.Parallel()

	q := queue.NewKeyed(nil, queue.KeyedConfig[string, int]{})
	defer q.Stop()

	q.Put("a", 1, queue.Live)
	q.Put("a", 2, queue.Live)
	_, value, _ := q.Take()
	assert.Equal(t, 2, value)

	q.Put("a", 3, queue.Live)
	q.Retry("a", 4, 0)
	_, value, _ = q.Take()
	assert.Equal(t, 3, value, "the put is newer than the retry")
}

func TestKeyedLanesShare(t *testing.T) {
	t.Parallel()

	b := newBench(t)

	for range 40 {
		b.Put("early", "", queue.Live)
		b.Take()
		b.Done("early")
	}

	for i := range 3 {
		b.Put(fmt.Sprint("fill", i), "", queue.Fill)
	}

	for i := range 40 {
		b.Put(fmt.Sprint("live", i), "", queue.Live)
	}

	var order []string
	for item := b.take(); item != ""; item = b.take() {
		order = append(order, item)
	}

	for fill, at := range map[string]int{"fill0=": 16, "fill1=": 33, "fill2=": 42} {
		assert.Equal(t, at, slices.Index(order, fill), "%s in %v", fill, order)
	}
}

// Only Live keys that overtake a waiting Fill key count, and they count anew for the next.
func TestKeyedRunOfLiveKeysBeginsWithAWaitingFillKey(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.Put("overtaken", "", queue.Fill)

	for i := range 50 {
		b.Put(fmt.Sprint("live", i), "", queue.Live)
	}

	for range 10 {
		b.Take()
	}

	b.Put("overtaken", "", queue.Live)
	b.Take()
	b.Put("fill", "", queue.Fill)

	for range 16 {
		assert.Contains(t, b.take(), "live")
	}

	assert.Equal(t, "fill=", b.take())
}

func TestKeyedNeitherLaneStarves(t *testing.T) {
	t.Parallel()

	b := newBench(t)

	for i := range 100 {
		b.Put(fmt.Sprint("fill", i), "", queue.Fill)
	}

	fills, lives := 0, 0

	for i := 0; fills < 100; i++ {
		b.Put("busy", "", queue.Live)

		key, _, ok := b.Take()
		require.True(t, ok)
		b.Done(key)

		if key == "busy" {
			lives++
		} else {
			fills++
		}
	}

	assert.Equal(t, 1600, lives)
}

func TestKeyedPutAll(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.PutAll(all[string, string](), queue.Fill)
	assert.Zero(t, b.told)

	items := []item[string, string]{{"a", "1"}, {"b", "2"}, {"a", "3"}}
	b.PutAll(all(items...), queue.Fill)
	assert.Equal(t, 1, b.told, "one call of the ready function for all")
	b.PutAll(all(items[:1]...), queue.Fill)
	assert.Equal(t, 1, b.told, "nothing new is ready")

	clear(items)
	assert.Equal(t, "a=1+3+1", b.take())
	assert.Equal(t, "b=2", b.take())
}

func TestKeyedFailures(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	assert.Equal(t, 1, b.Fail("a"))
	assert.Equal(t, 2, b.Fail("a"))
	assert.Equal(t, 1, b.Fail("b"))
	assert.Zero(t, b.Stats(), "failures are not work")
	assert.Empty(t, b.Pending())

	b.Put("a", "", queue.Live)
	b.Take()
	b.Done("a")
	assert.Equal(t, 2, b.Failures("a"), "they outlive the processing")

	b.Put("a", "", queue.Live)
	b.Take()
	assert.Equal(t, 3, b.Fail("a"))
	b.Retry("a", "", time.Second)
	b.Forget("a")
	assert.Zero(t, b.Failures("a"))
	assert.Equal(t, 1, b.Failures("b"))
	b.clk.advance(time.Second)
	assert.Equal(t, "a=", b.take(), "the delay was not cancelled")
	b.Forget("never seen")
}

func TestKeyedTimerTellsOfReadyKeys(t *testing.T) {
	t.Parallel()

	b := newBench(t)

	for i := range 10 {
		key := fmt.Sprint(i)
		b.Put(key, key, queue.Live)
		b.Take()
		b.Retry(key, key, time.Duration(1+i/5)*time.Second)
	}

	b.told = 0
	b.clk.advance(time.Second)
	assert.Equal(t, 1, b.told, "once for all that are due together")
	assert.Equal(t, 5, b.Len())
	b.clk.advance(time.Second)
	assert.Equal(t, 2, b.told)
	assert.Equal(t, 10, b.Len())
	assert.Zero(t, b.clk.running())
}

func TestKeyedLookingDoesNotTellAndTheTimerStillDoes(t *testing.T) {
	t.Parallel()

	for name, look := range map[string]func(*bench){
		"Len":     func(b *bench) { assert.Equal(t, 2, b.Len()) },
		"Stats":   func(b *bench) { assert.Equal(t, 2, b.Stats().Ready) },
		"Pending": func(b *bench) { assert.Equal(t, queue.Ready, b.Pending()[0].State) },
		"Take":    func(b *bench) { assert.Equal(t, "a=1", b.take()) },
		"Forget":  func(b *bench) { b.Forget("a") },
		"Fail":    func(b *bench) { b.Fail("a") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)

			for _, key := range []string{"a", "b"} {
				b.Put(key, "0", queue.Live)
				b.Take()
				b.Retry(key, "1", time.Second)
			}

			b.told = 0
			b.clk.move(time.Second)
			look(b)
			assert.Zero(t, b.told)
			b.clk.fire()
			assert.Equal(t, 1, b.told)
			assert.True(t, b.HasReady())
		})
	}
}

func TestKeyedTimerDoesNotTellOfWhatIsTaken(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.Put("a", "0", queue.Live)
	b.Take()
	b.Retry("a", "1", time.Second)
	b.told = 0

	b.clk.move(time.Second)
	assert.Equal(t, "a=1", b.take())
	b.clk.fire()
	assert.Zero(t, b.told)
}

func TestKeyedReadyIsToldOnceWhoeverComesFirst(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.Put("a", "0", queue.Live)
	b.Take()
	b.Retry("a", "1", time.Second)
	b.told = 0

	b.clk.move(time.Second)
	b.Put("b", "1", queue.Live)
	assert.Equal(t, 1, b.told, "the put comes before the timer and tells of both")
	b.clk.fire()
	assert.Equal(t, 1, b.told)
	assert.Equal(t, "a=1", b.take(), "it was due before the other was put")
}

func TestKeyedWhatIsDueGoesBeforeWhatBecomesReadyNow(t *testing.T) {
	t.Parallel()

	for how, makeReady := range map[string]func(*bench){
		"Put":    func(b *bench) { b.Put("new", "", queue.Live) },
		"PutAll": func(b *bench) { b.PutAll(all(item[string, string]{key: "new"}), queue.Live) },
		"Done":   func(b *bench) { b.Done("again") },
		"Retry":  func(b *bench) { b.Retry("again", "", 0) },
	} {
		b := newBench(t)

		for _, key := range []string{"due", "again"} {
			b.Put(key, "", queue.Live)
			b.Take()
		}

		b.Retry("due", "", time.Second)
		b.Put("again", "", queue.Live)
		b.clk.move(2 * time.Second)
		makeReady(b)
		assert.Equal(t, time.Second, b.Stats().OldestWait)
		assert.Equal(t, "due=", b.take(), how)
		assert.NotEmpty(t, b.take(), how)
	}
}

func TestKeyedReadyMayCallTheQueue(t *testing.T) {
	t.Parallel()

	var (
		q    *queue.Keyed[int, string]
		seen []int
	)

	clk := newHandClock()
	q = queue.NewKeyed(clk, queue.KeyedConfig[int, string]{Ready: func() {
		for key, value, ok := q.Take(); ok; key, value, ok = q.Take() {
			seen = append(seen, key)

			if key < 5 {
				q.PutAll(all(item[int, string]{key: key + 1}), queue.Live)
			}

			if value == "again" {
				q.Retry(key, "", time.Hour)
			} else {
				q.Done(key)
			}

			q.Pending()
		}
	}})

	defer q.Stop()

	q.Put(4, "again", queue.Live)
	assert.Equal(t, []int{4, 5}, seen)
	clk.advance(time.Hour)
	assert.Equal(t, []int{4, 5, 4, 5}, seen)
}

func TestKeyedStop(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.Put("out", "1", queue.Live)
	b.Put("out, put again", "1", queue.Live)
	b.Put("delayed", "1", queue.Live)

	for range 3 {
		b.Take()
	}

	b.Retry("delayed", "1", time.Hour)
	b.Put("out, put again", "2", queue.Live)
	b.Put("ready", "1", queue.Fill)
	b.Fail("ready")
	b.Fail("out")
	b.told = 0

	b.Stop()
	b.Stop()
	assert.Zero(t, b.clk.running())
	assert.Equal(t, queue.Stats{Processing: 2}, b.Stats())
	assert.Zero(t, b.Failures("ready"))
	assert.Equal(t, 2, b.Fail("out"))

	b.Put("too late", "1", queue.Live)
	b.PutAll(all(item[string, string]{key: "too late"}), queue.Live)
	b.Put("out", "2", queue.Live)
	assert.Empty(t, b.take())
	assert.False(t, b.HasReady())
	assert.Equal(t, []queue.PendingItem[string]{
		{Key: "out", State: queue.Processing, Failures: 2},
		{Key: "out, put again", State: queue.Processing},
	}, b.Pending(), "who is still at work can be seen")

	b.Done("out, put again")
	b.Retry("out", "3", time.Second)
	assert.Zero(t, b.Stats())
	b.clk.advance(2 * time.Hour)
	assert.Empty(t, b.take())
	assert.Zero(t, b.told)
}

func TestKeyedStopWaitsForTheTimer(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		entered, release := make(chan struct{}), make(chan struct{})
		block := false
		q := queue.NewKeyed(nil, queue.KeyedConfig[string, int]{Ready: func() {
			if block {
				close(entered)
				<-release
			}
		}})

		q.Put("a", 1, queue.Live)
		q.Take()
		block = true
		q.Retry("a", 1, time.Hour)
		<-entered

		over := make(chan struct{})

		for range 2 {
			go func() { q.Stop(); over <- struct{}{} }()
		}

		synctest.Wait()

		select {
		case <-over:
			t.Error("Stop returned while the timer was running")
		default:
		}

		assert.False(t, q.HasReady(), "the queue is not locked meanwhile")
		close(release)
		<-over
		<-over
	})
}

func TestKeyedStopDoesNotWaitForAReadyThatEndedItsGoroutine(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		end := false
		q := queue.NewKeyed(nil, queue.KeyedConfig[string, int]{Ready: func() {
			if end {
				runtime.Goexit()
			}
		}})

		q.Put("a", 1, queue.Live)
		q.Take()

		end = true
		q.Retry("a", 1, time.Second)
		<-time.After(time.Minute)
		assert.Equal(t, 1, q.Len())
		q.Stop()
	})
}

func TestKeyedClockThatMovesWhileTheTimerIsSet(t *testing.T) {
	t.Parallel()

	for _, moved := range []time.Duration{time.Millisecond, 500 * time.Millisecond, time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ready := make(chan struct{}, 10)
			clk := &setClock{FakeClock: clockwork.NewFakeClock(), wrap: func(f func()) { f() }}
			left := 0
			clk.setting = func() {
				if left--; left >= 0 {
					clk.Advance(moved / 2)
				}
			}

			q := queue.NewKeyed(clk, queue.KeyedConfig[string, int]{Ready: func() { ready <- struct{}{} }})
			defer q.Stop()

			q.Put("a", 1, queue.Live)
			<-ready
			q.Take()

			left = 2
			q.Retry("a", 1, time.Second)

			if moved < time.Second {
				clk.Advance(time.Second - moved)
			}

			<-ready
			assert.True(t, q.HasReady())
		})
	}
}

func TestKeyedPending(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	start := b.clk.Now()

	for _, key := range []string{"out 1", "out 2", "late", "soon", "soon too"} {
		b.Put(key, "", queue.Fill)
		b.Take()
	}

	b.Retry("late", "", time.Hour)
	b.Retry("soon", "", time.Minute)
	b.Retry("soon too", "", time.Minute)
	b.Fail("soon")
	b.Put("out 1", "", queue.Live)
	b.Put("fill", "", queue.Fill)
	b.Put("live 1", "", queue.Live)
	b.Put("live 2", "", queue.Live)

	assert.Equal(t, []queue.PendingItem[string]{
		{Key: "live 1", State: queue.Ready},
		{Key: "live 2", State: queue.Ready},
		{Key: "fill", State: queue.Ready, Lane: queue.Fill},
		{Key: "soon", State: queue.Delayed, Lane: queue.Fill, Due: start.Add(time.Minute), Failures: 1},
		{Key: "soon too", State: queue.Delayed, Lane: queue.Fill, Due: start.Add(time.Minute)},
		{Key: "late", State: queue.Delayed, Lane: queue.Fill, Due: start.Add(time.Hour)},
		{Key: "out 1", State: queue.Processing, Lane: queue.Fill, Again: true},
		{Key: "out 2", State: queue.Processing, Lane: queue.Fill},
	}, b.Pending())
}

func TestKeyedDelayedKeysReturnToTheirLane(t *testing.T) {
	t.Parallel()

	b := newBench(t)

	for _, lane := range []queue.Lane{queue.Fill, queue.Live} {
		b.Put(lane.String(), "", lane)
		b.Take()
		b.Retry(lane.String(), "", time.Second)
	}

	b.clk.advance(time.Second)
	b.Put("now", "", queue.Live)

	for _, want := range []string{"live=", "now=", "fill="} {
		assert.Equal(t, want, b.take())
	}
}

func TestKeyedStats(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.Put("a", "", queue.Fill)
	b.clk.advance(time.Second)
	b.Put("b", "", queue.Live)
	b.clk.advance(time.Second)
	assert.Equal(t, queue.Stats{Ready: 2, OldestWait: 2 * time.Second}, b.Stats())

	b.Put("a", "", queue.Live)
	assert.Equal(t, queue.Stats{Ready: 2, OldestWait: time.Second}, b.Stats(), "it waits in its new lane from now on")

	b.Take()
	b.Retry("b", "", time.Second)
	b.Take()
	b.clk.advance(3 * time.Second)
	assert.Equal(t, queue.Stats{Ready: 1, Processing: 1, OldestWait: 2 * time.Second}, b.Stats(),
		"a delayed key waits from its due time on")
}

// Many delays, many of them cancelled, come in the order of their due times.
func TestKeyedManyDelaysKeepTheirOrder(t *testing.T) {
	t.Parallel()

	type delayed struct {
		key int
		due time.Duration
	}

	const n = 20_000

	random := rand.New(rand.NewPCG(1, 2))
	clk := newHandClock()
	q := queue.NewKeyed(clk, queue.KeyedConfig[int, int]{})

	defer q.Stop()

	var want []delayed

	for key := range n {
		q.Put(key, key, queue.Live)
		q.Take()

		d := delayed{key, time.Duration(1+random.IntN(n/10)) * time.Second}
		q.Retry(key, key, d.due)

		want = append(want, d)
	}

	random.Shuffle(n, func(i, j int) { want[i], want[j] = want[j], want[i] })

	for _, d := range want[n/2:] {
		q.Put(d.key, 0, queue.Live)

		key, _, ok := q.Take()
		require.True(t, ok)
		require.Equal(t, d.key, key)
		q.Done(key)
	}

	want = want[:n/2]
	slices.SortFunc(want, func(a, b delayed) int {
		if a.due != b.due {
			return int(a.due - b.due)
		}

		return a.key - b.key
	})

	clk.advance(n / 20 * time.Second)

	for range q.Len() {
		key, value, _ := q.Take()
		require.Equal(t, want[0].key, key)
		require.Equal(t, key, value)
		require.LessOrEqual(t, want[0].due, n/20*time.Second)

		want = want[1:]
	}

	clk.advance(n / 20 * time.Second)

	for _, d := range want {
		key, _, _ := q.Take()
		require.Equal(t, d.key, key)
	}
}

func TestKeyedDaysOfRetriesPassInAnInstant(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ready := make(chan struct{}, 1)
		q := queue.NewKeyed(nil, queue.KeyedConfig[string, int]{Ready: func() { ready <- struct{}{} }})
		start := time.Now()

		q.Put("a", 0, queue.Live)

		for i := range 1000 {
			<-ready

			key, value, ok := q.Take()
			require.True(t, ok)
			require.Equal(t, i, value)
			require.Equal(t, time.Duration(i)*time.Hour, time.Since(start))
			q.Retry(key, i+1, time.Hour)
		}

		q.Stop()
	})
}

func TestStatesAndLanesHaveNames(t *testing.T) {
	t.Parallel()

	assert.Equal(t, "ready delayed processing live fill",
		fmt.Sprint(queue.Ready, " ", queue.Delayed, " ", queue.Processing, " ", queue.Live, " ", queue.Fill))
}

// Whoever takes a key is told since when it could be taken, whichever way it came.
func TestKeyedTellsSinceWhenKeysWait(t *testing.T) {
	t.Parallel()

	clk := newHandClock()
	q := queue.NewKeyed(clk, queue.KeyedConfig[string, int]{Epoch: clk.Now(), Compare: strings.Compare})

	defer q.Stop()

	taken := func(want string, since time.Duration) {
		t.Helper()

		got, ok := q.HandOut()
		require.True(t, ok)
		require.Equal(t, queue.Taken[string, int]{Key: want, Since: since}, got)
	}

	clk.advance(time.Second)
	q.PutSorted([]string{"filled", "moved"})
	clk.advance(time.Second)
	q.Put("moved", 0, queue.Live)
	q.Put("put", 0, queue.Live)
	clk.advance(time.Second)
	taken("moved", 2*time.Second)
	taken("put", 2*time.Second)
	taken("filled", time.Second)

	q.Retry("put", 0, time.Second)
	q.Put("filled", 0, queue.Live)
	clk.advance(5 * time.Second)

	got, ok := q.HandOutNext("filled")
	require.True(t, ok)
	require.Equal(t, "put", got.Key)
	require.Equal(t, 4*time.Second, got.Since, "the delay is no wait")
	taken("filled", 8*time.Second)

	_, ok = q.HandOutNext("put")
	require.False(t, ok)
}
