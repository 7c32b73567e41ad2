package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"time"
)

// figures are what one round measures. Times are in seconds, memory is in bytes.
type figures struct {
	// Seconds and CPU are what the measured part took on the clock and of the processors.
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"`
	// Ops is what the measured part did, in the unit of the workload.
	Ops int `json:"ops"`
	// Allocs and Bytes are what the measured part allocated.
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`
	// PeakHeap is the largest heap seen in the measured part, PeakRSS the largest memory of the whole process.
	PeakHeap float64 `json:"peak_heap"`
	PeakRSS  float64 `json:"peak_rss"`
	// Value is what engines are compared by, where it is neither time on the clock nor processor time.
	Value float64 `json:"value,omitempty"`
	// Extra is whatever else a workload has to tell, by name.
	Extra map[string]float64 `json:"extra,omitempty"`
}

// reading is what the counters of the process say at one moment.
type reading struct {
	at            time.Time
	cpu           time.Duration
	allocs, bytes uint64
}

func read() (reading, error) {
	counters := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(counters)

	cpu, err := processorTime()

	return reading{time.Now(), cpu, counters[0].Value.Uint64(), counters[1].Value.Uint64()}, err
}

// since puts into f what has been used since an earlier reading.
func (f *figures) since(before, after reading) {
	f.Seconds = after.at.Sub(before.at).Seconds()
	f.CPU = (after.cpu - before.cpu).Seconds()
	f.Allocs = float64(after.allocs - before.allocs)
	f.Bytes = float64(after.bytes - before.bytes)
}

// heapNow returns the size of the objects on the heap, dead ones that are not swept yet included.
func heapNow() float64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)

	return float64(sample[0].Value.Uint64())
}

// sampling is how often the heap is looked at.
const sampling = 10 * time.Millisecond

// watchHeap samples the heap until the returned function is called, which returns the largest seen.
func watchHeap() func() float64 {
	stop, peak := make(chan struct{}), make(chan float64)

	go func() {
		ticker := time.NewTicker(sampling)
		defer ticker.Stop()

		largest := heapNow()

		for {
			select {
			case <-ticker.C:
				largest = max(largest, heapNow())
			case <-stop:
				peak <- max(largest, heapNow())

				return
			}
		}
	}()

	return func() float64 {
		close(stop)

		return <-peak
	}
}

// peakRSS returns the largest memory that the process has had, or 0 where the system does not say.
func peakRSS() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}

	for line := range bytes.Lines(status) {
		if size, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kilobytes, err := strconv.ParseFloat(string(bytes.Fields(size)[0]), 64)
			if err != nil {
				panic(fmt.Sprintf("/proc/self/status: %v", err))
			}

			return kilobytes * 1024
		}
	}

	return 0
}
