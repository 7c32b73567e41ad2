package prom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchyard-run/switchyard/cause"
)

// bounds is how many bounds a histogram has that is shown. Those of the engine go up by two, and every other one is enough: from
// a microsecond to a minute, each four times the one before.
const bounds = (len(cause.Histogram{}.Buckets) - 1 + 1) / 2

// histogram is a [cause.Histogram] as it is shown.
type histogram struct {
	upTo    [bounds]uint64 // how many were up to each bound
	count   uint64
	seconds float64
}

func histogramOf(h *cause.Histogram) (out histogram) {
	var sum uint64

	for i, n := range h.Buckets {
		sum += n

		if i%2 == 0 && i/2 < bounds {
			out.upTo[i/2] = sum
		}
	}

	out.count, out.seconds = h.Count, h.Sum.Seconds()

	return out
}

func (h *histogram) add(other *histogram) {
	for i, n := range other.upTo {
		h.upTo[i] += n
	}

	h.count += other.count
	h.seconds += other.seconds
}

func (h *histogram) metric(desc *prometheus.Desc, labels ...string) prometheus.Metric {
	buckets := make(map[float64]uint64, bounds)
	for i, n := range h.upTo {
		buckets[(*cause.Histogram)(nil).Upper(2*i).Seconds()] = n
	}

	return prometheus.MustNewConstHistogram(desc, h.count, h.seconds, buckets, labels...)
}
