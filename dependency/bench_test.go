package dependency_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/siderolabs/gen/optional"
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

// Of 5,000 inputs one or a few change, wherever they are, whether or not the ids share memory with those of the last
// time.
func BenchmarkSetInputs(b *testing.B) {
	in := func(i int) controller.Input { return byID(controller.InputStrong, "n", "X", strconv.Itoa(i)) }

	for name, next := range map[string]func(inputs []controller.Input, i int) []controller.Input{
		"same": func(inputs []controller.Input, _ int) []controller.Input { return inputs },
		"swap first": func(inputs []controller.Input, i int) []controller.Input {
			inputs[0] = in(-i)

			return inputs
		},
		"swap last": func(inputs []controller.Input, i int) []controller.Input {
			inputs[len(inputs)-1] = in(-i)

			return inputs
		},
		"swap two": func(inputs []controller.Input, i int) []controller.Input {
			inputs[10], inputs[4_990] = in(-2*i), in(-2*i-1)

			return inputs
		},
		"in and out": func(inputs []controller.Input, i int) []controller.Input {
			return append(inputs[1:], in(5_000+i))
		},
		"swap one, ids made anew": func(inputs []controller.Input, i int) []controller.Input {
			for i, in := range inputs {
				inputs[i].ID = optional.Some(strings.Clone(in.ID.ValueOrZero()))
			}

			inputs[2_500] = in(-i)

			return inputs
		},
		"reverse": func(inputs []controller.Input, _ int) []controller.Input {
			slices.Reverse(inputs)

			return inputs
		},
	} {
		b.Run(name, func(b *testing.B) {
			db, node, inputs := manyIDs(b, 5_000)

			b.ReportAllocs()

			for i := range b.N {
				b.StopTimer()
				inputs = next(inputs, i+1)
				b.StartTimer()

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
