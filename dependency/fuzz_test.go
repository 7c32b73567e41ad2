package dependency_test

import (
	"slices"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/internal/fuzzed"
)

// mostSteps ends runs over long fuzz data: after each step everything is compared.
const mostSteps = 100

// pickInputs picks a list of inputs that is mostly valid for the form.
func (w words) pickInputs(b *fuzzed.Bytes, form dependency.Form) []controller.Input {
	kinds := []controller.InputKind{controller.InputWeak, controller.InputStrong, controller.InputDestroyReady}
	if form == dependency.Queue {
		kinds = []controller.InputKind{controller.InputQPrimary, controller.InputQMapped, controller.InputQMappedDestroyReady}
	}

	most := 4
	if b.Pick(4) == 3 {
		most = 20 // of which there is an index
	}

	inputs := make([]controller.Input, b.Pick(most))

	for i := range inputs {
		in := whole(fuzzed.One(b, kinds), fuzzed.One(b, w.namespaces), fuzzed.One(b, w.types))

		if b.Pick(2) == 1 {
			in = byID(in.Kind, in.Namespace, in.Type, fuzzed.One(b, w.ids))
		}

		if !b.Often(32) {
			in.Kind = controller.InputKind(b.Pick(9) - 1)
		}

		inputs[i] = in
	}

	// Lists without an input that is given twice are what most runs are about.
	if b.Often(8) {
		for i := len(inputs) - 1; i > 0; i-- {
			if slices.ContainsFunc(inputs[:i], inputs[i].EqualKeys) {
				inputs = slices.Delete(inputs, i, i+1)
			}
		}
	}

	return inputs
}

func (w words) pickOutputs(b *fuzzed.Bytes) []controller.Output {
	outputs := make([]controller.Output, b.Pick(3))

	for i := range outputs {
		outputs[i] = controller.Output{Type: fuzzed.One(b, w.types), Kind: controller.OutputKind(fuzzed.One(b, []int{1, 1, 1, 0, 1, 1, 2, -1}))}
	}

	return outputs
}

// Whatever the names are, and in whatever order controllers come, change their inputs and go: the database answers like
// its model.
func FuzzDatabase(f *testing.F) {
	f.Add([]byte("\x03abcdefgh\x00\x01\x02\x03\x04\x05\x06\x07"))
	f.Add([]byte("register some, have some of them change what they read, and let all of them go again, one after the other"))
	f.Add([]byte("\x01\x80\x01\x80\x01\x80\x01\x80\x00\x00\x02\x00\x00\x01\x00\x00\x01\x01\x00\x00\x01\x00\x00\x00"))
	f.Add([]byte("\xff\xff\x00\xfe\xfd\xfc\xff\x00\x10\x20\x30\x40\x50\x60\x70\x80\x90\xa0\xb0\xc0\xd0\xe0\xf0\xff"))

	f.Fuzz(func(t *testing.T, data []byte) {
		var (
			b      = fuzzed.From(data)
			w      = words{names: b.Texts(6), namespaces: b.Texts(3), types: b.Texts(3), ids: b.Texts(4)}
			m      model
			gone   []*dependency.Node[string]
			db     = dependency.NewDatabase[string]()
			router = newLog(db)
		)

		for step := 0; b.More() && step < mostSteps; step++ {
			switch op := b.Pick(8); {
			case op < 3 || len(m.controllers) == 0:
				name, form := fuzzed.One(b, w.names), dependency.Form(b.Pick(2))
				inputs, outputs := w.pickInputs(b, form), w.pickOutputs(b)
				reasons := m.refusals(name, form, inputs, outputs)

				node, err := db.Register(name, form, name, inputs, outputs, nil)
				refusedAs(t, err, reasons)

				if err == nil {
					c := &declared{name: name, form: form, outputs: outputs, node: node}
					m.controllers = append(m.controllers, c)
					m.set(c, inputs)
				}
			case op < 6:
				c := fuzzed.One(b, m.controllers)
				inputs := w.pickInputs(b, c.form)

				for _, in := range c.inputs {
					if b.Pick(2) == 1 && !slices.ContainsFunc(inputs, in.EqualKeys) {
						inputs = append(inputs, in.Input)
					}
				}

				reasons := m.inputRefusals(c.form, inputs)

				kinds, err := db.SetInputs(c.node, c.form, inputs)
				refusedAs(t, err, reasons)

				if err == nil {
					require.Equal(t, m.set(c, inputs), kinds)
				}
			case op == 6:
				c := fuzzed.One(b, m.controllers)
				require.Equal(t, m.set(c, nil), db.Remove(c.node))

				m.controllers = slices.DeleteFunc(m.controllers, func(other *declared) bool { return other == c })
				gone = append(gone, c.node)
			case len(gone) > 0:
				node := fuzzed.One(b, gone)
				_, err := db.SetInputs(node, dependency.Classic, nil)
				require.ErrorIs(t, err, dependency.ErrUnknownController)
				require.Empty(t, db.Remove(node))
			}

			m.check(t, db, router, w)
		}
	})
}
