package queue

import "time"

// Stats counts what is in a queue at one moment.
type Stats struct {
	// Ready is how many keys can be taken now, those included whose delay is over.
	Ready int
	// Delayed is how many keys become ready later; in a [Queue], how many delayed adds and waits are to come.
	Delayed int
	// Processing is how many keys are out.
	Processing int
	// OldestWait is for how long the first key has waited in its lane, the longer of the two lanes; 0 if none is ready.
	OldestWait time.Duration
}

// stats counts what the table holds; delayed is counted by the owner.
func (t *table[K, V]) stats(delayed int, now time.Duration) Stats {
	s := Stats{Ready: t.readyCount(), Delayed: delayed, Processing: t.out.count}

	if since, ok := t.oldest(); ok {
		s.OldestWait = max(now-since, 0)
	}

	return s
}
