package queue

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// Keyed hands out keys to be worked on, each with the value that was put for it, and each to one worker at a time. It
// is the queue inside an engine: nothing blocks, and whoever runs the workers is told when there is something to take.
//
// Ready keys wait in two lines. [Live] keys are taken before [Fill] keys, but after 16 of them in a row one Fill key is
// taken if there is one, so that neither line starves. Within a line the first come is the first served. What is put into
// [Own] waits in the line of Live.
//
// All methods are safe for concurrent use. Build one with [NewKeyed].
type Keyed[K comparable, V any] struct {
	// ready is the function of the configuration, or nil.
	ready func()
	// some tells that keys were ready when mu was last released.
	some atomic.Bool

	// mu guards everything below.
	mu    sync.Mutex
	items table[K, V]
	alarm alarm
	// untold is set when a key has become ready and ready was not called since.
	untold bool
	// stopped is set by Stop and stays.
	stopped bool
}

// KeyedConfig is how a [Keyed] treats keys and values and whom it tells. The zero value is fine.
type KeyedConfig[K comparable, V any] struct {
	// Hash returns the same for equal keys, and mostly something else for others. It must be quick and must not call the
	// queue. The default is to have Go's map find keys, which takes several times the memory, and in
	// a queue of a million keys several times as long.
	Hash func(key K) uint64

	// Compare orders keys, below zero if a comes before b, zero only if they are equal. It must be quick and must not call the
	// queue. The default is that PutSorted is nothing else than PutAll.
	Compare func(a, b K) int

	// Merge combines the value that waits under a key with one that is put for the same key. The default takes the
	// newer one. It is called with the queue locked: it must be quick and must not call the queue.
	Merge func(older, newer V) V

	// Epoch is what [Taken] counts times from: a time of the clock that is not long ago. The default is when the queue is made.
	Epoch time.Time

	// Ready is called after Put, PutAll, PutSorted, Done, TakeNext, Retry, Hold, Rest or the timer has made at least one key ready: once for a
	// call, not once for a key. The default is to tell nobody. It is a hint: somebody else may have taken the key before.
	//
	// It is called without the queue's lock, on the goroutine of the caller or of the clock, possibly by several at
	// once, and may call any method but Stop. Take and the methods that look at the queue never call it, so they may
	// be used under a lock that Ready takes as well.
	Ready func()
}

// NewKeyed returns an empty queue that keeps its delays on the given clock. Nil stands for the real clock.
func NewKeyed[K comparable, V any](clk clockwork.Clock, cfg KeyedConfig[K, V]) *Keyed[K, V] {
	items := table[K, V]{hash: cfg.Hash, merge: cfg.Merge, compare: cfg.Compare}

	return &Keyed[K, V]{ready: cfg.Ready, items: items, alarm: newAlarm(clk, cfg.Epoch)}
}

// Put says that a key is to be worked on, with a value. What happens depends on where the key is:
//
//   - nowhere: it becomes ready, at the end of its line;
//   - ready: the values are merged and it keeps its place, unless it waits in the line of Fill and is put into another
//     lane: then it moves to the end of the other line;
//   - delayed: the values are merged; Live cancels the delay and makes it ready, Fill leaves the delay as it is, and Own
//     cancels it unless it is one of [Keyed.Hold];
//   - processing: it becomes ready at Done, once, with all values merged that were put meanwhile, and in the most urgent
//     of their lanes;
//   - remembered by [Keyed.Rest]: it becomes ready, but what is put into Own may have to wait.
//
// After Stop it does nothing.
func (q *Keyed[K, V]) Put(key K, value V, lane Lane) {
	q.tell(q.put(key, value, lane))
}

func (q *Keyed[K, V]) put(key K, value V, lane Lane) (tell bool) {
	q.mu.Lock()
	defer q.unlock()

	if q.stopped {
		return false
	}

	now := q.catchUpLocked()
	q.noteLocked(q.items.put(key, q.items.hashOf(key), value, lane, now))

	return q.settleLocked(now)
}

