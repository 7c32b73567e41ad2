package dependency_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

// An input by the empty id is none on the whole kind, and in whatever order the two are given the graph is the same.
func TestInputByTheEmptyID(t *testing.T) {
	t.Parallel()

	all, one := whole(controller.InputWeak, "n", "T"), byID(controller.InputStrong, "n", "T", "")

	for _, inputs := range [][]controller.Input{{all, one}, {one, all}} {
		db := dependency.NewDatabase[string]()

		node, err := db.Register("A", dependency.Classic, "A", inputs, nil, nil)
		require.NoError(t, err)
		require.Equal(t, []controller.Input{all, one}, node.Inputs())
		require.Equal(t, []controller.DependencyEdgeType{controller.EdgeInputWeak, controller.EdgeInputStrong},
			[]controller.DependencyEdgeType{db.Graph().Edges[0].EdgeType, db.Graph().Edges[1].EdgeType})
		require.True(t, node.Holds(keyOf("n", "T", "")))
		require.False(t, node.Holds(keyOf("n", "T", "a")))
	}
}

// After a refused update exactly the old inputs are in force, for events, for reads, and in the graph.
func TestRefusedUpdateChangesNothing(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()
	router := newLog(db)

	node, err := db.Register("c", dependency.Classic, "c", []controller.Input{byID(controller.InputStrong, "n", "X", "a")}, nil, nil)
	require.NoError(t, err)

	before := db.Graph()

	kinds, err := db.SetInputs(node, dependency.Classic, []controller.Input{
		byID(controller.InputWeak, "n", "X", "b"), byID(controller.InputWeak, "n", "X", "c"), byID(controller.InputStrong, "n", "X", "c"),
	})
	require.ErrorIs(t, err, dependency.ErrDuplicateInput)
	require.ErrorContains(t, err, `"c"`)
	require.Empty(t, kinds)

	require.Equal(t, before, db.Graph())
	require.Equal(t, []visit{{"c", controller.InputStrong}}, router.route(changed("n", "X", "a")))

	for id, reads := range map[string]bool{"a": true, "b": false, "c": false} {
		require.Equal(t, reads, node.Reads(keyOf("n", "X", id)), id)
	}

	require.Empty(t, router.route(changed("n", "X", "b")))
}

// An update that changes nothing touches no kind, so that no watch is looked at for it.
func TestSameInputsTouchNothing(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()
	inputs := []controller.Input{byID(controller.InputStrong, "n", "X", "a"), whole(controller.InputWeak, "n", "Y")}

	node, err := db.Register("c", dependency.Classic, "c", inputs, nil, nil)
	require.NoError(t, err)

	kinds, err := db.SetInputs(node, dependency.Classic, []controller.Input{inputs[1], inputs[0]})
	require.NoError(t, err)
	require.Empty(t, kinds)

	inputs[0].Kind = controller.InputDestroyReady

	kinds, err = db.SetInputs(node, dependency.Classic, inputs)
	require.NoError(t, err)
	require.Equal(t, []reduced.Kind{kindOf("n", "X")}, kinds)
}

// An id that is declared and empty is an id, not the whole kind.
func TestEmptyIDIsNotTheWholeKind(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()
	router := newLog(db)

	node, err := db.Register("c", dependency.Classic, "c", []controller.Input{byID(controller.InputWeak, "n", "X", "")}, nil, nil)
	require.NoError(t, err)

	require.False(t, node.ReadsKind(kindOf("n", "X")))
	require.Empty(t, router.route(changed("n", "X", "a")))
	require.Len(t, router.route(changed("n", "X", "")), 1)
}
