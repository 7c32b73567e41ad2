package cause

import (
	"math"
	"math/bits"
	"time"
)

const (
	// buckets is how many a histogram has. The first is for all below a microsecond, the last for all above a minute.
	buckets = 28
	// firstBits is how many bits a number of nanoseconds of the first bucket has at most.
	firstBits = 10
)

// Histogram counts times by how long they were, in buckets of which each goes up to twice as far as the one before.
type Histogram struct {
	// Buckets count those that were above the bound of the bucket before and not above its own: see Upper.
	Buckets [buckets]uint64
	// Count is how many there were, and Sum what they came to.
	Count uint64
	Sum   time.Duration
}

// Upper returns the bound of a bucket, which is in it: 1.024 µs for the first one, and twice that of the one before for each
// other, up to some 69 s. The last one, which has no bound, has the longest time there is.
func (*Histogram) Upper(bucket int) time.Duration {
	if bucket >= buckets-1 {
		return math.MaxInt64
	}

	return 1 << (firstBits + max(bucket, 0))
}

func (h *Histogram) add(d time.Duration) {
	d = max(d, 0)
	h.Buckets[min(max(bits.Len64(uint64(max(d-1, 0)))-firstBits, 0), buckets-1)]++
	h.Count++
	h.Sum += d
}

func (h *Histogram) addAll(other *Histogram) {
	for i, n := range other.Buckets {
		h.Buckets[i] += n
	}

	h.Count += other.Count
	h.Sum += other.Sum
}

// Timings are how long all passes of a controller have taken, those included that are forgotten. Run hooks are not counted.
type Timings struct {
	// Durations are how long passes took that have ended, and Waits how long that had waited which they were for: an item from
	// when it could be taken until it was, a wakeup of a classic controller from when it was sent until the first call of the
	// pass. An item that is put while it is worked on can be taken when that has ended, and a delayed one when the delay has. A
	// pass that nothing has waited for, as that before the first wakeup of a classic controller, has no wait.
	Durations, Waits Histogram
	// Outcomes count the passes by what has come of them, with those that run as Running.
	Outcomes [Stopped + 1]uint64
}

func (t *Timings) addAll(other *Timings) {
	t.Durations.addAll(&other.Durations)
	t.Waits.addAll(&other.Waits)

	for i, n := range other.Outcomes {
		t.Outcomes[i] += n
	}
}

// Timings returns how long the passes have taken until now.
func (t *Tracer) Timings() (all Timings) {
	for _, r := range t.all() {
		r.timeInto(&all)
	}

	return all
}

func (r *ring) timeInto(all *Timings) {
	r.mu.Lock()
	defer r.mu.Unlock()

	all.addAll(&r.timings)

	for _, o := range r.passes {
		if o.outcome == Running && o.with.Doing != Hooking {
			all.Outcomes[Running]++
		}
	}
}
