package queue_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/internal/fuzzed"
	"github.com/switchyard-run/switchyard/queue"
)

// maxSteps ends runs over long fuzz data.
const maxSteps = 1000

// choices is where the operations of a run come from: random bytes, or those of a fuzzer.
type choices []byte

// pick returns a number from 0 up to below n, and 0 after the end.
func (c *choices) pick(n int) int {
	if len(*c) == 0 {
		return 0
	}

	b := (*c)[0]
	*c = (*c)[1:]

	return int(b) % n
}

// drawChoices draws bytes. Small ones are drawn more often, so they are scattered over the whole range.
func drawChoices(t *rapid.T) choices {
	n := rapid.SampledFrom([]int{10, 100, 1000}).Draw(t, "length")
	c := choices(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "choices"))

	for i := range c {
		c[i] *= 167
	}

	return c
}

// inBubble runs f in a synctest bubble, and brings out the panic by which rapid ends a check.
func inBubble(t *testing.T, f func()) {
	t.Helper()

	var panicked any

	synctest.Test(t, func(*testing.T) {
		defer func() { panicked = recover() }()

		f()
	})

	if panicked != nil {
		panic(panicked)
	}
}

// record is all that the model of Keyed knows of one key. The model keeps them in one slice and searches it.
type record[K comparable] struct {
	queue.PendingItem[K]

	value     string
	againLane queue.Lane
	// firm tells that a delayed key, or one that is remembered, is not made ready by what is put into Own.
	firm bool
	// streak counts up to what is not put into Own, and to the end of a delay that is not firm.
	streak int
	// turn orders what is in one state.
	turn int
}

// keyedModel is Keyed written the slow and obvious way.
type keyedModel[K comparable] struct {
	now      time.Time
	records  []*record[K]
	failures map[K]int
	turn     int
	run      int
	untold   bool
	stopped  bool
}

func (m *keyedModel[K]) find(key K) *record[K] {
	for _, r := range m.records {
		if r.Key == key {
			return r
		}
	}

	return nil
}

// mostlyOut returns a key that is out, if there is one, for most numbers, and else the key.
func (m *keyedModel[K]) mostlyOut(number int, key K) K {
	if out := m.in(queue.Processing); len(out) > 0 && number%5 != 4 {
		return out[number%len(out)].Key
	}

	return key
}

func (m *keyedModel[K]) drop(key K) {
	m.records = slices.DeleteFunc(m.records, func(r *record[K]) bool { return r.Key == key })
}

func (m *keyedModel[K]) enter(r *record[K], state queue.State) {
	m.turn++
	r.turn, r.State = m.turn, state

	if state == queue.Ready {
		r.Due = time.Time{}
		m.untold = true
	}
}

// in returns the records in a state, and for ready ones in a lane, in the order of their turn.
func (m *keyedModel[K]) in(state queue.State, lanes ...queue.Lane) []*record[K] {
	var found []*record[K]

	for _, r := range m.records {
		if r.State == state && (len(lanes) == 0 || slices.Contains(lanes, r.Lane)) {
			found = append(found, r)
		}
	}

	slices.SortFunc(found, func(a, b *record[K]) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.turn, b.turn)) })

	return found
}

func (m *keyedModel[K]) advance(d time.Duration) {
	m.now = m.now.Add(d)

	for _, r := range m.in(queue.Delayed) {
		if !r.Due.After(m.now) {
			if !r.firm {
				r.streak = 0
			}

			m.enter(r, queue.Ready)
		}
	}

	m.records = slices.DeleteFunc(m.records, func(r *record[K]) bool { return r.State == remembered && !r.Due.After(m.now) })
}

// remembered is the state of keys that wait for nothing.
const remembered queue.State = 100

// line is where ready keys wait that are put into a lane.
func line(lane queue.Lane) queue.Lane {
	if lane == queue.Own {
		return queue.Live
	}

	return lane
}