// PutAll is Put for each of the items in turn, under one lock: nobody takes a key in between. The others wait meanwhile,
// some hundred nanoseconds for an item, so what is large is better put in several parts. The iterator must be quick and
// must not call the queue.
func (q *Keyed[K, V]) PutAll(items iter.Seq2[K, V], lane Lane) {
	q.tell(q.putAll(items, lane))
}

func (q *Keyed[K, V]) putAll(items iter.Seq2[K, V], lane Lane) (tell bool) {
	q.mu.Lock()
	defer q.unlock()

	if q.stopped {
		return false
	}

	now := q.catchUpLocked()

	q.noteLocked(q.items.putAll(items, lane, now))

	return q.settleLocked(now)
}

// PutSorted is PutAll into [Fill] for keys that mostly come in ascending order, all of them with the zero value. Where they do,
// also from one call to the next, they wait in little more memory than the slice, which belongs to the queue from now on.
func (q *Keyed[K, V]) PutSorted(keys []K) {
	q.tell(q.putSorted(keys))
}

func (q *Keyed[K, V]) putSorted(keys []K) (tell bool) {
	ascend := q.items.ascend(keys) // without the lock: workers would have to wait

	q.mu.Lock()
	defer q.unlock()

	if q.stopped {
		return false
	}

	now := q.catchUpLocked()

	q.noteLocked(q.items.putSorted(keys, ascend, now))

	return q.settleLocked(now)
}

// Taken is a key that was handed out.
type Taken[K comparable, V any] struct {
	Key K
	// Value is what was put for the key.
	Value V
	// Since is when the key became ready, in the lane from which it was taken, counted from [KeyedConfig].Epoch. Of a key whose
	// delay was over it is when that was.
	Since time.Duration
}

// Take marks the next ready key as processing and returns it with its value, or false if none is ready; it does not
// wait. The caller must call [Keyed.Done] or [Keyed.Retry] for the key: until then it is not handed out again. After
// Stop it returns false.
func (q *Keyed[K, V]) Take() (key K, value V, ok bool) {
	taken, ok := q.HandOut()

	return taken.Key, taken.Value, ok
}

// HandOut is [Keyed.Take] for who wants to know since when the key was ready.
func (q *Keyed[K, V]) HandOut() (taken Taken[K, V], ok bool) {
	q.mu.Lock()
	defer q.unlock()

	q.collectDueLocked()

	return q.items.take()
}

// Done ends the processing of a key. If the key was put meanwhile it is ready again now. For a key that is not being
// processed, Done does nothing.
func (q *Keyed[K, V]) Done(key K) {
	q.tell(q.done(key))
}

func (q *Keyed[K, V]) done(key K) (tell bool) {
	q.mu.Lock()
	defer q.unlock()

	return q.doneLocked(key) && q.settleLocked(q.alarm.now())
}

// doneLocked tells whether the key became ready again.
func (q *Keyed[K, V]) doneLocked(key K) bool {
	again, lane := q.items.done(key)
	if again == 0 {
		return false
	}

	q.items.makeReady(again, lane, q.catchUpLocked())
	q.noteLocked(true)

	return true
}

// TakeNext is Done for one key and then Take, in one step: nobody else takes the next key in between.
func (q *Keyed[K, V]) TakeNext(done K) (key K, value V, ok bool) {
	taken, ok := q.HandOutNext(done)

	return taken.Key, taken.Value, ok
}

// HandOutNext is [Keyed.TakeNext] for who wants to know since when the key was ready.
func (q *Keyed[K, V]) HandOutNext(done K) (taken Taken[K, V], ok bool) {
	taken, ok, tell := q.takeNext(done)
	q.tell(tell)

	return taken, ok
}

