package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// How far the measurements at rest may lie from each other once the process is warm.
const (
	// heapShare and heapSlack are the share and the bytes of the heap, of which the larger one counts: a small heap
	// consists of what varies.
	heapShare = 0.05
	heapSlack = 8 << 20
	// goroutineSlack is how many goroutines without work the engine keeps, or not, for queue controllers.
	goroutineSlack = 16
	// warm is after what time the process is warm, or half of the run if that is shorter.
	warm = 5 * time.Minute
)

// report is the table that a run prints, and what is judged in the end.
type report struct {
	world   *world
	out     io.Writer
	samples []sample
}

// newReport prints the head of the table.
func newReport(w *world, out io.Writer) *report {
	columns := slices.Concat([]string{"time", "resources", "heap MB", "goroutines", "passes", "writes"}, faultNames[:],
		[]string{"watch failures", "relists", "checked", "lost"})

	fmt.Fprintf(out, "%d controllers, %d resources, %d groups, %v writes of sources a second, seed %d, for %s\n\n",
		w.settings.controllers, w.settings.resources, w.settings.groups(), w.settings.rate, w.settings.seed, w.settings.length)
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))

	return &report{world: w, out: out}
}

// line adds a sample, and prints a line with it.
func (r *report) line(s sample) {
	r.samples = append(r.samples, s)
	r.print(s.time.Round(time.Second).String(), fmt.Sprint(s.resources), fmt.Sprintf("%.1f", float64(s.heap)/1e6), fmt.Sprint(s.goroutines))
}

// end prints a last line, without a measurement, for a run that ends before its time. It returns the error.
func (r *report) end(err error) error {
	r.print("end", "", "", "")

	return err
}

func (r *report) print(cells ...string) {
	counts := r.world.counts
	numbers := []int64{counts.passes.Load(), counts.writes.Load()}

	for i := range counts.faults {
		numbers = append(numbers, counts.faults[i].Load())
	}

	numbers = append(numbers, counted("watch_failures"), counted("watch_relists"), counts.checked.Load(), counts.lost.Load())

	for _, number := range numbers {
		cells = append(cells, fmt.Sprint(number))
	}

	fmt.Fprintf(r.out, "| %s |\n", strings.Join(cells, " | "))
}

// judge compares all samples since the process was warm with the first of them, and prints what comes of it.
func (r *report) judge() error {
	first := slices.IndexFunc(r.samples, func(s sample) bool { return s.time >= min(warm, r.world.settings.length/2) })
	begin, last := r.samples[first], r.samples[len(r.samples)-1]

	fmt.Fprintf(r.out, "\nSince %s the heap has gone from %.1f to %.1f MB (%+.1f %%), and goroutines from %d to %d. No update was lost.\n",
		begin.time.Round(time.Second), float64(begin.heap)/1e6, float64(last.heap)/1e6,
		100*(float64(last.heap)/float64(begin.heap)-1), begin.goroutines, last.goroutines)

	return flat(r.samples[first:])
}

// flat returns an error for each sample that is too far from the first one.
func flat(samples []sample) error {
	var errs []error

	begin := samples[0]
	slack := max(heapShare*float64(begin.heap), heapSlack)

	for _, s := range samples {
		if difference := float64(s.heap) - float64(begin.heap); difference > slack || difference < -slack {
			errs = append(errs, fmt.Errorf("memory is not flat: %.1f MB after %s, %.1f MB after %s",
				float64(begin.heap)/1e6, begin.time.Round(time.Second), float64(s.heap)/1e6, s.time.Round(time.Second)))
		}

		if difference := s.goroutines - begin.goroutines; difference > goroutineSlack || difference < -goroutineSlack {
			errs = append(errs, fmt.Errorf("goroutines are not flat: %d after %s, %d after %s",
				begin.goroutines, begin.time.Round(time.Second), s.goroutines, s.time.Round(time.Second)))
		}
	}

	return errors.Join(errs...)
}
