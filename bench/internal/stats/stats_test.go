package stats_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/switchyard-run/switchyard/bench/internal/stats"
)

func TestMedian(t *testing.T) {
	values := []float64{3, 1, 2}

	assert.Equal(t, 2.0, stats.Median(values))
	assert.Equal(t, []float64{3, 1, 2}, values, "the values are left as they are")
	assert.Equal(t, 2.5, stats.Median([]float64{1, 2, 3, 9}))
	assert.True(t, math.IsNaN(stats.Median(nil)))
}

func TestRatio(t *testing.T) {
	ratio, interval := stats.Ratio([]float64{10, 11, 12, 10, 11}, []float64{1, 1.1, 1.2, 1, 1.1})

	assert.InDelta(t, 10, ratio, 1e-9)
	assert.InDelta(t, 10, interval.Low, 1e-9, "pairs stay together")
	assert.InDelta(t, 10, interval.High, 1e-9)

	ratio, interval = stats.Ratio([]float64{10, 20, 30, 40}, []float64{1, 1, 1, 1})

	assert.InDelta(t, 25, ratio, 1e-9)
	assert.True(t, interval.Contains(ratio))
	assert.Less(t, interval.Low, 20.0)
	assert.Greater(t, interval.High, 30.0)

	ratio, interval = stats.Ratio([]float64{10}, []float64{5, 5})

	assert.InDelta(t, 2, ratio, 1e-9)
	assert.Equal(t, stats.Interval{Low: ratio, High: ratio}, interval)
}

func TestGrowth(t *testing.T) {
	assert.InDelta(t, 1, stats.Growth(10, 1, 100, 10), 1e-9)
	assert.InDelta(t, 2, stats.Growth(10, 1, 100, 100), 1e-9)
}
