package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/backoff"
)

// Whatever a policy says that is valid, delays are as long as it has them, and grow.
func FuzzPolicy(f *testing.F) {
	f.Add(int64(time.Second), int64(time.Minute), 2.0, 0.5, 3, 0.25)
	f.Add(int64(1), int64(math.MaxInt64), 1.5, 1.0, 1_000, 0.999)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), 1.0, 0.0, math.MinInt, 0.0)
	f.Add(int64(time.Hour), int64(time.Hour), math.MaxFloat64, math.SmallestNonzeroFloat64, math.MaxInt, 0.5)
	f.Add(int64(0), int64(-1), math.NaN(), math.Inf(-1), 0, math.NaN())

	f.Fuzz(func(t *testing.T, base, most int64, factor, jitter float64, attempt int, draw float64) {
		p := backoff.Policy{Base: time.Duration(base), Factor: factor, Max: time.Duration(most), Jitter: jitter}

		plain, spread := p.Delay(attempt, nil), p.Delay(attempt, func() float64 { return draw })
		require.Positive(t, plain)
		require.Positive(t, spread)

		if p.Validate() != nil {
			return
		}

		// Durations of years are rounded on the way.
		const about = 1 + 1e-9

		require.LessOrEqual(t, float64(plain), float64(p.Max)*about)
		require.GreaterOrEqual(t, float64(plain)*about, float64(p.Base)-1)

		if attempt < math.MaxInt {
			require.LessOrEqual(t, float64(plain), float64(p.Delay(attempt+1, nil))*about)
		}

		if draw >= 0 && draw < 1 {
			require.GreaterOrEqual(t, float64(spread), float64(plain)*(1-p.Jitter)/about-2)
			require.LessOrEqual(t, float64(spread), float64(plain)*(1+p.Jitter)*about+2)
		}
	})
}
