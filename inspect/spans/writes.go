package spans

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/reduced"
)

// mostWrites is how many writes of one resource are remembered.
const mostWrites = 8

// origin is a pass that others may have been caused by.
type origin struct {
	began time.Time
	ended time.Time // zero while it runs
	span  trace.SpanContext
}

type write struct {
	by     *origin
	access cause.Access
}

// writes are the last writes of resources.
type writes struct{ recent[reduced.Key, []write] }

// add notes what a pass has written.
func (w *writes) add(by *origin, accesses []cause.Access) {
	for _, access := range accesses {
		of := append(w.get(access.Resource), write{by, access})

		// A pass that ran for long is known late.
		slices.SortStableFunc(of, func(a, b write) int { return a.by.began.Compare(b.by.began) })

		if len(of) > mostWrites {
			of = slices.Delete(of, 0, len(of)-mostWrites)
		}

		w.set(access.Resource, of)
	}
}

// madeBy returns who has made the changes of a cause of a pass, whose origin is of, and how many of them nobody has who is
// remembered. Before is when the pass before began that was for the same. Unsure tells that somebody may have who is forgotten.
func (w *writes) madeBy(of *origin, c *cause.Cause, before time.Time) (by []*origin, others int, unsure bool) {
	var (
		all        []write
		candidates []cause.Candidate
	)

	known := w.get(c.Resource)

	for i := range known {
		if wrote := &known[i]; wrote.by != of && !wrote.by.began.After(of.began) {
			all = append(all, *wrote)
			candidates = append(candidates, cause.Candidate{
				Access: &wrote.access, Earlier: !wrote.by.ended.IsZero() && wrote.by.ended.Before(before),
			})
		}
	}

	made := c.MadeBy(candidates)

	for _, i := range made {
		if !slices.Contains(by, all[i].by) {
			by = append(by, all[i].by)
		}
	}

	others = int(c.Events) - len(made)

	return by, others, others > 0 && len(known) == mostWrites
}
