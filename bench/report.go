package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/switchyard-run/switchyard/bench/internal/stats"
)

// row is a workload in the table.
type row struct {
	w     *workload
	size  int
	exact bool // whether all contenders of the row have figures
	quick bool // whether sizes are so small that targets do not apply

	peer, ours, floor     []float64
	peerLimit             float64
	ratio                 float64
	interval              stats.Interval
	growthPeer, growthOur string
	// excess is how many times the cost of one operation is that of the workload it is to be as cheap as, and excessFloor the
	// same of the floor.
	excess, excessFloor float64
	outcome             *outcome
}

// list prints the workloads.
func list(out io.Writer, chosen []*workload) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)

	for _, w := range chosen {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", w.name, targetText(w), w.judged(), w.what)
	}

	return table.Flush()
}

// worths returns what a contender is compared by, for each round.
func (o *outcome) worths(contender string, size int) []float64 {
	s := o.of(contender, size)
	if s == nil {
		return nil
	}

	worths := make([]float64, len(s.Figures))
	for i, f := range s.Figures {
		worths[i] = o.workload.worth(f)
	}

	return worths
}

// newRow works out what the table says about a workload.
func newRow(r *runner, o *outcome, all []*outcome) row {
	w, size := o.workload, r.nominal(o.workload)
	line := row{
		w: w, size: size, outcome: o, quick: r.settings.quick,
		peer: o.worths(peerName, size), ours: o.worths(oursName, size), floor: o.worths(floorName, size),
		growthPeer: growth(r, o, peerName), growthOur: growth(r, o, oursName),
	}

	for _, other := range all {
		if other.Name == w.steady {
			size := r.nominal(other.workload)
			line.excess = excess(line.ours, other.worths(oursName, size))
			line.excessFloor = excess(line.floor, other.worths(floorName, size))
		}
	}

	switch s := o.of(peerName, size); {
	case s != nil && s.Problem != "":
	case s != nil && s.Limit > 0:
		// Where time is compared, the limit of the round is a lower bound for what it would have been.
		if w.judged() == byTime && !w.single && len(line.ours) > 0 {
			line.peerLimit = s.Limit / float64(operations(o, size))
			line.ratio = line.peerLimit / stats.Median(line.ours)
		}
	case len(line.peer) > 0 && len(line.ours) > 0:
		line.exact = true
		line.ratio, line.interval = stats.Ratio(line.peer, line.ours)
	}

	return line
}

// excess returns how many times one cost is another, or 0 where one of them is not known.
func excess(costs, of []float64) float64 {
	if len(costs) == 0 || len(of) == 0 {
		return 0
	}

	return stats.Median(costs) / stats.Median(of)
}

// operations returns what a round does at a size, as any contender has counted it.
func operations(o *outcome, size int) int {
	for _, s := range o.Series {
		if s.Size == size && len(s.Figures) > 0 {
			return s.Figures[0].Ops
		}
	}

	return size
}

// growth renders the exponents between sizes.
func growth(r *runner, o *outcome, contender string) string {
	var texts []string

	sizes := r.sizes(o.workload)

	for i := 1; i < len(sizes); i++ {
		small, large := o.of(contender, sizes[i-1]), o.of(contender, sizes[i])

		switch {
		case small == nil || large == nil || len(small.Figures) == 0:
			texts = append(texts, "–")
		case large.Limit > 0 && large.Problem == "" && o.workload.judged() == byTime && !o.workload.single:
			texts = append(texts, fmt.Sprintf("> %.1f", exponent(o, small, []float64{large.Limit})))
		case len(large.Figures) == 0:
			texts = append(texts, "–")
		default:
			texts = append(texts, fmt.Sprintf("%.2f", exponent(o, small, costs(o, large))))
		}
	}

	if len(texts) == 0 {
		return "–"
	}

	return strings.Join(texts, ", ")
}

// costs returns that of which the growth is told: what whole rounds took, or single operations.
func costs(o *outcome, s *series) []float64 {
	all := make([]float64, len(s.Figures))

	for i, f := range s.Figures {
		all[i] = o.workload.worth(f)

		if !o.workload.single {
			all[i] *= float64(f.Ops)
		}
	}

	return all
}

func exponent(o *outcome, small *series, large []float64) float64 {
	return stats.Growth(1, stats.Median(costs(o, small)), factorBetween(o, small), stats.Median(large))
}

// factorBetween returns how many times larger the next size is.
func factorBetween(o *outcome, small *series) float64 {
	next := math.Inf(1)

	for _, s := range o.Series {
		if s.Size > small.Size {
			next = min(next, float64(s.Size))
		}
	}

	return next / float64(small.Size)
}

// holds says whether the target is reached.
func (l *row) holds() string {
	switch {
	case l.quick:
		return "–"
	case l.w.limit > 0 && len(l.ours) > 0:
		return yes(stats.Median(l.ours) <= l.w.limit)
	case l.excess > steadyWithin && l.excessFloor > steadyWithin:
		return l.nearFloor()
	case l.excess > 0:
		return yes(l.excess <= steadyWithin)
	case l.w.target == 0 || l.ratio == 0:
		return "–"
	case l.ratio < l.w.target && l.barred():
		return l.nearFloor()
	case l.exact && l.interval.Contains(l.w.target) && l.interval.Low < l.interval.High:
		return yes(l.ratio >= l.w.target) + ", within the spread"
	case !l.exact && l.ratio < l.w.target:
		return "not known"
	default:
		return yes(l.ratio >= l.w.target)
	}
}

