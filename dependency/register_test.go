package dependency_test

import (
	"slices"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

// A refusal says who was refused, who is in the way, and what it is about.
func TestConflictsNameBothControllersAndTheType(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		held, wanted controller.Output
	}{
		"exclusive twice":          {exclusive("X"), exclusive("X")},
		"shared beside exclusive":  {exclusive("X"), shared("X")},
		"exclusive beside shareds": {shared("X"), exclusive("X")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			db := dependency.NewDatabase[string]()

			_, err := db.Register("holder", dependency.Classic, "", nil, []controller.Output{test.held}, nil)
			require.NoError(t, err)

			_, err = db.Register("late", dependency.Queue, "", nil, []controller.Output{shared("free"), test.wanted}, nil)
			require.ErrorIs(t, err, dependency.ErrOutputTaken)

			var refused *dependency.DeclarationError

			require.ErrorAs(t, err, &refused)
			assert.Equal(t, "late", refused.Controller)
			assert.Equal(t, "holder", refused.Other)
			assert.ErrorContains(t, err, `"late"`)
			assert.ErrorContains(t, err, `"holder"`)
			assert.ErrorContains(t, err, `"X"`)

			// What was claimed before the failure is free again.
			_, err = db.Register("third", dependency.Classic, "", nil, []controller.Output{exclusive("free")}, nil)
			require.NoError(t, err)
		})
	}
}

// Of several shared holders the first by name is named, so that the message does not change from run to run.
func TestConflictWithSharedOutputsIsStable(t *testing.T) {
	t.Parallel()

	for range 20 {
		db := dependency.NewDatabase[string]()

		for _, name := range []string{"c", "a", "b"} {
			_, err := db.Register(name, dependency.Classic, "", nil, []controller.Output{shared("X")}, nil)
			require.NoError(t, err)
		}

		_, err := db.Register("late", dependency.Classic, "", nil, []controller.Output{exclusive("X")}, nil)
		require.ErrorContains(t, err, `"a"`)
	}
}

