package queue

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/backoff"
)

// Queue hands out items to be worked on, each to one worker at a time. T is the identity of the work and all that is
// queued: a worker reads the present state of what the item names.
//
// All methods are safe for concurrent use. Build one with [NewQueue].
type Queue[T comparable] struct {
	policy backoff.Policy
	random func() float64

	// mu guards everything below.
	mu sync.Mutex
	// items holds what is ready, out, waiting since DoneAfter, or has failures.
	items table[T, struct{}]
	// delays holds the delayed adds, any number for one item. It counts the order of what waits in items, too.
	delays deadlines[T]
	alarm  alarm
	// closed is set by ShutDown and stays.
	closed bool
	// wake is signalled for each item that becomes ready, and broadcast at ShutDown. Get waits on it.
	wake sync.Cond
}

// Option changes how a [Queue] is built.
type Option func(*config)

type config struct {
	policy backoff.Policy
	random func() float64
}

// WithBackoff sets by how much AddRateLimited delays an item. The default is [backoff.Authoring]: 1 s, then twice as
// long each time, at most 60 s. NewQueue panics if the policy is not valid.
func WithBackoff(policy backoff.Policy) Option {
	return func(c *config) { c.policy = policy }
}

// WithRandom sets the source of randomness for the jitter of the backoff: a function that returns values in [0, 1), as
// Float64 of a math/rand/v2 Rand does. The default is none, and then delays have no jitter: the queue has no source of
// its own, so that runs can be repeated.
//
// The queue makes one call at a time, so the function need not be safe for concurrent use if nobody else calls it. It
// must not call the queue.
func WithRandom(random func() float64) Option {
	return func(c *config) { c.random = random }
}

// NewQueue returns an empty queue that keeps its delays on the given clock. Nil stands for the real clock.
func NewQueue[T comparable](clk clockwork.Clock, opts ...Option) *Queue[T] {
	c := config{policy: backoff.Authoring()}
	for _, opt := range opts {
		opt(&c)
	}

	if err := c.policy.Validate(); err != nil {
		panic("queue: NewQueue with a policy that is not valid: " + err.Error())
	}

	q := &Queue[T]{policy: c.policy, random: c.random, alarm: newAlarm(clk, time.Time{})}
	q.wake.L = &q.mu

	return q
}

// Add makes an item ready, at the end of the line. If it is ready already, nothing changes; if it is being processed,
// it becomes ready at Done. After ShutDown it does nothing.
func (q *Queue[T]) Add(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.closed {
		return
	}

	q.addLocked(item, q.catchUpLocked())
}

// AddAfter calls Add for the item once d has passed on the queue's clock, and returns at once; with d at or below 0 it
// is Add. Each call has an Add of its own: a later call neither replaces nor cancels an earlier one. After ShutDown it
// does nothing.
func (q *Queue[T]) AddAfter(item T, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.closed {
		return
	}

	q.addAfterLocked(item, d)
}

// AddRateLimited calls AddAfter with the item's backoff, which grows with each call until [Queue.Forget]. Items do not
// influence each other. After ShutDown it does nothing, and counts nothing.
func (q *Queue[T]) AddRateLimited(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if q.closed {
		return
	}

	q.addAfterLocked(item, q.policy.Delay(q.items.fail(item), q.random))
}

// Get waits until an item is ready, marks it as processing, and returns it. The caller must call [Queue.Done] for it:
// until then the item is not handed out again. After ShutDown, Get goes on returning ready items, and once there are
// none it returns shutdown as true.
func (q *Queue[T]) Get() (item T, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()

	for {
		q.collectDueLocked()

		if taken, ok := q.items.take(); ok {
			return taken.Key, false
		}

		if q.closed {
			return item, true
		}

		q.wake.Wait()
	}
}

// Done ends the processing of an item. If it was added meanwhile it is ready again now, also after ShutDown if it was
// added before. For an item that is not being processed, Done does nothing.
func (q *Queue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.doneLocked(item)
}

// DoneAfter ends the processing of an item, and makes it ready again once d has passed on the queue's clock, or as soon as it is
// added: there is one wait for an item, and whoever processes it next says whether there is to be another. If it was added
// meanwhile, or d is at or below 0, it is ready again now. For an item that is not being processed, DoneAfter does nothing;
// after ShutDown it is [Queue.Done].
//
// AddAfter before Done is something else: it comes in any case. Work that asks for another pass by it, and is added by others
// too, is done once more for each of them, again and again.
func (q *Queue[T]) DoneAfter(item T, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.doneAfterLocked(item, d)
}

