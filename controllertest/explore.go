package controllertest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// Plan says which runs [Explore] makes.
type Plan struct {
	// First is the first seed, and Seeds how many there are. The default is 100 from 1 on.
	First, Seeds uint64
	// Faults are what may fail. The default is nothing: then only the order of things differs.
	Faults Faults
}

func (p Plan) withDefaults() Plan {
	if p.First == 0 {
		p.First = 1
	}

	if p.Seeds == 0 {
		p.Seeds = 100
	}

	return p
}

// Explore runs the script once for each seed. The first run that fails ends the test: it is made as short as it gets, shown,
// and can be run again with [Replay].
func Explore(t *testing.T, plan Plan, script Script) {
	t.Helper()

	plan = plan.withDefaults()

	if err := plan.Faults.validate(); err != nil {
		t.Fatal(err)
	}

	for seed := plan.First; seed < plan.First+plan.Seeds; seed++ {
		out := play(t, Schedule{Seed: seed}, plan.Faults, crashAt{}, script)
		if out.failure == "" {
			continue
		}

		short := shrink(out, func(schedule Schedule) (*outcome, bool) {
			out := play(t, schedule, plan.Faults, crashAt{}, script)

			return out, out.failure != ""
		})

		t.Fatal(short.report(fmt.Sprintf("the run with seed %d fails", seed), fmt.Sprintf(
			"%d of %d decisions are left of it; with the same faults and script, replay it with\n\tcontrollertest.Replay(t, %q, faults, script)",
			len(short.decisions), len(out.decisions), short.schedule)))
	}
}

// mostTries is how many runs it may take to make a failing one short.
const mostTries = 300

// shrink takes decisions back for as long as the run still fails, halves first, and then ever smaller parts of them.
func shrink(out *outcome, run func(Schedule) (*outcome, bool)) *outcome {
	tries := 0
	try := func(kept map[string]int) bool {
		if tries == mostTries {
			return false
		}

		tries++

		next, fails := run(Schedule{Seed: out.schedule.Seed, Kept: kept})
		if !fails {
			return false
		}

		// What was kept and has not come up any more is not needed.
		next.schedule.Kept = next.decisions
		out = next

		return true
	}

	if !try(out.decisions) {
		return out // it is not repeated by its decisions alone: show it as it was
	}

	for parts := 2; ; {
		sites := slices.Sorted(maps.Keys(out.decisions))
		if len(sites) == 0 {
			return out
		}

		parts = min(parts, len(sites))
		shorter := false

		for part := range slices.Chunk(sites, (len(sites)+parts-1)/parts) {
			kept := maps.Clone(out.decisions)
			for _, site := range part {
				delete(kept, site)
			}

			if shorter = len(kept) < len(out.decisions) && try(kept); shorter {
				break
			}
		}

		switch {
		case shorter:
			parts = max(parts-1, 2)
		case parts == len(sites) || tries == mostTries:
			return out
		default:
			parts *= 2
		}
	}
}