func (q *Keyed[K, V]) takeNext(done K) (taken Taken[K, V], ok, tell bool) {
	q.mu.Lock()
	defer q.unlock()

	again := q.doneLocked(done)
	q.collectDueLocked()
	taken, ok = q.items.take()

	return taken, ok, again && q.settleLocked(q.alarm.now())
}

// Retry ends the processing of a key and puts it again with the given value, to be ready once the delay has passed on
// the queue's clock, or now if it is 0 or less. It returns to the lane that it was taken from.
//
// Puts that came while the key was being processed are merged into the value, as the newer ones. If one of them was
// Live or Own, the key is ready now, in the line of Live: the change goes before the delay. If all were Fill, the delay stands.
//
// For a key that is not being processed, Retry does nothing. After Stop it is Done.
func (q *Keyed[K, V]) Retry(key K, value V, delay time.Duration) {
	q.tell(q.retry(key, value, Delayed, delay))
}

// Hold is Retry with a delay that stands against what is put into [Own], before and after.
func (q *Keyed[K, V]) Hold(key K, value V, delay time.Duration) {
	q.tell(q.retry(key, value, firm, delay))
}

func (q *Keyed[K, V]) retry(key K, value V, as State, delay time.Duration) (tell bool) {
	return q.end(key, delay, func(due, now time.Duration) bool { return q.items.retry(key, value, as, due, now) })
}

// end ends the processing of a key by what it is told, which tells whether the key is ready at once, or by done after Stop.
func (q *Keyed[K, V]) end(key K, delay time.Duration, by func(due, now time.Duration) bool) (tell bool) {
	q.mu.Lock()
	defer q.unlock()

	if q.stopped {
		q.items.done(key)

		return false
	}

	now := q.catchUpLocked()
	q.noteLocked(by(after(now, delay), now))

	return q.settleLocked(now)
}

// Rest is Done for a key whose streak is not over, see [Keyed.GoOn]: it is remembered for the time. If calm is set, what is
// put into [Own], or was while the key was processed, becomes ready only when that has passed; all else does at once.
// When nothing was put by then, the key and its streak are forgotten.
//
// For a key that is not being processed, Rest does nothing. After Stop it is Done.
func (q *Keyed[K, V]) Rest(key K, delay time.Duration, calm bool) {
	as := lingering
	if calm {
		as = resting
	}

	q.tell(q.end(key, delay, func(due, now time.Duration) bool { return q.items.rest(key, as, due, now) }))
}

// GoOn counts one more time in a row that a key was worked on for no other reason than what was put into [Own], and returns
// the count, which stays at 255 once it is there. The streak is over with Done and [Keyed.BreakOff], when the key is put into any
// other lane, and when the delay of [Keyed.Retry] has passed without a put; [Keyed.Hold] and [Keyed.Rest] keep it. For a key that
// is not being processed it returns 0.
func (q *Keyed[K, V]) GoOn(key K) int {
	q.mu.Lock()
	defer q.unlock()

	return q.items.goOn(key)
}

// BreakOff ends the streak of a key that is being processed, see [Keyed.GoOn].
func (q *Keyed[K, V]) BreakOff(key K) {
	q.mu.Lock()
	defer q.unlock()

	q.items.breakOff(key)
}

// Fail counts one more failure of a key and returns the count, 1 for the first. It changes nothing else, and the key
// need not be in the queue. The count stays until [Keyed.Forget], and costs the memory of a queued key until then.
func (q *Keyed[K, V]) Fail(key K) int {
	q.mu.Lock()
	defer q.unlock()

	return q.items.fail(key)
}

// Failures returns how often the key has failed since it was last forgotten.
func (q *Keyed[K, V]) Failures(key K) int {
	q.mu.Lock()
	defer q.unlock()

	return q.items.failures(key)
}

// Forget sets the failures of a key back to none, and returns how many there were. It does not cancel a delay.
func (q *Keyed[K, V]) Forget(key K) int {
	q.mu.Lock()
	defer q.unlock()

	return q.items.forget(key)
}

