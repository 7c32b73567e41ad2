package backoff_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/backoff"
)

// doubling has no jitter, so that delays can be told.
func doubling() backoff.Policy { return backoff.Policy{Base: time.Second, Factor: 2, Max: time.Hour} }

func TestRetryBacksOffUntilARunIsHealthy(t *testing.T) {
	t.Parallel()

	r := backoff.NewRetry(doubling(), backoff.Healthy, nil)

	fail := func(ran time.Duration, attempt int, delay time.Duration) {
		t.Helper()

		gotAttempt, gotDelay := r.Failed(ran)
		require.Equal(t, attempt, gotAttempt)
		require.Equal(t, delay, gotDelay)
	}

	fail(0, 1, time.Second)
	fail(59*time.Second, 2, 2*time.Second)
	fail(0, 3, 4*time.Second)
	fail(time.Minute, 1, time.Second)
	fail(0, 2, 2*time.Second)

	r.Reset()
	fail(0, 1, time.Second)

	// What counts as healthy is the caller's.
	r = backoff.NewRetry(doubling(), time.Hour, nil)

	fail(time.Minute, 1, time.Second)
	fail(time.Minute, 2, 2*time.Second)
	fail(time.Hour, 1, time.Second)
}

// The delays are those of the policy with the draws of the source, and never end.
func TestRetryFollowsItsPolicy(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		seed, name := rapid.Uint64().Draw(t, "seed"), rapid.String().Draw(t, "name")
		policy := backoff.EngineRestart()

		r := backoff.NewRetry(policy, backoff.Healthy, backoff.NewRandom(seed, name).Float64)
		same := backoff.NewRandom(seed, name)

		for attempt := 1; attempt <= 50; attempt++ {
			_, delay := r.Failed(0)
			require.Equal(t, policy.Delay(attempt, same.Float64), delay)
		}
	})
}

// Each controller draws its own values, which depend on nothing but the seed and its name.
func TestRandomDependsOnSeedAndName(t *testing.T) {
	t.Parallel()

	draw := func(seed uint64, name string) [3]float64 {
		r := backoff.NewRandom(seed, name)

		return [3]float64{r.Float64(), r.Float64(), r.Float64()}
	}

	require.Equal(t, draw(1, "a"), draw(1, "a"))
	require.NotEqual(t, draw(1, "a"), draw(1, "b"))
	require.NotEqual(t, draw(1, "a"), draw(2, "a"))

	// It is shared by the goroutines of a controller.
	r := backoff.NewRandom(1, "a")

	var draws sync.WaitGroup

	for range 4 {
		draws.Go(func() {
			for range 100 {
				r.Float64()
			}
		})
	}

	draws.Wait()
}

func TestSleep(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		clock := clockwork.NewRealClock()
		start := time.Now()

		require.True(t, backoff.Sleep(t.Context(), clock, time.Hour))
		require.Equal(t, time.Hour, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		require.False(t, backoff.Sleep(ctx, clock, time.Hour))
		require.Equal(t, time.Hour+time.Minute, time.Since(start))

		for range 100 {
			require.False(t, backoff.Sleep(ctx, clock, 0), "it has ended, whatever else is due")
		}
	})
}
