package controllertest

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Schedule names a run: the seed that makes its decisions and, where not all of them are wanted, those that are kept. Every
// other decision is the calm one: what has waited longest goes first, and nothing fails.
type Schedule struct {
	Seed uint64
	// Kept are the decisions that are not the calm ones, by what they are about. Nil means that the seed makes all.
	Kept map[string]int
}

// Calm is the schedule in which every decision is the calm one.
func Calm() Schedule { return Schedule{Kept: map[string]int{}} }

// String renders the schedule in the form that [ParseSchedule] reads.
func (s Schedule) String() string {
	seed := strconv.FormatUint(s.Seed, 10)
	if s.Kept == nil {
		return seed
	}

	kept := make([]string, 0, len(s.Kept))
	for _, site := range slices.Sorted(maps.Keys(s.Kept)) {
		kept = append(kept, url.QueryEscape(site)+"="+strconv.Itoa(s.Kept[site]))
	}

	return seed + ":" + strings.Join(kept, "&")
}

// ParseSchedule reads what [Schedule.String] has rendered. An error names what can not be read.
func ParseSchedule(text string) (Schedule, error) {
	number, list, some := strings.Cut(text, ":")

	seed, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule %q: the seed %q is not a number", text, number)
	}

	s := Schedule{Seed: seed}
	if !some {
		return s, nil
	}

	s.Kept = map[string]int{}

	for entry := range strings.SplitSeq(list, "&") {
		if entry == "" {
			continue
		}

		escaped, value, _ := strings.Cut(entry, "=")

		site, err := url.QueryUnescape(escaped)
		if err != nil {
			return Schedule{}, fmt.Errorf("schedule %q: %w", text, err)
		}

		if s.Kept[site], err = strconv.Atoi(value); err != nil || s.Kept[site] < 1 {
			return Schedule{}, fmt.Errorf("schedule %q: decision %q has the value %q, which is not a number above 0", text, site, value)
		}
	}

	return s, nil
}

// What sites begin with that are not about a fault.
const (
	picking    = "script "     // what the script does
	turning    = "turn "       // whose turn it is
	portioning = "portion of " // how many events come at once
)

// draws makes the decisions of one run. A decision depends on the seed and on what it is about, its site, and on nothing
// else: not on which other decisions were made before it. So two goroutines that decide at the same time do not disturb
// each other, and a schedule with some decisions taken back is still the same schedule otherwise.
type draws struct {
	schedule Schedule

	// mu guards made, the decisions so far that were not the calm one, and counts, how often each site has come up.
	mu     sync.Mutex
	made   map[string]int
	counts map[string]int
}

func newDraws(schedule Schedule) *draws {
	return &draws{schedule: schedule, made: map[string]int{}, counts: map[string]int{}}
}

// nth returns the site with how often it has come up, for what happens again and again.
func (d *draws) nth(site string) string {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.counts[site]++

	return site + " #" + strconv.Itoa(d.counts[site])
}

// pick decides for one of n, of which 0 is the calm one.
func (d *draws) pick(site string, n int) int {
	if n < 2 {
		return 0
	}

	return d.decide(site, func(r *rand.Rand) int { return r.IntN(n) }, n-1)
}

// odds decides whether something happens that does so with the probability.
func (d *draws) odds(site string, probability float64) bool {
	if probability <= 0 {
		return false
	}

	return d.decide(site, func(r *rand.Rand) int {
		if r.Float64() < probability {
			return 1
		}

		return 0
	}, 1) > 0
}

func (d *draws) decide(site string, draw func(*rand.Rand) int, most int) int {
	var value int

	if d.schedule.Kept != nil {
		value = min(d.schedule.Kept[site], most)
	} else {
		hash := fnv.New64a()
		hash.Write([]byte(site))
		value = draw(rand.New(rand.NewPCG(d.schedule.Seed, hash.Sum64())))
	}

	if value > 0 {
		d.mu.Lock()
		defer d.mu.Unlock()

		d.made[site] = value
	}

	return value
}

// decisions returns those that were not the calm one.
func (d *draws) decisions() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()

	return maps.Clone(d.made)
}
