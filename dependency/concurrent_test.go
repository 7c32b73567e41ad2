package dependency_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

// A controller that declares an input anew, as another kind of input, by id or as a whole, is woken by every change
// meanwhile, and once.
func TestInputsThatStayAreRoutedWithoutAGap(t *testing.T) {
	t.Parallel()

	const rounds = 5_000

	for name, forms := range map[string][][]controller.Input{
		"weak and strong": {
			{byID(controller.InputWeak, "n", "X", "a")}, {byID(controller.InputStrong, "n", "X", "a")},
		},
		"whole and by id": {
			{whole(controller.InputWeak, "n", "X")}, {byID(controller.InputWeak, "n", "X", "a")},
		},
		"beside others that come and go": {
			{whole(controller.InputWeak, "n", "X"), byID(controller.InputWeak, "n", "X", "b")},
			{whole(controller.InputWeak, "n", "X"), byID(controller.InputStrong, "n", "X", "a")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			db := dependency.NewDatabase[string]()
			router := newLog(db)

			node, err := db.Register("c", dependency.Classic, "c", forms[0], nil, nil)
			require.NoError(t, err)

			var updating sync.WaitGroup

			updating.Go(func() {
				for i := range rounds {
					if _, err := db.SetInputs(node, dependency.Classic, forms[i%len(forms)]); !assert.NoError(t, err) {
						return
					}
				}
			})
			defer updating.Wait()

			md := changed("n", "X", "a")

			for i := range rounds {
				require.Len(t, router.route(md), 1, "change %d", i)
			}
		})
	}
}

// Routing and guards go on beside registrations, and who stays registered misses nothing.
func TestRoutingAndGuardsBesideRegistrations(t *testing.T) {
	t.Parallel()

	const rounds = 1_000

	db := dependency.NewDatabase[string]()
	router := newLog(db)
	inputs := []controller.Input{byID(controller.InputStrong, "n", "X", "a"), whole(controller.InputWeak, "n", "Y")}

	node, err := db.Register("stays", dependency.Classic, "stays", inputs, []controller.Output{shared("Z")}, nil)
	require.NoError(t, err)

	var others sync.WaitGroup

	for _, name := range []string{"one", "two"} {
		others.Go(func() {
			for i := range rounds {
				n, err := db.Register(name, dependency.Queue, fmt.Sprint(name, i), []controller.Input{
					whole(controller.InputQPrimary, "n", "X"), byID(controller.InputQMapped, "n", "X", "a"),
				}, []controller.Output{shared("Z")}, nil)
				if !assert.NoError(t, err, "round %d", i) {
					return
				}

				_, err = db.SetInputs(n, dependency.Queue, []controller.Input{byID(controller.InputQPrimary, "n", "X", "a")})
				assert.NoError(t, err)
				db.Remove(n)
			}
		})
	}

	others.Go(func() {
		for range rounds {
			assert.True(t, node.Reads(keyOf("n", "X", "a")))
			assert.False(t, node.Reads(keyOf("n", "X", "b")))
			assert.True(t, node.Holds(keyOf("n", "X", "a")))
			assert.True(t, node.Writes("Z"))
			assert.Len(t, node.Inputs(), 2)
			assert.Contains(t, db.Targets(kindOf("n", "X")), "stays")

			for _, edge := range db.Graph().Edges {
				assert.NotEmpty(t, edge.ControllerName)
			}
		}
	})
	defer others.Wait()

	md := changed("n", "X", "a")

	for i := range rounds {
		visits := map[visit]int{}

		for _, v := range router.route(md) {
			visits[v]++
			require.Equal(t, 1, visits[v], "change %d reached %q twice", i, v.target)
		}

		require.Contains(t, visits, visit{"stays", controller.InputStrong}, "change %d", i)
	}
}

// However fast inputs change beside it, a change reaches who depends on it, and its routing ends.
func TestRoutingEndsBesideConstantChanges(t *testing.T) {
	t.Parallel()

	const dependents, changes = 2_000, 100

	for name, in := range map[string]controller.Input{
		"of the whole kind": whole(controller.InputWeak, "n", "X"), "by id": byID(controller.InputWeak, "n", "X", "b"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var (
				visits int
				over   atomic.Bool
				others sync.WaitGroup
			)

			db := dependency.NewDatabase[int]()
			router := dependency.NewRouter(db, func(int, []reduced.Metadata, controller.InputKind) { visits++ })

			for i := range dependents {
				_, err := db.Register(fmt.Sprint("stays ", i), dependency.Queue, i, []controller.Input{whole(controller.InputQPrimary, "n", "X")}, nil, nil)
				require.NoError(t, err)
			}

			for i := range 4 {
				node, err := db.Register(fmt.Sprint("changes ", i), dependency.Classic, dependents+i, nil, nil, nil)
				require.NoError(t, err)

				others.Go(func() {
					for !over.Load() {
						for _, inputs := range [][]controller.Input{{in}, nil} {
							_, err := db.SetInputs(node, dependency.Classic, inputs)
							assert.NoError(t, err)
						}
					}
				})
			}

			batch := []reduced.Metadata{changed("n", "X", "a"), changed("n", "X", "c")}

			for range changes {
				router.Route(batch)
			}

			over.Store(true)
			others.Wait()
			assert.GreaterOrEqual(t, visits, dependents*changes)
		})
	}
}

// While inputs come and go, whether they are few or many, those that stay may be read and held without a gap.
func TestGuardsBesideUpdatesOfInputs(t *testing.T) {
	t.Parallel()

	const rounds = 300

	lists := make([][]controller.Input, 40)

	for i := range lists {
		lists[i] = []controller.Input{byID(controller.InputStrong, "n", "X", "stays"), whole(controller.InputStrong, "n", "Y")}

		for other := range i {
			lists[i] = append(lists[i], byID(controller.InputWeak, "n", "X", fmt.Sprint(i%7, other)))
		}
	}

	db := dependency.NewDatabase[string]()

	node, err := db.Register("c", dependency.Classic, "c", lists[0], nil, nil)
	require.NoError(t, err)

	var (
		updating sync.WaitGroup
		done     atomic.Bool
	)

	updating.Go(func() {
		defer done.Store(true)

		for i := range rounds {
			if _, err := db.SetInputs(node, dependency.Classic, lists[i*17%len(lists)]); !assert.NoError(t, err) {
				return
			}
		}
	})
	defer updating.Wait()

	for !done.Load() {
		require.True(t, node.Reads(keyOf("n", "X", "stays")))
		require.True(t, node.Holds(keyOf("n", "X", "stays")))
		require.True(t, node.Reads(keyOf("n", "Y", "any")))
		require.False(t, node.Reads(keyOf("n", "X", "never")))
	}
}