func (m *keyedModel[K]) put(key K, value string, lane queue.Lane) {
	r := m.find(key)

	if r != nil && lane != queue.Own {
		r.streak = 0
	}

	switch {
	case m.stopped:
	case r == nil:
		r = &record[K]{PendingItem: queue.PendingItem[K]{Key: key, Lane: line(lane)}, value: value}
		m.records = append(m.records, r)
		m.enter(r, queue.Ready)
	case r.State == queue.Processing && !r.Again:
		r.Again, r.againLane, r.value = true, lane, value
	case r.State == queue.Processing:
		r.value += "+" + value
		r.againLane = min(r.againLane, lane)
	case r.State == remembered && lane == queue.Own && r.firm:
		r.State, r.Lane, r.value = queue.Delayed, queue.Live, value
	case r.State == remembered:
		r.Lane, r.value = line(lane), value
		m.enter(r, queue.Ready)
	default:
		r.value += "+" + value

		wakes := lane == queue.Live || lane == queue.Own && !r.firm
		if r.State == queue.Delayed && wakes || r.State == queue.Ready && line(lane) < r.Lane {
			told := m.untold || r.State == queue.Delayed
			r.Lane = queue.Live
			m.enter(r, queue.Ready)
			m.untold = told
		}
	}
}

func (m *keyedModel[K]) take() (key K, value string, ok bool) {
	live, fill := m.in(queue.Ready, queue.Live), m.in(queue.Ready, queue.Fill)

	line := live

	switch {
	case len(fill) == 0:
		m.run = 0
	case len(live) == 0 || m.run == 16:
		line, m.run = fill, 0
	default:
		m.run++
	}

	if len(line) == 0 {
		return key, "", false
	}

	r := line[0]
	value = r.value
	r.value = ""
	m.enter(r, queue.Processing)

	return r.Key, value, true
}

func (m *keyedModel[K]) done(key K) {
	r := m.find(key)

	switch {
	case r == nil || r.State != queue.Processing:
	case r.Again:
		r.Again, r.Lane, r.streak = false, line(r.againLane), 0
		m.enter(r, queue.Ready)
	default:
		m.drop(key)
	}
}

func (m *keyedModel[K]) retry(key K, value string, delay time.Duration, firm bool) {
	r := m.find(key)
	if r == nil || r.State != queue.Processing || m.stopped {
		m.done(key)

		return
	}

	ready := delay <= 0

	if r.Again {
		value += "+" + r.value
		ready = ready || r.againLane == queue.Live || r.againLane == queue.Own && !firm
		r.Lane = min(r.Lane, line(r.againLane))
	}

	r.Again, r.value = false, value

	if ready {
		m.enter(r, queue.Ready)
	} else {
		m.enter(r, queue.Delayed)
		r.Due, r.firm = m.now.Add(delay), firm
	}
}

func (m *keyedModel[K]) rest(key K, delay time.Duration, firm bool) {
	r := m.find(key)

	switch {
	case r == nil || r.State != queue.Processing || m.stopped || delay <= 0 && !r.Again:
		m.done(key)
	case r.Again && (r.againLane != queue.Own || !firm || delay <= 0):
		r.Again, r.Lane = false, line(r.againLane)
		m.enter(r, queue.Ready)
	case r.Again:
		r.Again, r.Lane = false, queue.Live
		m.enter(r, queue.Delayed)
		r.Due, r.firm = m.now.Add(delay), true
	default:
		m.enter(r, remembered)
		r.Due, r.firm = m.now.Add(delay), firm
	}
}

func (m *keyedModel[K]) goOn(key K) int {
	r := m.find(key)
	if r == nil || r.State != queue.Processing {
		return 0
	}

	r.streak = min(r.streak+1, 255)

	return r.streak
}

func (m *keyedModel[K]) breakOff(key K) {
	if r := m.find(key); r != nil && r.State == queue.Processing {
		r.streak = 0
	}
}

func (m *keyedModel[K]) stop() {
	for _, r := range slices.Clone(m.records) {
		if r.State == queue.Processing {
			r.Again = false
		} else {
			m.drop(r.Key)
			delete(m.failures, r.Key)
		}
	}

	m.stopped, m.untold = true, false
}

func (m *keyedModel[K]) pending() []queue.PendingItem[K] {
	items := []queue.PendingItem[K]{}

	for _, records := range [][]*record[K]{
		m.in(queue.Ready, queue.Live), m.in(queue.Ready, queue.Fill), m.in(queue.Delayed), m.in(queue.Processing),
	} {
		for _, r := range records {
			r.Failures = m.failures[r.Key]
			items = append(items, r.PendingItem)
		}
	}

	return items
}

// told returns whether the ready function is to be called at the end of an operation that may do so.
func (m *keyedModel[K]) told() int {
	told := m.untold && len(m.in(queue.Ready)) > 0
	m.untold = false

	if told {
		return 1
	}

	return 0
}

