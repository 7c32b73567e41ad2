package dependency_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

var editedTypes = []string{"X", "Y", "Z"}

// drawInput draws any input of a classic controller on few ids, so that lists of them meet often.
func drawInput(t *rapid.T) controller.Input {
	kinds := []controller.InputKind{controller.InputWeak, controller.InputStrong, controller.InputDestroyReady}
	in := whole(rapid.SampledFrom(kinds).Draw(t, "kind"), "n", rapid.SampledFrom(editedTypes).Draw(t, "type"))

	if id := rapid.IntRange(0, 12).Draw(t, "id"); id > 0 {
		in.ID = optional.Some(fmt.Sprint(id))
	}

	return in
}

// edit changes a list here and there, as controllers do from one update to the next, at times so that it is refused.
func edit(t *rapid.T, inputs []controller.Input) []controller.Input {
	inputs = slices.Clone(inputs)

	if rapid.IntRange(0, 4).Draw(t, "anew") == 0 {
		inputs = rapid.SliceOfNDistinct(rapid.Custom(drawInput), 0, 30, func(in controller.Input) controller.Input {
			in.Kind = 0

			return in
		}).Draw(t, "inputs")
	}

	for range rapid.IntRange(0, 4).Draw(t, "edits") {
		at := rapid.IntRange(0, len(inputs)).Draw(t, "at")
		from := rapid.IntRange(0, len(inputs)).Draw(t, "from")

		switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
		case op <= 2 || at == len(inputs) || from == len(inputs):
			inputs = slices.Insert(inputs, at, drawInput(t))
		case op == 3:
			inputs[at] = drawInput(t)
		case op == 4:
			inputs = slices.Delete(inputs, at, at+1)
		case op == 5:
			inputs[at], inputs[from] = inputs[from], inputs[at]
		case op == 6:
			inputs = slices.Concat(inputs[min(at, from):], inputs[:min(at, from)])
		case op == 7:
			inputs[at].Kind = rapid.IntRange(-1, controller.InputQPrimary).Draw(t, "other kind")
		case op == 8:
			// The same text elsewhere in memory is the same input.
			inputs[at].Type = strings.Clone(inputs[at].Type)

			if id, ok := inputs[at].ID.Get(); ok {
				inputs[at].ID = optional.Some(strings.Clone(id))
			}
		default:
			slices.Reverse(inputs[min(at, from):max(at, from)])
		}
	}

	return inputs
}

// However a list of inputs differs from the last one, what is in force is what a comparison of all with all makes of it;
// a refused list changes nothing, and neither does the caller's slice once it was passed.
func TestEditedInputsFollowTheirModel(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		var (
			m  model
			db = dependency.NewDatabase[string]()
		)

		c := &declared{name: "c"}
		m.controllers = append(m.controllers, c)
		router := newLog(db)

		node, err := db.Register("c", dependency.Classic, "c", nil, nil, nil)
		require.NoError(t, err)

		c.node = node

		var last []controller.Input

		for range rapid.IntRange(1, 12).Draw(t, "updates") {
			inputs := edit(t, last)
			reasons := m.inputRefusals(dependency.Classic, inputs)
			given := slices.Clone(inputs)

			touched, err := db.SetInputs(node, dependency.Classic, given)
			refusedAs(t, err, reasons)
			require.Equal(t, inputs, given, "the slice is the caller's")

			for i := range given {
				given[i] = whole(controller.InputWeak, "n", "overwritten")
			}

			if err == nil {
				require.Equal(t, m.set(c, inputs), touched)

				last = inputs
			}

			require.Equal(t, slices.SortedFunc(slices.Values(last), controller.Input.Compare), node.Inputs())

			for _, typ := range editedTypes {
				m.checkKind(t, db, kindOf("n", typ))

				for id := range 14 {
					c.checkKey(t, keyOf("n", typ, fmt.Sprint(id)))

					for _, md := range []reduced.Metadata{changed("n", typ, fmt.Sprint(id)), tearingDown("n", typ, fmt.Sprint(id), false)} {
						require.Equal(t, len(m.route(&md)), len(router.route(md)), "%s", md.Key())
					}
				}
			}
		}

		require.Equal(t, m.set(c, nil), db.Remove(node))

		for _, typ := range editedTypes {
			m.checkKind(t, db, kindOf("n", typ))
		}
	})
}
