// Package stats holds the little statistics that benchmarks need. It owns nothing and starts no goroutine.
package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Median returns the middle of the values, or NaN if there are none. The values are left as they are.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}

	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2

	if len(sorted)%2 == 1 {
		return sorted[middle]
	}

	return (sorted[middle-1] + sorted[middle]) / 2
}

// Interval is a range in which a figure lies.
type Interval struct{ Low, High float64 }

// Contains tells whether a value is in the range.
func (i Interval) Contains(value float64) bool { return i.Low <= value && value <= i.High }

// resamples is how often the bootstrap draws. More would not change two digits.
const resamples = 2_000

// Ratio returns the ratio of the medians of paired values, and the interval in which it lies with a confidence of 95 %,
// by a bootstrap that draws pairs. Pairs are what was measured in one round; values without a partner are left out of
// the interval. With less than two pairs the interval is the ratio itself. The draws are seeded: the same values give
// the same interval.
func Ratio(above, below []float64) (float64, Interval) {
	ratio := Median(above) / Median(below)
	pairs := min(len(above), len(below))

	if pairs < 2 {
		return ratio, Interval{ratio, ratio}
	}

	draw := rand.New(rand.NewPCG(1, 2))
	ratios := make([]float64, resamples)
	a, b := make([]float64, pairs), make([]float64, pairs)

	for i := range ratios {
		for j := range pairs {
			k := draw.IntN(pairs)
			a[j], b[j] = above[k], below[k]
		}

		ratios[i] = Median(a) / Median(b)
	}

	slices.Sort(ratios)

	return ratio, Interval{ratios[resamples/40], ratios[resamples-1-resamples/40]}
}

// Growth returns the exponent with which a cost grows between two sizes: 1 is linear, 2 quadratic.
func Growth(size1, cost1, size2, cost2 float64) float64 {
	return math.Log(cost2/cost1) / math.Log(size2/size1)
}