func TestRefusedDeclarations(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		controller string
		form       dependency.Form
		inputs     []controller.Input
		outputs    []controller.Output
		reason     error
		says       string
	}{
		"no name":      {reason: dependency.ErrInvalidName, says: "Name()"},
		"name is held": {controller: "holder", form: dependency.Queue, reason: dependency.ErrNameTaken, says: `"holder"`},
		"input without a type": {
			controller: "c", inputs: []controller.Input{whole(controller.InputWeak, "n", "")},
			reason: dependency.ErrInvalidInput, says: "type",
		},
		"queue input of a classic controller": {
			controller: "c", inputs: []controller.Input{byID(controller.InputQPrimary, "n", "X", "1")},
			reason: dependency.ErrInvalidInput, says: `primary input on n/X with id "1"`,
		},
		"classic input of a queue controller": {
			controller: "c", form: dependency.Queue, inputs: []controller.Input{whole(controller.InputDestroyReady, "n", "X")},
			reason: dependency.ErrInvalidInput, says: "destroy-ready input on n/X",
		},
		"unknown kind of input": {
			controller: "c", inputs: []controller.Input{whole(17, "n", "X")},
			reason: dependency.ErrInvalidInput, says: "unknown (17)",
		},
		"input twice": {
			controller: "c", inputs: []controller.Input{whole(controller.InputWeak, "n", "X"), whole(controller.InputStrong, "n", "X")},
			reason: dependency.ErrDuplicateInput, says: "strong input on n/X",
		},
		"output without a type": {
			controller: "c", outputs: []controller.Output{shared("")}, reason: dependency.ErrInvalidOutput, says: "type",
		},
		"unknown kind of output": {
			controller: "c", outputs: []controller.Output{{Type: "X", Kind: 5}}, reason: dependency.ErrInvalidOutput, says: "of kind 5",
		},
		"output twice": {
			controller: "c", outputs: []controller.Output{shared("X"), exclusive("X")}, reason: dependency.ErrInvalidOutput, says: `exclusive output "X"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			db := dependency.NewDatabase[string]()

			_, err := db.Register("holder", dependency.Classic, "", nil, nil, nil)
			require.NoError(t, err)

			node, err := db.Register(test.controller, test.form, "", test.inputs, test.outputs, func(*dependency.Node[string]) {
				assert.Fail(t, "a refused declaration was accepted")
			})
			require.Nil(t, node)
			require.ErrorIs(t, err, test.reason)
			require.ErrorContains(t, err, test.says)
			require.Len(t, db.Nodes(), 1)
		})
	}
}

// A slice that a controller returns stays its own: it is neither sorted nor kept.
func TestSlicesOfTheCallerAreLeftAlone(t *testing.T) {
	t.Parallel()

	inputs := []controller.Input{
		byID(controller.InputWeak, "n", "Z", "9"), whole(controller.InputStrong, "n", "A"), byID(controller.InputWeak, "n", "Z", "1"),
	}
	outputs := []controller.Output{shared("Z"), exclusive("B")}
	inputsBefore, outputsBefore := slices.Clone(inputs), slices.Clone(outputs)

	db := dependency.NewDatabase[string]()

	node, err := db.Register("c", dependency.Classic, "", inputs, outputs, nil)
	require.NoError(t, err)
	require.Equal(t, inputsBefore, inputs)
	require.Equal(t, outputsBefore, outputs)

	_, err = db.SetInputs(node, dependency.Classic, inputs)
	require.NoError(t, err)
	require.Equal(t, inputsBefore, inputs)

	inputs[0].ID, outputs[0].Type = inputs[2].ID, "other"

	require.True(t, node.Reads(keyOf("n", "Z", "9")))
	require.False(t, node.Writes("other"))
	require.Len(t, node.Inputs(), 3)
}

// The target is complete before the first change can reach it.
func TestAcceptedComesBeforeTheFirstChange(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()
	router := newLog(db)

	_, err := db.Register("c", dependency.Classic, "c", []controller.Input{whole(controller.InputWeak, "n", "X")}, nil,
		func(node *dependency.Node[string]) {
			require.Equal(t, "c", node.Name())
			require.Equal(t, "c", node.Target())
			require.Empty(t, router.route(changed("n", "X", "1")))
		})
	require.NoError(t, err)
	require.Equal(t, []visit{{"c", controller.InputWeak}}, router.route(changed("n", "X", "1")))
}

// A controller that was removed can not come back through an update of its inputs, nor use its outputs any more.
func TestRemovedControllerStaysWithoutDeclarations(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()
	inputs := []controller.Input{whole(controller.InputWeak, "n", "X")}

	node, err := db.Register("c", dependency.Classic, "c", inputs, []controller.Output{exclusive("Y")}, nil)
	require.NoError(t, err)
	require.True(t, node.Writes("Y"))
	require.True(t, node.ReadsKind(kindOf("n", "Y")))
	require.Equal(t, []reduced.Kind{kindOf("n", "X")}, db.Remove(node))

	_, err = db.SetInputs(node, dependency.Classic, inputs)
	require.ErrorIs(t, err, dependency.ErrUnknownController)

	watched, _ := db.Needs(kindOf("n", "X"))
	require.False(t, watched)
	require.False(t, node.Writes("Y"))
	require.False(t, node.ReadsKind(kindOf("n", "Y")))
	require.False(t, node.Reads(reduced.Key{Kind: kindOf("n", "X"), ID: "1"}))

	// Nor can it through a second removal, once the name is another's.
	next, err := db.Register("c", dependency.Classic, "c", inputs, []controller.Output{exclusive("Y")}, nil)
	require.NoError(t, err)
	require.Empty(t, db.Remove(node))
	require.True(t, next.Writes("Y"))
}
