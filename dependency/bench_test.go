package dependency_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

// The time is that of one registration; it should not grow with the number of controllers.
func BenchmarkRegister(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		names := make([]string, n)
		for i := range names {
			names[i] = strconv.Itoa(i)
		}

		for on, typeOf := range map[string]func(i int) string{
			"n kinds":  func(i int) string { return names[i] },
			"one kind": func(int) string { return "X" },
		} {
			b.Run(fmt.Sprintf("%d on %s", n, on), func(b *testing.B) {
				b.ReportAllocs()

				var db *dependency.Database[int]

				for i := range b.N {
					if i%n == 0 {
						db = dependency.NewDatabase[int]()
					}

					_, err := db.Register(names[i%n], dependency.Classic, 0,
						[]controller.Input{whole(controller.InputWeak, "n", typeOf(i%n))}, []controller.Output{exclusive(names[i%n])}, nil)
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// manyIDs returns a controller with as many inputs by id on one kind.
func manyIDs(b *testing.B, n int) (*dependency.Database[int], *dependency.Node[int], []controller.Input) {
	inputs := make([]controller.Input, n)
	for i := range inputs {
		inputs[i] = byID(controller.InputStrong, "n", "X", strconv.Itoa(i))
	}

	db := dependency.NewDatabase[int]()

	node, err := db.Register("c", dependency.Classic, 0, inputs, nil, nil)
	require.NoError(b, err)

	return db, node, inputs
}

func BenchmarkSetInputsSwapOneOf5000(b *testing.B) {
	for where, at := range map[string]int{"first": 0, "last": 4_999} {
		b.Run(where, func(b *testing.B) {
			db, node, inputs := manyIDs(b, 5_000)

			b.ReportAllocs()
			b.ResetTimer()

			for i := range b.N {
				inputs[at] = byID(controller.InputStrong, "n", "X", []string{"one", "other"}[i%2])

				if _, err := db.SetInputs(node, dependency.Classic, inputs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGuardWith5000IDs(b *testing.B) {
	_, node, _ := manyIDs(b, 5_000)
	key := keyOf("n", "X", "2500")

	b.ReportAllocs()

	for b.Loop() {
		if !node.Holds(key) {
			b.Fatal("not an input")
		}
	}
}

func BenchmarkRoute(b *testing.B) {
	for _, n := range []int{1, 4_000} {
		b.Run(fmt.Sprintf("%d dependents", n), func(b *testing.B) {
			db := dependency.NewDatabase[int]()
			visits := 0
			router := dependency.NewRouter(db, func(int, []reduced.Metadata, controller.InputKind) { visits++ })

			for i := range n {
				_, err := db.Register(strconv.Itoa(i), dependency.Classic, i, []controller.Input{whole(controller.InputWeak, "n", "X")}, nil, nil)
				require.NoError(b, err)
			}

			batch := []reduced.Metadata{changed("n", "X", "1")}

			b.ReportAllocs()

			routed := 0
			for b.Loop() {
				router.Route(batch)
				routed++
			}

			require.Equal(b, routed*n, visits)
		})
	}
}
