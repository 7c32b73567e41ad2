package dependency_test

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
)

// target is what a controller of these tests is delivered to; large enough not to share its memory with others.
type target struct{ _ [64]byte }

// Controllers that come and go leave nothing behind, also on a kind that others depend on all the time.
func TestRemovedControllersAreForgotten(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[*target]()
	inputs := []controller.Input{whole(controller.InputWeak, "n", "X"), byID(controller.InputStrong, "n", "X", "a")}

	for _, name := range []string{"stays", "stays too"} {
		_, err := db.Register(name, dependency.Classic, &target{}, inputs, []controller.Output{shared("Y")}, nil)
		require.NoError(t, err)
	}

	var gone []weak.Pointer[target]

	for i := range 1_000 {
		to := &target{}
		gone = append(gone, weak.Make(to))

		node, err := db.Register(fmt.Sprint(i), dependency.Classic, to, inputs, []controller.Output{shared("Y"), exclusive("Z")}, nil)
		require.NoError(t, err)
		db.Remove(node)
	}

	runtime.GC()

	kept := 0

	for _, p := range gone {
		if p.Value() != nil {
			kept++
		}
	}

	require.LessOrEqual(t, kept, 2, "no more hidden entries than live ones")
	require.Len(t, db.Targets(kindOf("n", "X")), 2)
}

// Not parallel: it measures the heap of the process.
func TestKindsAndIDsThatWereDeclaredOnceCostNothing(t *testing.T) {
	db := dependency.NewDatabase[int]()

	node, err := db.Register("c", dependency.Classic, 0, nil, nil, nil)
	require.NoError(t, err)

	churn := func() {
		for i := range 5_000 {
			_, err := db.SetInputs(node, dependency.Classic, []controller.Input{
				byID(controller.InputWeak, "n", "X", fmt.Sprint(i)), whole(controller.InputDestroyReady, "n", fmt.Sprint(i)),
			})
			require.NoError(t, err)
		}

		_, err := db.SetInputs(node, dependency.Classic, nil)
		require.NoError(t, err)
	}

	churn()

	before := heap()
	churn()

	require.Less(t, heap(), before+256<<10)
	require.Empty(t, node.Kinds())
}

func heap() uint64 {
	runtime.GC()

	var stats runtime.MemStats

	runtime.ReadMemStats(&stats)

	return stats.HeapAlloc
}

// Not parallel: it measures the heap of the process.
func TestInputsThatWereRemovedAreNotKept(t *testing.T) {
	for _, kinds := range []int{0, 30} { // beside that of which there were many
		for _, left := range []int{20, 1, 0} {
			db := dependency.NewDatabase[int]()

			inputs := func(n int) []controller.Input {
				inputs := make([]controller.Input, n)
				for i := range inputs {
					inputs[i] = byID(controller.InputStrong, "n", "X", fmt.Sprint(i))
				}

				for i := range kinds {
					inputs = append(inputs, whole(controller.InputWeak, "n", fmt.Sprint(i)))
				}

				return inputs
			}

			before := heap()

			node, err := db.Register("c", dependency.Classic, 0, inputs(50_000), nil, nil)
			require.NoError(t, err)
			require.Greater(t, heap(), before+5<<20)

			_, err = db.SetInputs(node, dependency.Classic, inputs(left))
			require.NoError(t, err)
			require.Less(t, heap(), before+2<<20, "%d kinds beside, %d left: what a kind was is kept", kinds, left)
			require.Equal(t, left > 0, node.Reads(keyOf("n", "X", "0")))
			require.False(t, node.Reads(keyOf("n", "X", "20")))
			require.Equal(t, kinds > 0, node.ReadsKind(kindOf("n", "29")))
		}
	}
}

// Not parallel: it counts what the process allocates.
func TestAnInputMoreTakesNoCopyOfAllKinds(t *testing.T) {
	db := dependency.NewDatabase[int]()

	inputs := []controller.Input{byID(controller.InputStrong, "n", "one more", "a")}
	for i := range 10_000 {
		inputs = append(inputs, whole(controller.InputWeak, "n", fmt.Sprint(i)))
	}

	node, err := db.Register("c", dependency.Classic, 0, inputs, nil, nil)
	require.NoError(t, err)

	var before, after runtime.MemStats

	const updates = 1_000

	runtime.ReadMemStats(&before)

	for i := range updates {
		_, err := db.SetInputs(node, dependency.Classic, inputs[(i+1)%2:])
		require.NoError(t, err)
	}

	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/updates, uint64(32<<10), "bytes for each update")
}
