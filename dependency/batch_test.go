package dependency_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

// handed is what a batch has brought to one target in one lane.
type handed map[visit][]reduced.Key

// handOver routes the batch and notes what came to whom. Wakeups are noted without what they were for.
func handOver(db *dependency.Database[string], batch []reduced.Metadata) (handed, map[string]int) {
	items, wakes := handed{}, map[string]int{}

	dependency.NewRouter(db, func(target string, changes []reduced.Metadata, kind controller.InputKind) {
		switch lane := modelLane(kind); lane {
		case controller.InputQPrimary, controller.InputQMapped:
			for i := range changes {
				to := visit{target, lane}
				items[to] = append(items[to], changes[i].Key())
			}
		default:
			wakes[target]++
		}
	}).Route(batch)

	return items, wakes
}

// A batch brings to queue controllers what its changes would one by one, and wakes each classic controller once that any
// of them would wake.
func TestABatchIsItsChanges(t *testing.T) {
	t.Parallel()

	classic := []controller.InputKind{controller.InputWeak, controller.InputStrong, controller.InputDestroyReady}
	queue := []controller.InputKind{controller.InputQPrimary, controller.InputQMapped, controller.InputQMappedDestroyReady}

	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		db := dependency.NewDatabase[string]()

		for c := range 1 + random.IntN(8) {
			form, kinds := dependency.Classic, classic
			if random.IntN(2) == 0 {
				form, kinds = dependency.Queue, queue
			}

			var inputs []controller.Input

			for k := range 3 {
				for id := range 3 {
					// With id 0 the input is on the whole kind, which is the rule.
					if in := whole(kinds[random.IntN(3)], "n", strconv.Itoa(k)); id == 0 && random.IntN(2) == 0 {
						inputs = append(inputs, in)
					} else if id > 0 && random.IntN(12) == 0 {
						inputs = append(inputs, byID(in.Kind, "n", strconv.Itoa(k), strconv.Itoa(id)))
					}
				}
			}

			name := fmt.Sprint("c", c)
			_, err := db.Register(name, form, name, inputs, nil, nil)
			require.NoError(t, err)
		}

		var batch []reduced.Metadata

		for _, key := range random.Perm(24) {
			if random.IntN(3) == 0 {
				continue
			}

			md := changed("n", strconv.Itoa(key%3), strconv.Itoa(key/3))

			switch random.IntN(4) {
			case 0:
				md = md.Gone()
			case 1:
				md = tearingDown("n", strconv.Itoa(key%3), strconv.Itoa(key/3), random.IntN(2) == 0)
			}

			batch = append(batch, md)
		}

		items, wakes := handed{}, map[string]int{}

		for i := range batch {
			single, woken := handOver(db, batch[i:i+1])

			for to, keys := range single {
				items[to] = append(items[to], keys...)
			}

			for target := range woken {
				wakes[target] = 1
			}
		}

		gotItems, gotWakes := handOver(db, batch)
		require.Equal(t, items, gotItems, "seed %d", seed)
		require.Equal(t, wakes, gotWakes, "seed %d", seed)
	}
}
