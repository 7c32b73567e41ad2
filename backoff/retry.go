package backoff

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// Healthy is how long a run of a controller or a hook must last for its failure to count as the first one again.
const Healthy = time.Minute

// Random is a source of randomness that several goroutines may share.
type Random struct {
	// mu guards source.
	mu     sync.Mutex
	source rand.PCG
}

// NewRandom returns the source for one controller: the same seed and name give the same values.
func NewRandom(seed uint64, name string) *Random {
	// FNV-1a, so that a controller's draws do not depend on who was registered before it.
	hash := uint64(14695981039346656037)

	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * 1099511628211
	}

	r := &Random{}
	r.source.Seed(seed, hash)

	return r
}

// Float64 returns the next value in [0, 1).
func (r *Random) Float64() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()

	return rand.New(&r.source).Float64()
}

// Retry counts the failures of one long-running callback and says when to try again. It is safe for concurrent use.
type Retry struct {
	policy  Policy
	healthy time.Duration
	random  func() float64

	// mu guards attempt.
	mu      sync.Mutex
	attempt int
}

// NewRetry returns a retry without failures. A run of at least the length given as healthy makes the failure that ends it
// the first one.
func NewRetry(policy Policy, healthy time.Duration, random func() float64) *Retry {
	return &Retry{policy: policy, healthy: healthy, random: random}
}

// Reset forgets the failures.
func (r *Retry) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.attempt = 0
}

// Failed counts a failure after a run of the given length, and returns which failure in a row it is and how long to
// wait.
func (r *Retry) Failed(ran time.Duration) (attempt int, delay time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if ran >= r.healthy {
		r.attempt = 0
	}

	r.attempt++

	return r.attempt, r.policy.Delay(r.attempt, r.random)
}

// Sleep waits for the delay on the clock and tells whether it came to an end before the context did.
func Sleep(ctx context.Context, clock clockwork.Clock, delay time.Duration) bool {
	timer := clock.NewTimer(delay)
	defer timer.Stop()

	select {
	case <-timer.Chan():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
