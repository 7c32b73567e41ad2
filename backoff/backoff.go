// Package backoff owns how long to wait before a retry. It starts no goroutine.
//
// A [Policy] is a value: it turns an attempt number into a delay. Whoever retries counts the attempts, or has a [Retry] count
// them, and brings the clock and the source of randomness, such as a [Random], so that a simulated run repeats.
package backoff

import (
	"fmt"
	"math"
	"time"
)

// Policy describes exponential backoff. It is a plain value and safe to share; it has no time limit, a caller
// retries for as long as it wants to.
type Policy struct {
	// Base is the delay after the first failure.
	Base time.Duration
	// Factor multiplies the delay with each further failure, at least 1.
	Factor float64
	// Max caps the delay before jitter.
	Max time.Duration
	// Jitter spreads each delay by up to this share in both directions: 0.5 means 50 % to 150 %. From 0 to 1.
	Jitter float64
}

// EngineRestart is the policy of restarts and of failing items in the engine: 0.5 s, x1.5, at most 60 s, ±50 %.
func EngineRestart() Policy {
	return Policy{Base: 500 * time.Millisecond, Factor: 1.5, Max: time.Minute, Jitter: 0.5}
}

// Authoring is the policy of the engine-free queue and of typed controllers: 1 s, x2, at most 60 s, ±10 %.
func Authoring() Policy {
	return Policy{Base: time.Second, Factor: 2, Max: time.Minute, Jitter: 0.1}
}

// Watch is the policy for reopening a broken watch: 50 ms, x2, at most 10 s, ±50 %.
func Watch() Policy {
	return Policy{Base: 50 * time.Millisecond, Factor: 2, Max: 10 * time.Second, Jitter: 0.5}
}

// Validate tells what is wrong with a policy, naming the field, or returns nil.
func (p Policy) Validate() error {
	switch {
	case p.Base <= 0:
		return fmt.Errorf("backoff: Base is %s, it must be above 0", p.Base)
	case p.Factor < 1 || math.IsNaN(p.Factor) || math.IsInf(p.Factor, 0):
		return fmt.Errorf("backoff: Factor is %v, it must be at least 1", p.Factor)
	case p.Max < p.Base:
		return fmt.Errorf("backoff: Max is %s, it must not be below Base (%s)", p.Max, p.Base)
	case !(p.Jitter >= 0 && p.Jitter <= 1):
		return fmt.Errorf("backoff: Jitter is %v, it must lie between 0 and 1", p.Jitter)
	default:
		return nil
	}
}

// Delay returns the wait before the given attempt's retry: attempt 1 is the first failure. Attempts below 1 count as
// 1. The random function returns values in [0, 1), as rand.Float64 of math/rand/v2 does; nil means no jitter.
func (p Policy) Delay(attempt int, random func() float64) time.Duration {
	delay := min(float64(p.Base)*math.Pow(p.Factor, float64(max(attempt, 1)-1)), float64(p.Max))

	if random != nil && p.Jitter > 0 {
		delay *= 1 + p.Jitter*(2*random()-1)
	}

	if delay >= math.MaxInt64 {
		return math.MaxInt64 // which no float64 is: what is longer would come out as less than nothing
	}

	return max(time.Duration(delay), 1)
}
