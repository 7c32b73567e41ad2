package cause_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cause"
)

// remembered is the plain list that a ring of passes has to agree with.
type remembered struct {
	most  int
	ended []cause.Pass // in the order in which they have ended
	lost  time.Time
}

// end adds a pass that has ended. Those that have written nothing go first, the oldest one first, unless those that have written
// are more than half, and older.
func (r *remembered) end(p cause.Pass) {
	r.ended = append(r.ended, p)
	if len(r.ended) <= r.most {
		return
	}

	wrote, goes := 0, 0

	for i := range r.ended {
		if len(r.ended[i].Writes) > 0 {
			wrote++
		}
	}

	if wrote <= r.most/2 {
		goes = slices.IndexFunc(r.ended, func(p cause.Pass) bool { return len(p.Writes) == 0 })
	}

	if gone := r.ended[goes]; len(gone.Writes) > 0 && gone.Ended.After(r.lost) {
		r.lost = gone.Ended
	}

	r.ended = slices.Delete(r.ended, goes, goes+1)
}

// What is remembered, whoever has worked and written, is what a plain list remembers.
func TestRememberedPassesAgreeWithAPlainList(t *testing.T) {
	t.Parallel()

	for seed := range uint64(200) {
		testRemembered(t, rand.New(rand.NewPCG(seed, 0)))
	}
}

func testRemembered(t *testing.T, r *rand.Rand) {
	workers := 1 + r.IntN(8)
	places := workers * (1 + r.IntN(10))
	tracer := cause.New(cause.Config{Controller: "c", Passes: places, Workers: workers})
	epoch := time.Unix(1000, 0)
	tracer.From(epoch)

	hands, open := make([]*cause.Hand, workers), make([]*cause.Open, workers)
	models, running := make([]remembered, workers), make([]cause.Pass, workers)

	for i := range hands {
		hands[i] = tracer.Within(context.Background())
		models[i].most = places / workers
	}

	writes := r.IntN(10) // of ten passes

	for step := range 50 + r.IntN(500) {
		at, i := time.Duration(step+1)*time.Second, r.IntN(workers)

		switch p := &running[i]; {
		case open[i] == nil:
			open[i] = hands[i].Begin(&cause.Begin{At: at, Waited: -1})
			*p = cause.Pass{Controller: "c", Number: tracer.Count(), Began: epoch.Add(at)}
		case len(p.Writes) < 3 && r.IntN(10) < writes:
			open[i].Wrote("modify", key("a").Pointer(), uint64(step), 0)
			p.Writes = append(p.Writes, cause.Access{Resource: key("a"), Verb: "modify", Version: uint64(step)})
		case r.IntN(2) == 0:
			p.Ended, p.Outcome = epoch.Add(at), cause.Skipped
			models[i].end(*p)

			open[i] = open[i].Next(at, cause.Skipped, &cause.Begin{At: at, Waited: -1})
			*p = cause.Pass{Controller: "c", Number: tracer.Count(), Began: epoch.Add(at)}
		default:
			open[i].End(at, cause.Succeeded, nil, 0)
			p.Ended, p.Outcome = epoch.Add(at), cause.Succeeded
			models[i].end(*p)

			open[i] = nil
		}
	}

	var want []cause.Pass

	lost := time.Time{}

	for i := range models {
		want = append(want, models[i].ended...)

		if open[i] != nil {
			want = append(want, running[i])
		}

		if models[i].lost.After(lost) {
			lost = models[i].lost
		}
	}

	slices.SortFunc(want, func(a, b cause.Pass) int { return int(b.Number) - int(a.Number) })

	require.Equal(t, brief(want), brief(tracer.Passes()))
	require.True(t, lost.Equal(tracer.Lost()), "%s %s", lost, tracer.Lost())
}

func brief(passes []cause.Pass) (lines []string) {
	for _, p := range passes {
		lines = append(lines, fmt.Sprint(p.Number, p.Began.Unix(), p.Ended.Unix(), p.Outcome, p.Writes, p.Reads))
	}

	return lines
}

// Passes that are made at once are each remembered as what they were, while somebody looks.
func TestPassesThatAreMadeAtOnce(t *testing.T) {
	t.Parallel()

	tracer := cause.New(cause.Config{Controller: "c", Passes: 64, Workers: 12})
	tracer.From(time.Unix(1000, 0))

	var working sync.WaitGroup

	for i := range 12 {
		working.Go(func() {
			hand, id := tracer.Within(context.Background()), fmt.Sprint(i)

			for n := range 2000 {
				open := hand.Begin(&cause.Begin{Kind: &hosts, ID: id, At: time.Duration(n), Waited: -1})

				if n%3 == 0 {
					tracer.In(hand).Wrote("modify", key(id).Pointer(), uint64(n+1), 0)
				}

				open.End(time.Duration(n+1), cause.Succeeded, nil, 0)
			}
		})
	}

	for tracer.Count() < 12*2000 {
		for _, p := range tracer.Passes() {
			require.LessOrEqual(t, len(p.Writes), 1)

			for _, w := range p.Writes {
				require.Equal(t, p.Item, w.Resource)
			}
		}
	}

	working.Wait()
	require.Equal(t, uint64(12*2000), tracer.Count())
	require.Len(t, tracer.Passes(), 64)
	require.False(t, tracer.Lost().IsZero())
}