// keys are what a run is about, with ways to find and to order them, all of which may be none.
type keys[K comparable] struct {
	of       []K
	hashes   []func(K) uint64
	compares []func(a, b K) int
}

// numbers are keys with good, poor and useless hashes; with none at all, keys are found in another way. They have an order,
// its reverse, and none.
func numbers(n int) keys[int] {
	k := keys[int]{
		hashes: []func(int) uint64{
			nil,
			func(key int) uint64 { return hashOf(fmt.Sprint(key)) },
			func(key int) uint64 { return uint64(key % 3) },
			func(int) uint64 { return math.MaxUint64 },
		},
		compares: []func(a, b int) int{cmp.Compare[int], func(a, b int) int { return cmp.Compare(b, a) }, nil},
	}

	for i := range n {
		k.of = append(k.of, i)
	}

	return k
}

// texts are keys that may be any strings.
func texts(of []string) keys[string] {
	return keys[string]{
		of:       of,
		hashes:   []func(string) uint64{nil, hashOf, func(key string) uint64 { return uint64(len(key)) }, func(string) uint64 { return 0 }},
		compares: []func(a, b string) int{strings.Compare, func(a, b string) int { return strings.Compare(b, a) }, nil},
	}
}

// runKeyed runs chosen operations against a Keyed and its model side by side. It must run in a synctest bubble.
func runKeyed[K comparable](t require.TestingT, keys keys[K], c choices) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clk := clockwork.NewFakeClockAt(start)
	told := 0
	q := queue.NewKeyed(clk, queue.KeyedConfig[K, string]{
		Hash:    keys.hashes[c.pick(len(keys.hashes))],
		Compare: keys.compares[c.pick(len(keys.compares))],
		Merge:   func(older, newer string) string { return older + "+" + newer },
		Ready:   func() { told++ },
	})
	m := &keyedModel[K]{now: start, failures: map[K]int{}}

	defer q.Stop()

	for step := 0; len(c) > 0 && step < maxSteps; step++ {
		number, value := c.pick(len(keys.of)), fmt.Sprint(step)
		key := keys.of[number]
		wantTold := 0
		told = 0

		switch op := c.pick(33); op {
		case 0, 1, 2, 3, 25, 26:
			lane := queue.Lane(op % 3)
			q.Put(key, value, lane)
			m.put(key, value, lane)

			wantTold = m.told()
		case 4:
			items := make([]item[K, string], c.pick(4))
			for i := range items {
				items[i] = item[K, string]{keys.of[(number+i)%len(keys.of)], value}
				m.put(items[i].key, value, queue.Fill)
			}

			q.PutAll(all(items...), queue.Fill)

			wantTold = m.told()
		case 22, 23, 24:
			sorted := make([]K, c.pick(8))
			for i := range sorted {
				sorted[i] = keys.of[(number+i+i*c.pick(3))%len(keys.of)]
				m.put(sorted[i], "", queue.Fill)
			}

			q.PutSorted(sorted)

			wantTold = m.told()
		case 5, 6, 7, 8:
			key, value, ok := q.Take()
			wantKey, wantValue, wantOK := m.take()
			require.Equal(t, fmt.Sprint(wantKey, wantValue, wantOK), fmt.Sprint(key, value, ok))
		case 9, 10:
			key = m.mostlyOut(number, key)
			q.Done(key)
			m.done(key)

			wantTold = m.told()
		case 20, 21:
			key = m.mostlyOut(number, key)
			next, value, ok := q.TakeNext(key)
			m.done(key)

			wantKey, wantValue, wantOK := m.take()
			wantTold = m.told()

			require.Equal(t, fmt.Sprint(wantKey, wantValue, wantOK), fmt.Sprint(next, value, ok))
		case 11, 12, 13:
			key = m.mostlyOut(number, key)
			delay := time.Duration(c.pick(6)-1) * time.Second
			q.Retry(key, value, delay)
			m.retry(key, value, delay, false)

			wantTold = m.told()
		case 27, 28:
			key = m.mostlyOut(number, key)
			delay := time.Duration(c.pick(6)-1) * time.Second
			q.Hold(key, value, delay)
			m.retry(key, value, delay, true)

			wantTold = m.told()
		case 29, 30:
			key = m.mostlyOut(number, key)
			delay, calm := time.Duration(c.pick(6)-1)*time.Second, c.pick(2) == 0
			q.Rest(key, delay, calm)
			m.rest(key, delay, calm)

			wantTold = m.told()
		case 31:
			require.Equal(t, m.goOn(key), q.GoOn(key))
		case 32:
			q.BreakOff(key)
			m.breakOff(key)
		case 14:
			m.failures[key]++
			require.Equal(t, m.failures[key], q.Fail(key))
		case 15:
			delete(m.failures, key)
			q.Forget(key)
		case 16, 17, 18:
			d := time.Duration(c.pick(4)) * time.Second
			due := len(m.in(queue.Delayed))

			clk.Advance(d)
			m.advance(d)
			require.Len(t, m.in(queue.Ready), q.Len(), "seen before the timer has come round")
			synctest.Wait()

			if len(m.in(queue.Delayed)) < due {
				wantTold = m.told()
			}
		case 19:
			if c.pick(20) == 0 {
				q.Stop()
				m.stop()
			}
		}

		require.Equal(t, wantTold, told, "calls of the ready function")
		require.Equal(t, m.failures[key], q.Failures(key))
		require.Equal(t, len(m.in(queue.Ready)) > 0, q.HasReady())
		require.Equal(t, m.pending(), normal(q.Pending()))

		stats := q.Stats()
		stats.OldestWait = 0
		require.Equal(t, queue.Stats{
			Ready: len(m.in(queue.Ready)), Delayed: len(m.in(queue.Delayed)), Processing: len(m.in(queue.Processing)),
		}, stats)
	}
}

