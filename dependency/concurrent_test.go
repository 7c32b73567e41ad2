package dependency_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
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
