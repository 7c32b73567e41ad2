package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/switchyard-run/switchyard/bench/internal/stats"
)

// The contenders of a run that says what it costs to remember passes.
const (
	tracedName   = "traced"
	untracedName = "untraced"
)

// tracingRounds is how many rounds such a run has: what it looks for is a few parts in a hundred.
const tracingRounds = 15

// tracingRows are the workloads that it has: those in which controllers do next to nothing, so that what the engine does is
// most of what there is, and one with reads and writes.
const tracingRows = `^(queue-(parked-20000|start-100000|start-100000-8|creates-100000|mapped-10000)|fan.*|cached-own-writes)$`

// tracingReport renders what remembering passes costs.
func tracingReport(r *runner, outcomes []*outcome) string {
	var b strings.Builder

	fmt.Fprintf(&b, "%d processors, %s, %s/%s, %d rounds.\n\n", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, r.settings.rounds)
	b.WriteString("| workload | processor, untraced | traced | traced ÷ untraced | more | time, untraced | traced | traced ÷ untraced | allocs/op untraced, traced |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")

	for _, o := range outcomes {
		size := r.nominal(o.workload)
		cpuOff, cpuOn := o.each(untracedName, size, figures.cpu), o.each(tracedName, size, figures.cpu)
		timeOff, timeOn := o.each(untracedName, size, figures.time), o.each(tracedName, size, figures.time)
		allocsOff, allocsOn := o.each(untracedName, size, figures.allocs), o.each(tracedName, size, figures.allocs)

		if len(cpuOff) == 0 || len(cpuOn) == 0 {
			fmt.Fprintf(&b, "| %s | – | – | – | – | – | – | – | – |\n", o.Name)

			continue
		}

		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %.1f, %.1f |\n", o.Name,
			medianTime(cpuOff), medianTime(cpuOn), timesText(cpuOn, cpuOff), secondsText(stats.Median(cpuOn)-stats.Median(cpuOff)),
			medianTime(timeOff), medianTime(timeOn), timesText(timeOn, timeOff), stats.Median(allocsOff), stats.Median(allocsOn))
	}

	return b.String()
}

// cpu, time and allocs are those of one operation.
func (f figures) cpu() float64    { return f.CPU / float64(f.Ops) }
func (f figures) time() float64   { return f.Seconds / float64(f.Ops) }
func (f figures) allocs() float64 { return f.Allocs / float64(f.Ops) }

// each returns a figure of a contender for each round.
func (o *outcome) each(contender string, size int, of func(figures) float64) []float64 {
	var values []float64

	if s := o.of(contender, size); s != nil {
		for _, f := range s.Figures {
			values = append(values, of(f))
		}
	}

	return values
}

func medianTime(values []float64) string { return secondsText(stats.Median(values)) }

// timesText renders how many times the one is the other, and the interval.
func timesText(above, below []float64) string {
	ratio, in := stats.Ratio(above, below)

	return fmt.Sprintf("%.3f (%.3f–%.3f)", ratio, in.Low, in.High)
}
