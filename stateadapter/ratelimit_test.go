package stateadapter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/switchyard-run/switchyard/stateadapter"
)

// limited is an adapter that may write once a second, and twice at first, on the clock of the bubble.
func limited(t *testing.T) *bench {
	d := writes(controller.OutputShared)
	d.inputs = []controller.Input{{Namespace: "in", Type: intType, Kind: controller.InputStrong}}

	return newBench(t, d, func(cfg *stateadapter.Config) { cfg.Limiter = rate.NewLimiter(1, 2) })
}

func TestWritesWaitForTheirTurn(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := limited(t)
		start := time.Now()

		var at []time.Duration

		for i := range 4 {
			require.NoError(t, b.Create(t.Context(), number(fmt.Sprint(i), i)))
			at = append(at, time.Since(start))
		}

		require.Equal(t, []time.Duration{0, 0, time.Second, 2 * time.Second}, at)

		// Reads are not limited.
		_, err := b.List(t.Context(), ptr(""))
		require.NoError(t, err)
		require.Equal(t, 2*time.Second, time.Since(start))
	})
}

// The limit is kept on the clock that the adapter was given.
func TestWritesWaitOnTheGivenClock(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	b := newBench(t, writes(controller.OutputShared), func(cfg *stateadapter.Config) {
		cfg.Limiter, cfg.Clock = rate.NewLimiter(rate.Every(time.Hour), 1), clock
	})

	require.NoError(t, b.Create(t.Context(), number("a", 1)))

	written := make(chan error)

	go func() { written <- b.Create(t.Context(), number("b", 1)) }()

	require.NoError(t, clock.BlockUntilContext(t.Context(), 1))
	require.EqualValues(t, 1, b.counted.writes.Load())

	clock.Advance(time.Hour)
	require.NoError(t, <-written)
}

// Who gives up returns the turn, and the state is not touched.
func TestWaitingWriteRespectsItsContext(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := limited(t)

		require.NoError(t, b.Create(t.Context(), number("a", 1)))
		require.NoError(t, b.Create(t.Context(), number("b", 1)))

		cause := errors.New("no longer wanted")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, cause)
		defer cancel()

		calls := b.counted.calls()
		err := b.Create(ctx, number("c", 1))

		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, me)
		require.ErrorContains(t, err, "create")
		require.ErrorContains(t, err, "c")
		require.Equal(t, calls, b.counted.calls())

		start := time.Now()
		require.NoError(t, b.Create(t.Context(), number("d", 1)))
		require.Equal(t, 900*time.Millisecond, time.Since(start), "the turn that was given up")
	})
}

// A refusal does not wait, and does not make the next write wait.
func TestRefusalsCostNoTurn(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := limited(t)
		start := time.Now()

		for range 10 {
			require.ErrorIs(t, b.AddFinalizer(t.Context(), ptr("a"), me), stateadapter.ErrNotHoldable)
		}

		require.NoError(t, b.Create(t.Context(), number("a", 1)))
		require.NoError(t, b.Create(t.Context(), number("b", 1)))
		require.Zero(t, time.Since(start))
	})
}

// A limit that lets nothing pass is an error, not a wait for ever.
func TestLimitWithoutABurst(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), func(cfg *stateadapter.Config) { cfg.Limiter = rate.NewLimiter(1, 0) })

	require.ErrorContains(t, b.Create(t.Context(), number("a", 1)), "rate limit")
	require.Zero(t, b.counted.calls())
}
