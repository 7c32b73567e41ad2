package metrics

import "time"

// Calls is what is counted of the calls of a controller of either form. The zero value counts nothing. It is safe for
// concurrent use, and not to be copied.
type Calls struct {
	name          string // empty where nothing is counted
	reads, writes count
}

// Read counts a read that went to the state; reads from the cache are not counted.
func (c *Calls) Read() { c.reads.add(controllerReads, c.name, 1) }

// Wrote counts a call that writes, whatever comes of it.
func (c *Calls) Wrote() { c.writes.add(controllerWrites, c.name, 1) }

// Classic is what is counted of a classic controller. The zero value counts nothing. It is safe for concurrent use, and
// not to be copied.
type Classic struct {
	Calls

	crashes, wakeups count
}

// Crashed counts a failed run.
func (c *Classic) Crashed() { c.crashes.add(controllerCrashes, c.name, 1) }

// Woken counts a wakeup.
func (c *Classic) Woken() { c.wakeups.add(controllerWakeups, c.name, 1) }

// Queue is what is counted of a queue controller. The zero value counts nothing. It is safe for concurrent use, and not to be
// copied.
type Queue struct {
	Calls

	damped *Counter

	crashes, skips, requeues, processed, mapIn, mapOut count
	reconcileBusy, mapBusy                             seconds
}

// Crashed counts a failed pass or hook.
func (q *Queue) Crashed() { q.crashes.add(queueCrashes, q.name, 1) }

// Skipped counts a pass that ended with a skip.
func (q *Queue) Skipped() { q.skips.add(queueSkips, q.name, 1) }

// Requeued counts an item put back for later, by error or on request.
func (q *Queue) Requeued() { q.requeues.add(queueRequeues, q.name, 1) }

// Damped counts, for all controllers of the engine, a pass after which an item had to wait because its passes write what wakes
// them.
func (q *Queue) Damped() { q.damped.Inc() }

// Reconciled counts a finished pass of Reconcile, and sums how long it took.
func (q *Queue) Reconciled(took time.Duration) {
	q.processed.add(queueProcessed, q.name, 1)
	q.reconcileBusy.add(queueReconcileBusy, q.name, took)
}

// Maps counts a call of MapInput.
func (q *Queue) Maps() { q.mapIn.add(queueMappedIn, q.name, 1) }

// Mapped sums how long a call of MapInput took.
func (q *Queue) Mapped(took time.Duration) { q.mapBusy.add(queueMapBusy, q.name, took) }

// MappedTo counts pointers that a call of MapInput has returned.
func (q *Queue) MappedTo(pointers int) { q.mapOut.add(queueMappedOut, q.name, pointers) }

// Classic returns the metrics of a classic controller. The name is not empty.
func (e *Engine) Classic(name string) Classic {
	if !e.enabled {
		return Classic{}
	}

	return Classic{Calls: Calls{name: name}}
}

// Queue returns the metrics of a queue controller. The name is not empty.
func (e *Engine) Queue(name string) *Queue {
	if !e.enabled {
		return &Queue{}
	}

	return &Queue{Calls: Calls{name: name}, damped: e.damped}
}