// normal brings the due times into the form in which they compare.
func normal[K comparable](items []queue.PendingItem[K]) []queue.PendingItem[K] {
	for i := range items {
		items[i].Due = items[i].Due.UTC()
	}

	return items
}

func TestKeyedFollowsItsModel(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(rt *rapid.T) {
		n, c := rapid.SampledFrom([]int{1, 4, 40}).Draw(rt, "keys"), drawChoices(rt)

		inBubble(t, func() { runKeyed(rt, numbers(n), c) })
	})
}

func FuzzKeyed(f *testing.F) {
	f.Add(byte(3), []byte("\x00\x00\x00\x05\x00\x0c\x03\x00\x10\x02\x00\x05\x00\x09"))
	f.Add(byte(20), []byte("put some, take some, drop the rest of it and begin again"))

	f.Fuzz(func(t *testing.T, keys byte, data []byte) {
		synctest.Test(t, func(t *testing.T) { runKeyed(t, numbers(1+int(keys)%50), data) })
	})
}

// Whatever strings the keys are, each is a key of its own.
func FuzzKeyedTexts(f *testing.F) {
	f.Add([]byte("\x03abcdefgh\x00\x01\x02\x03\x04"), []byte("\x00\x00\x00\x05\x00\x0c\x03\x00\x10\x02\x00\x05\x00\x09"))
	f.Add([]byte("\x20\x80\x81\xff\xfd\xfe\xe0\x90\xa0\xb0"), []byte("put some, take some, drop the rest of it and begin again"))

	f.Fuzz(func(t *testing.T, names, data []byte) {
		synctest.Test(t, func(t *testing.T) { runKeyed(t, texts(fuzzed.From(names).Texts(20)), data) })
	})
}

// queueModel is Queue written the slow and obvious way.
type queueModel struct {
	now      time.Duration
	ready    []int
	out      []int
	again    []int
	delayed  []delayedAdd
	failures map[int]int
	closed   bool
}

type delayedAdd struct {
	item int
	due  time.Duration
	wait bool // an add takes its place
}

func (m *queueModel) add(item int) {
	if !m.closed {
		m.delayed = slices.DeleteFunc(m.delayed, func(d delayedAdd) bool { return d.wait && d.item == item })
	}

	switch {
	case m.closed:
	case slices.Contains(m.out, item):
		if !slices.Contains(m.again, item) {
			m.again = append(m.again, item)
		}
	case !slices.Contains(m.ready, item):
		m.ready = append(m.ready, item)
	}
}

func (m *queueModel) addAfter(item int, d time.Duration) {
	switch {
	case m.closed:
	case d <= 0:
		m.add(item)
	default:
		m.delayed = append(m.delayed, delayedAdd{item: item, due: m.now + d})
	}
}

func (m *queueModel) doneAfter(item int, d time.Duration) {
	wasOut, wasAgain := slices.Contains(m.out, item), slices.Contains(m.again, item)
	m.done(item)

	switch {
	case !wasOut || wasAgain || m.closed:
	case d <= 0:
		m.add(item)
	default:
		m.delayed = append(m.delayed, delayedAdd{item, m.now + d, true})
	}
}