// DoneRateLimited is DoneAfter with the item's backoff, which grows with each call as it does with [Queue.AddRateLimited].
// For an item that is not being processed, and after ShutDown, it counts nothing.
func (q *Queue[T]) DoneRateLimited(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()

	var d time.Duration

	if _, out := q.items.processing(item); out != nil && !q.closed {
		d = q.policy.Delay(q.items.fail(item), q.random)
	}

	q.doneAfterLocked(item, d)
}

// Forget sets the item's backoff back to its beginning. A delayed add that is under way still comes, and so does the end of a
// wait.
func (q *Queue[T]) Forget(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.items.forget(item)
}

// NumRequeues returns how often AddRateLimited or DoneRateLimited was called for the item since it was last forgotten.
func (q *Queue[T]) NumRequeues(item T) int {
	q.mu.Lock()
	defer q.mu.Unlock()

	return q.items.failures(item)
}

// Len returns how many items are ready to be handed out, those included whose delay is over by the clock.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.collectDueLocked()

	return q.items.readyCount()
}

// Stats counts what is in the queue.
func (q *Queue[T]) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()

	now := q.catchUpLocked()

	return q.items.stats(q.delays.len()+q.items.delayed.len(), now)
}

// ShutDown ends the queue: adds are dropped from now on, and delayed ones and waits with them. Get hands out what is ready, then
// tells everybody who waits or comes that the queue is shut down. When ShutDown returns, no timer of the queue is
// running. Calling it again is fine.
func (q *Queue[T]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()

	if !q.closed {
		q.collectDueLocked()

		q.closed = true
		q.delays = deadlines[T]{}
		q.items.dropDelayed()
		q.alarm.clear()
		q.wake.Broadcast()
	}

	q.alarm.wait()
}

// ring is run by the clock when the earliest delayed add is due.
func (q *Queue[T]) ring() {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.alarm.settle(q.alarm.now(), q)
	q.alarm.rung()
}

func (q *Queue[T]) addLocked(item T, now time.Duration) {
	if q.items.put(item, 0, struct{}{}, Live, now) {
		q.wake.Signal()
	}
}

func (q *Queue[T]) doneLocked(item T) {
	if again, _ := q.items.done(item); again != 0 {
		q.items.makeReady(again, Live, q.catchUpLocked())
		q.wake.Signal()
	}
}

func (q *Queue[T]) doneAfterLocked(item T, d time.Duration) {
	if q.closed {
		q.doneLocked(item)

		return
	}

	now := q.catchUpLocked()

	q.items.delayed.pushed = q.delays.pushed

	if q.items.retry(item, struct{}{}, Delayed, after(now, d), now) {
		q.wake.Signal()
	}

	q.delays.pushed = q.items.delayed.pushed
	q.alarm.settle(now, q)
}

func (q *Queue[T]) addAfterLocked(item T, d time.Duration) {
	now := q.alarm.now()

	if d > 0 {
		q.delays.push(after(now, d), item)
	}

	q.alarm.settle(now, q)

	if d <= 0 {
		q.addLocked(item, now)
	}
}

// catchUpLocked does what is due by the clock, so that they stand before what becomes ready next, and
// returns the time. The timer that was set for them still comes, and is set anew then.
func (q *Queue[T]) catchUpLocked() (now time.Duration) {
	now = q.alarm.now()
	q.collectLocked(now)

	return now
}

// collectDueLocked is catchUpLocked for methods that do not need the time: often there is no delay to ask the clock for.
func (q *Queue[T]) collectDueLocked() {
	if q.delays.len() > 0 || q.items.delayed.len() > 0 {
		q.catchUpLocked()
	}
}

// lock implements sleeper.
func (q *Queue[T]) lock() sync.Locker { return &q.mu }

// collectLocked does the delayed adds that are due, ends the waits that are over, and returns when the next one is.
func (q *Queue[T]) collectLocked(now time.Duration) (next time.Duration, some bool) {
	for {
		add, wait := q.delays.first(), q.items.delayed.first()

		switch {
		case add == nil && wait == nil:
			return 0, false
		case wait == nil || add != nil && add.before(wait):
			if add.due > now {
				return add.due, true
			}

			due, item := q.delays.pop()
			q.addLocked(item, due)
		default:
			if wait.due > now {
				return wait.due, true
			}

			if q.items.collectFirst() {
				q.wake.Signal()
			}
		}
	}
}