// Len returns how many keys are ready, those included whose delay is over by the clock.
func (q *Keyed[K, V]) Len() int {
	q.mu.Lock()
	defer q.unlock()

	q.collectDueLocked()

	return q.items.readyCount()
}

// HasReady tells whether a key is ready. It takes no lock. A key whose delay is over may not count before its timer has
// come, or another method has looked at the clock.
func (q *Keyed[K, V]) HasReady() bool { return q.some.Load() }

// Stats counts what is in the queue.
func (q *Keyed[K, V]) Stats() Stats {
	q.mu.Lock()
	defer q.unlock()

	now := q.catchUpLocked()

	return q.items.stats(q.items.delayedCount(), now)
}

// Stop ends the queue: what is ready or delayed is dropped, with its failures, puts are ignored from now on, and Take
// returns false. Keys that are being processed stay visible as such until their Done. When Stop returns, the timer has
// ended, with any call of Ready that it made; a Put that is under way on another goroutine may still call Ready.
// Calling it again is fine.
func (q *Keyed[K, V]) Stop() {
	q.mu.Lock()
	defer q.unlock()

	if !q.stopped {
		q.stopped = true
		q.items.drop()
		q.some.Store(false)
		q.alarm.clear()
	}

	q.alarm.wait()
}

// ring is run by the clock when the earliest delayed key is due. It is not over before the ready function is, even if
// that ends the goroutine.
func (q *Keyed[K, V]) ring() {
	defer q.rung()

	q.tell(q.rang())
}

func (q *Keyed[K, V]) rang() (tell bool) {
	q.mu.Lock()
	defer q.unlock()

	return q.settleLocked(q.alarm.now())
}

func (q *Keyed[K, V]) rung() {
	q.mu.Lock()
	defer q.unlock()

	q.alarm.rung()
}

// unlock releases the lock. What it leaves for HasReady is there before anybody is told. Mostly it is there already, and to look is
// quicker than to write what others read.
func (q *Keyed[K, V]) unlock() {
	if some := q.items.readyCount() > 0; some != q.some.Load() {
		q.some.Store(some)
	}

	q.mu.Unlock()
}

// tell calls the ready function. The lock must not be held.
func (q *Keyed[K, V]) tell(ready bool) {
	if ready && q.ready != nil {
		q.ready()
	}
}

// settleLocked brings the timer in line with the delays, and returns whether the ready function is to be called now.
func (q *Keyed[K, V]) settleLocked(now time.Duration) (tell bool) {
	if q.items.delayed.len() > 0 || q.alarm.bell != nil {
		q.alarm.settle(now, q)
	}

	tell = q.untold && q.items.readyCount() > 0
	q.untold = false

	return tell
}

// catchUpLocked makes ready what is due by the clock, so that it stands before what becomes ready next, and returns the
// time. The timer that was set for it still comes, and tells of it unless somebody has done so before.
func (q *Keyed[K, V]) catchUpLocked() (now time.Duration) {
	now = q.alarm.now()

	if q.items.delayed.len() > 0 {
		q.collectLocked(now)
	}

	return now
}

// collectDueLocked is catchUpLocked for methods that do not need the time: often there is no delay to ask the clock for.
func (q *Keyed[K, V]) collectDueLocked() {
	if q.items.delayed.len() > 0 {
		q.catchUpLocked()
	}
}

// lock implements sleeper.
func (q *Keyed[K, V]) lock() sync.Locker { return &q.mu }

// collectLocked makes ready what is due, and returns when the next key is.
func (q *Keyed[K, V]) collectLocked(now time.Duration) (next time.Duration, some bool) {
	q.noteLocked(q.items.collect(now) > 0)

	return q.items.delayed.next()
}

// noteLocked remembers that the ready function is to be called.
func (q *Keyed[K, V]) noteLocked(becameReady bool) {
	q.untold = q.untold || becameReady
}
