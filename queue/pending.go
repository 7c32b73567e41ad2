package queue

import "time"

// PendingItem is one key of a [Keyed] as [Keyed.Pending] saw it.
type PendingItem[K comparable] struct {
	Key   K
	State State
	// Lane is the line in which a ready key waits or a delayed one will, or from which a processing one was taken.
	Lane Lane
	// Again tells that a key was put while it was being processed, and will be ready at Done.
	Again bool
	// Due is when a delayed key becomes ready, zero for others.
	Due time.Time
	// Failures counts since the key was last forgotten.
	Failures int
}

// Pending lists all keys in the queue for inspection: the ready ones lane by lane and the delayed ones by due time, each
// in the order of their turn, then those being processed in the order in which they were taken. Its cost grows with the
// number of keys, and others wait meanwhile.
func (q *Keyed[K, V]) Pending() []PendingItem[K] {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.collectDueLocked()

	t := &q.items
	items := make([]PendingItem[K], 0, t.readyCount()+t.delayedCount()+t.out.count)

	add := func(e *entry[K, V]) {
		item := PendingItem[K]{Key: e.key, State: e.state, Lane: e.lane, Again: e.again != 0, Failures: int(e.failures)}

		if !e.waits() {
			return
		}

		if e.state == Delayed || e.state == firm {
			item.State, item.Due = Delayed, q.alarm.start.Add(e.at)
		}

		items = append(items, item)
	}

	t.entries.each(t.line(Live), add)

	for key := range t.series.all() {
		items = append(items, PendingItem[K]{Key: key, State: Ready, Lane: Fill})
	}

	t.entries.each(t.line(Fill), add)

	for _, s := range t.delayed.sorted() {
		add(t.entries.at(s.element))
	}

	t.entries.each(&t.out, add)

	return items
}
