package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/reduced"
)

// Whatever happens to tasks and to the news of them, nobody goes on with a task that was taken away. Where the kind may be
// listed anew it is cached: otherwise somebody may have read what a list has never shown.
func TestFormerLabelsInAStorm(t *testing.T) {
	inEachStorm(t, 20, func(t *testing.T, seed uint64, lists, distinct bool) {
		synctest.Test(t, func(t *testing.T) {
			c := newStormyCrew(t, newState(), lists, distinct)
			c.start()

			c.storm(rand.New(rand.NewPCG(seed, 1)), 500, lists, func() { time.Sleep(5 * time.Millisecond) }, func() {
				c.ran()
				require.Empty(t, c.wrong())
			})
			assert.Greater(t, len(c.faults.opened(conformance.StrResourceType)), 5)

			c.end()
		})
	})
}

// The same over a connection, where each event brings labels of its own, and news lags behind what is written.
func TestFormerLabelsInAStormOverGRPC(t *testing.T) {
	inEachStorm(t, 2, func(t *testing.T, seed uint64, lists, distinct bool) {
		c := newStormyCrew(t, remoteState(t), true, distinct)
		c.start()

		c.storm(rand.New(rand.NewPCG(seed, 2)), 300, lists, func() {}, func() {
			require.EventuallyWithT(t, func(t *assert.CollectT) { assert.Empty(t, c.wrong()) }, patience, time.Millisecond)
		})

		c.end()
	})
}

func inEachStorm(t *testing.T, seeds uint64, test func(t *testing.T, seed uint64, lists, distinct bool)) {
	for seed := range seeds {
		for _, lists := range []bool{false, true} {
			for _, distinct := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/lists=%t/distinct=%t", seed, lists, distinct), func(t *testing.T) {
					test(t, seed, lists, distinct)
				})
			}
		}
	}
}

func newStormyCrew(t *testing.T, st state.State, cached, distinct bool) *crew {
	c := newCrew(t, st, cached, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l")
	c.distinct = distinct

	return c
}

// storm gives tasks to people, takes them away and destroys them, at times more often than is remembered, while news of it
// is held up, can not be mapped, and has to be listed. It calls calm every now and then, and at the end: so soon that what
// was missed is not made up for by what is done next.
func (c *crew) storm(random *rand.Rand, steps int, lists bool, rest, calm func()) {
	ids := []resource.ID{"t", "u", "v", "w"}

	somebody := func() []resource.ID {
		people := slices.Clone(c.people)
		random.Shuffle(len(people), func(i, j int) { people[i], people[j] = people[j], people[i] })

		return people[:random.IntN(3)]
	}

	exists := map[resource.ID]bool{}

	for step := range steps {
		if step%25 == 24 {
			c.release()
			calm()
		}

		id := ids[random.IntN(len(ids))]

		switch does := random.IntN(20); {
		case does == 0:
			c.hold()
		case does <= 2:
			c.release()
			rest()
		case does == 3:
			c.mu.Lock()
			c.fail = random.IntN(4)
			c.mu.Unlock()
		case does == 4:
			forget := lists && random.IntN(2) == 0
			c.faults.set(func() { c.faults.forget = forget })
			c.faults.breakAll(conformance.StrResourceType, errBroken)
		case !exists[id]:
			c.add(id, somebody()...)
			exists[id] = true
		case does <= 6:
			c.drop(id)
			exists[id] = false
		case does == 7:
			for range reduced.MaxFormer + 2 {
				c.give(id, somebody()...)
			}
		default:
			c.give(id, somebody()...)
		}
	}

	c.release()
	calm()
}