// aboveFloor is by how much a figure may be above the floor where that bars it from the target.
const aboveFloor = 1.3

// nearFloor says whether ours is near the floor, where that bars it from the target.
func (l *row) nearFloor() string {
	above := stats.Median(l.ours) / stats.Median(l.floor)

	return fmt.Sprintf("%s, %.2f times the floor", yes(above <= aboveFloor), above)
}

// barred tells whether the target can not be reached because nobody gets below the floor.
func (l *row) barred() bool {
	return len(l.peer) > 0 && len(l.floor) > 0 && stats.Median(l.peer)/l.w.target <= stats.Median(l.floor)
}

func yes(holds bool) string {
	if holds {
		return "yes"
	}

	return "no"
}

// steadyWithin is by how much one operation may cost more than in the workload it is to be as cheap as.
const steadyWithin = 1.5

func targetText(w *workload) string {
	switch {
	case w.steady != "":
		return fmt.Sprintf("≤ %g times %s", steadyWithin, w.steady)
	case w.limit > 0:
		return "≤ " + worthText(w, w.limit)
	case w.target > 0:
		return fmt.Sprintf("≥ %g", w.target)
	default:
		return "–"
	}
}

// report renders the table.
func report(r *runner, outcomes []*outcome) string {
	var b strings.Builder

	kind := "Full run"
	if r.settings.quick {
		kind = "Quick run, with small sizes and few rounds: it shows that all works, the figures are no measure and targets do not apply"
	}

	fmt.Fprintf(&b, "%s. %d processors, %s, %s/%s, %d rounds, three times as many where the target is below 2, the peer limited to %s a round.\n\n",
		kind, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, r.settings.rounds, r.settings.peerLimit)
	b.WriteString("| workload | size | by | peer | ours | floor | ratio | target | holds | allocs/op peer, ours | peak heap peer, ours | growth peer | growth ours |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")

	for _, o := range outcomes {
		line := newRow(r, o, outcomes)
		peer := medianText(line.w, line.peer)

		switch s := o.of(peerName, line.size); {
		case line.peerLimit > 0:
			peer = "> " + worthText(line.w, line.peerLimit)
		case s != nil && s.Problem != "":
			peer = "failed"
		case s != nil && s.Limit > 0:
			peer = fmt.Sprintf("not in %.0f s", s.Limit)
		}

		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
			line.w.name, line.size, line.w.judged(), peer, medianText(line.w, line.ours), medianText(line.w, line.floor),
			line.ratioText(), targetText(line.w), line.holds(),
			line.both(func(f figures) float64 { return f.Allocs / float64(f.Ops) }, func(v float64) string { return fmt.Sprintf("%.1f", v) }),
			line.both(func(f figures) float64 { return f.PeakHeap }, byteText),
			line.growthPeer, line.growthOur)
	}

	return b.String()
}

func (l *row) ratioText() string {
	switch {
	case l.excess > 0:
		return number(l.excess) + " times"
	case l.ratio == 0:
		return "–"
	case !l.exact:
		return "> " + number(l.ratio)
	case l.interval.Low == l.interval.High:
		return number(l.ratio)
	default:
		return fmt.Sprintf("%s (%s–%s)", number(l.ratio), number(l.interval.Low), number(l.interval.High))
	}
}

// both renders the medians of a figure of both engines.
func (l *row) both(of func(figures) float64, text func(float64) string) string {
	var texts []string

	for _, name := range []string{peerName, oursName} {
		s := l.outcome.of(name, l.size)
		if s == nil || len(s.Figures) == 0 {
			texts = append(texts, "–")

			continue
		}

		values := make([]float64, len(s.Figures))
		for i, f := range s.Figures {
			values[i] = of(f)
		}

		texts = append(texts, text(stats.Median(values)))
	}

	return strings.Join(texts, ", ")
}

func medianText(w *workload, values []float64) string {
	if len(values) == 0 {
		return "–"
	}

	return worthText(w, stats.Median(values))
}

// worthText renders what engines are compared by.
func worthText(w *workload, value float64) string {
	if w.in == "B" {
		return fmt.Sprintf("%.0f B", value)
	}

	return secondsText(value)
}

// secondsText renders a time.
func secondsText(value float64) string {
	switch {
	case value >= 1:
		return number(value) + " s"
	case value >= 1e-3:
		return number(value*1e3) + " ms"
	case value >= 1e-6:
		return number(value*1e6) + " µs"
	default:
		return number(value*1e9) + " ns"
	}
}

// number renders three digits.
func number(value float64) string {
	switch {
	case math.Abs(value) >= 100:
		return fmt.Sprintf("%.0f", value)
	case math.Abs(value) >= 10:
		return fmt.Sprintf("%.1f", value)
	default:
		return fmt.Sprintf("%.2f", value)
	}
}

func byteText(value float64) string { return number(value/(1<<20)) + " MiB" }