func (m *queueModel) advance(d time.Duration) {
	m.now += d

	slices.SortStableFunc(m.delayed, func(a, b delayedAdd) int { return cmp.Compare(a.due, b.due) })

	for len(m.delayed) > 0 && m.delayed[0].due <= m.now {
		first := m.delayed[0]
		m.delayed = m.delayed[1:]
		m.add(first.item)
	}
}

func (m *queueModel) get() int {
	item := m.ready[0]
	m.ready = m.ready[1:]
	m.out = append(m.out, item)

	return item
}

func (m *queueModel) done(item int) {
	is := func(other int) bool { return other == item }
	wasOut, wasAgain := slices.Contains(m.out, item), slices.Contains(m.again, item)
	m.out, m.again = slices.DeleteFunc(m.out, is), slices.DeleteFunc(m.again, is)

	if wasOut && wasAgain {
		m.ready = append(m.ready, item)
	}
}

// runQueue runs chosen operations against a Queue and its model side by side. It must run in a synctest bubble.
func runQueue(t require.TestingT, items int, c choices) {
	clk := clockwork.NewFakeClock()
	q := queue.NewQueue[int](clk)
	m := &queueModel{failures: map[int]int{}}

	defer q.ShutDown()

	for step := 0; len(c) > 0 && step < maxSteps; step++ {
		item := c.pick(items)

		switch how := c.pick(20); how {
		case 0, 1, 2, 3:
			q.Add(item)
			m.add(item)
		case 4, 5, 6:
			delay := time.Duration(c.pick(6)-1) * time.Second
			q.AddAfter(item, delay)
			m.addAfter(item, delay)
		case 7:
			q.AddRateLimited(item)

			if !m.closed {
				m.addAfter(item, min(time.Second<<min(m.failures[item], 6), time.Minute)) // 64 s is past the cap
				m.failures[item]++
			}
		case 8, 9, 10, 11:
			switch {
			case len(m.ready) > 0:
				got, shutdown := q.Get()
				require.False(t, shutdown)
				require.Equal(t, m.get(), got)
			case m.closed:
				_, shutdown := q.Get()
				require.True(t, shutdown)
			}
		case 12, 13, 18, 19:
			if len(m.out) > 0 && item%5 != 4 {
				item = m.out[item%len(m.out)]
			}

			switch delay := time.Duration(c.pick(6)-1) * time.Second; how {
			case 18:
				q.DoneAfter(item, delay)
				m.doneAfter(item, delay)
			case 19:
				q.DoneRateLimited(item)

				if delay = min(time.Second<<min(m.failures[item], 6), time.Minute); slices.Contains(m.out, item) && !m.closed {
					m.failures[item]++
				}

				m.doneAfter(item, delay)
			default:
				q.Done(item)
				m.done(item)
			}
		case 14:
			q.Forget(item)
			delete(m.failures, item)
		case 15, 16:
			d := time.Duration(c.pick(4)) * time.Second
			clk.Advance(d)
			m.advance(d)

			if c.pick(2) == 0 {
				synctest.Wait()
			}
		case 17:
			if c.pick(20) == 0 {
				q.ShutDown()

				m.closed, m.delayed = true, nil
			}
		}

		require.Len(t, m.ready, q.Len())
		require.Equal(t, m.failures[item], q.NumRequeues(item))

		stats := q.Stats()
		stats.OldestWait = 0
		require.Equal(t, queue.Stats{Ready: len(m.ready), Delayed: len(m.delayed), Processing: len(m.out)}, stats)
	}
}

func TestQueueFollowsItsModel(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(rt *rapid.T) {
		items, c := rapid.SampledFrom([]int{1, 4, 40}).Draw(rt, "items"), drawChoices(rt)

		inBubble(t, func() { runQueue(rt, items, c) })
	})
}

func FuzzQueue(f *testing.F) {
	f.Add(byte(3), []byte("\x00\x00\x00\x08\x00\x05\x03\x00\x0f\x02\x00\x08\x00\x0c"))
	f.Add(byte(20), []byte("add some, get some, come back later and shut it all down"))

	f.Fuzz(func(t *testing.T, items byte, data []byte) {
		synctest.Test(t, func(t *testing.T) { runQueue(t, 1+int(items)%50, data) })
	})
}
