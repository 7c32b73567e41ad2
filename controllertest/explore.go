package controllertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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

	runs := runsOf(t)

	for seed := plan.First; seed < plan.First+plan.Seeds; seed++ {
		out := runs.play(Schedule{Seed: seed}, plan.Faults, crashAt{}, script)
		if out.failure == "" {
			continue
		}

		short := shrink(out, func(schedule Schedule) (*outcome, bool) {
			out := runs.play(schedule, plan.Faults, crashAt{}, script)

			return out, out.failure != ""
		})

		t.Fatal(short.report(fmt.Sprintf("the run with seed %d fails", seed), fmt.Sprintf(
			"%d of %d decisions are left of it; with the same faults and script, replay it with\n\tcontrollertest.Replay(t, %q, faults, script)",
			len(short.decisions), len(out.decisions), short.schedule)))
	}
}

// mostTries is how many runs it may take to make a failing one short.
const mostTries = 300

// shrink takes decisions back for as long as the run still fails: all of a sort first, then halves, and then ever smaller
// parts of them. In the end those that are left are made as small as they get.
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

	for _, sort := range sorts {
		kept := maps.Clone(out.decisions)
		maps.DeleteFunc(kept, func(site string, _ int) bool { return sort(site) })

		if len(kept) < len(out.decisions) {
			try(kept)
		}
	}

	for parts := 2; len(out.decisions) > 0; {
		sites := slices.Sorted(maps.Keys(out.decisions))
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

		if shorter {
			parts = max(parts-1, 2)
		} else if parts == len(sites) || tries == mostTries {
			break
		} else {
			parts *= 2
		}
	}

	for _, site := range slices.Sorted(maps.Keys(out.decisions)) {
		if out.decisions[site] > 1 {
			kept := maps.Clone(out.decisions)
			kept[site] = 1

			try(kept)
		}
	}

	return out
}

// sorts are those of decisions, the ones first that most follows from.
var sorts = []func(site string) bool{
	func(site string) bool { return strings.HasPrefix(site, picking) },
	func(site string) bool {
		return !strings.HasPrefix(site, picking) && !strings.HasPrefix(site, turning) && !strings.HasPrefix(site, portioning)
	},
	func(site string) bool { return strings.HasPrefix(site, turning) || strings.HasPrefix(site, portioning) },
}
