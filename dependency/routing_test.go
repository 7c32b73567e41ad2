package dependency_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

// One change reaches a controller once in each way, whatever number of its inputs match.
func TestOneChangeWakesOncePerLane(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()
	router := newLog(db)

	_, err := db.Register("classic", dependency.Classic, "classic", []controller.Input{
		whole(controller.InputWeak, "n", "X"), byID(controller.InputStrong, "n", "X", "a"),
	}, nil, nil)
	require.NoError(t, err)

	_, err = db.Register("mapper", dependency.Queue, "mapper", []controller.Input{
		whole(controller.InputQMapped, "n", "X"), byID(controller.InputQMappedDestroyReady, "n", "X", "a"),
	}, nil, nil)
	require.NoError(t, err)

	_, err = db.Register("both", dependency.Queue, "both", []controller.Input{
		byID(controller.InputQPrimary, "n", "X", "a"), whole(controller.InputQMapped, "n", "X"),
	}, nil, nil)
	require.NoError(t, err)

	// Being primary and being mapped are two things to do, so "both" is visited for each.
	for range 3 {
		require.Equal(t, []visit{
			{"classic", controller.InputStrong}, {"both", controller.InputQPrimary},
			{"mapper", controller.InputQMapped}, {"both", controller.InputQMapped},
		}, router.route(changed("n", "X", "a")))
	}

	require.Equal(t, []visit{
		{"classic", controller.InputWeak}, {"mapper", controller.InputQMapped}, {"both", controller.InputQMapped},
	}, router.route(changed("n", "X", "b")))
}

func TestDestroyReadyInputsSeeOnlyWhatIsReady(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()
	router := newLog(db)

	_, err := db.Register("classic", dependency.Classic, "classic", []controller.Input{whole(controller.InputDestroyReady, "n", "X")}, nil, nil)
	require.NoError(t, err)
	_, err = db.Register("queue", dependency.Queue, "queue", []controller.Input{whole(controller.InputQMappedDestroyReady, "n", "X")}, nil, nil)
	require.NoError(t, err)

	woken := []visit{{"classic", controller.InputDestroyReady}, {"queue", controller.InputQMappedDestroyReady}}
	running, held, ready := changed("n", "X", "a"), tearingDown("n", "X", "a", true), tearingDown("n", "X", "a", false)

	require.Empty(t, router.route(running))
	require.Empty(t, router.route(held))
	require.Equal(t, woken, router.route(ready))
	require.Equal(t, woken, router.route(running.Gone()), "the destroy itself")
	require.Equal(t, woken, router.route(held.Gone()), "the destroy itself")
	require.Equal(t, woken, router.route(reduced.Merge(running.Gone(), running)), "a destroy that a new creation has overtaken")
	require.Empty(t, router.route(reduced.Merge(ready, held)), "it is held again")
}

// A way that was looked up leads to whoever depends on the kind, also when everybody has left and others have come.
func TestAWayFollowsTheDeclarations(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()

	var (
		visited []string
		way     dependency.Way[string]
	)

	router := dependency.NewRouter(db, func(target string, _ []reduced.Metadata, _ controller.InputKind) {
		visited = append(visited, target)
	})

	route := func() []string {
		visited = nil

		require.True(t, router.RouteFew(&way, []reduced.Metadata{changed("n", "X", "a")}, 2))

		return visited
	}

	require.Empty(t, route(), "nobody has come yet")

	for range 3 {
		first, err := db.Register("first", dependency.Classic, "first", []controller.Input{whole(controller.InputWeak, "n", "X")}, nil, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"first"}, route())

		second, err := db.Register("second", dependency.Queue, "second", []controller.Input{whole(controller.InputQPrimary, "n", "X")}, nil, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"first", "second"}, route())

		db.Remove(first)
		require.Equal(t, []string{"second"}, route())

		db.Remove(second)
		require.Empty(t, route())
	}
}

// A second router starts where the first one ended: what the first has handed over is not taken for handed over again.
func TestRoutersMayFollowEachOther(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()

	_, err := db.Register("c", dependency.Classic, "c", []controller.Input{whole(controller.InputWeak, "n", "X")}, nil, nil)
	require.NoError(t, err)

	for range 3 {
		require.Len(t, newLog(db).route(changed("n", "X", "a")), 1)
	}
}

// Not parallel: allocations are counted in the whole process.
func TestRoutingAndGuardsDoNotAllocate(t *testing.T) {
	db := dependency.NewDatabase[string]()
	visits := 0
	router := dependency.NewRouter(db, func(string, []reduced.Metadata, controller.InputKind) { visits++ })

	node, err := db.Register("first", dependency.Classic, "", []controller.Input{
		whole(controller.InputWeak, "n", "X"), byID(controller.InputStrong, "n", "X", "a"), byID(controller.InputWeak, "n", "Y", "a"),
	}, []controller.Output{exclusive("Z")}, nil)
	require.NoError(t, err)

	for _, name := range []string{"second", "third"} {
		_, err = db.Register(name, dependency.Queue, "", []controller.Input{
			whole(controller.InputQPrimary, "n", "X"), byID(controller.InputQMapped, "n", "X", "a"),
		}, nil, nil)
		require.NoError(t, err)
	}

	batch, miss := []reduced.Metadata{changed("n", "X", "a")}, []reduced.Metadata{changed("n", "none", "a")}
	key := keyOf("n", "X", "a")

	require.Zero(t, testing.AllocsPerRun(100, func() {
		router.Route(batch)
		router.Route(miss)
	}))
	require.Equal(t, 5*101, visits)

	require.Zero(t, testing.AllocsPerRun(100, func() {
		if !node.Reads(key) || !node.ReadsKind(key.Kind) || !node.Holds(key) || !node.Writes("Z") || node.Writes("X") {
			visits++
		}
	}))
	require.Equal(t, 5*101, visits)
}

// What a controller is woken for because of an input that it has just been given, it may read.
func TestWhatIsRoutedMayBeRead(t *testing.T) {
	t.Parallel()

	for _, count := range []int{1, 20} {
		for range 100 {
			db := dependency.NewDatabase[string]()

			inputs := []controller.Input{byID(controller.InputStrong, "n", "X", "first")}
			for i := range count * 50 {
				inputs = append(inputs, byID(controller.InputStrong, "n", "X", fmt.Sprint(i)))
			}

			node, err := db.Register("c", dependency.Classic, "c", inputs[1:count], nil, nil)
			require.NoError(t, err)

			var routed bool

			router := dependency.NewRouter(db, func(_ string, changes []reduced.Metadata, _ controller.InputKind) {
				routed = true

				require.True(t, node.Reads(changes[0].Key()))
			})

			var updating sync.WaitGroup

			updating.Go(func() {
				_, err := db.SetInputs(node, dependency.Classic, inputs)
				assert.NoError(t, err)
			})

			for !routed {
				router.Route([]reduced.Metadata{changed("n", "X", "first")})
			}

			updating.Wait()
		}
	}
}
