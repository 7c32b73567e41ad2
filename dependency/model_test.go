package dependency_test

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

// words are the names that a run is about.
type words struct{ names, namespaces, types, ids []string }

// plain are the words of the property test: few, so that they meet.
var plain = words{
	names: []string{"A", "B", "C", "D"}, namespaces: []string{"n", "m"}, types: []string{"X", "Y"}, ids: []string{"1", "2"},
}

// tester is what a run tells of failures: that of a property test or of a fuzzer.
type tester interface {
	require.TestingT

	Fatalf(format string, args ...any)
}

// model is the database as slices that are scanned.
type model struct {
	controllers []*declared // in order of registration
	seq         int
}

type declared struct {
	name    string
	form    dependency.Form
	inputs  []declaredInput
	outputs []controller.Output
	node    *dependency.Node[string]
}

type declaredInput struct {
	controller.Input

	seq int // when it was declared, among all inputs
}

func (m *model) find(name string) *declared {
	for _, c := range m.controllers {
		if c.name == name {
			return c
		}
	}

	return nil
}

// refusals are all reasons for which the declaration may be refused; none if it must be taken.
func (m *model) refusals(name string, form dependency.Form, inputs []controller.Input, outputs []controller.Output) []error {
	var reasons []error

	if name == "" {
		reasons = append(reasons, dependency.ErrInvalidName)
	}

	if m.find(name) != nil {
		reasons = append(reasons, dependency.ErrNameTaken)
	}

	for i, out := range outputs {
		if out.Type == "" || out.Kind < controller.OutputExclusive || out.Kind > controller.OutputShared ||
			slices.ContainsFunc(outputs[:i], func(o controller.Output) bool { return o.Type == out.Type }) {
			reasons = append(reasons, dependency.ErrInvalidOutput)
		}

		for _, c := range m.controllers {
			for _, taken := range c.outputs {
				if taken.Type == out.Type && (taken.Kind == controller.OutputExclusive || out.Kind == controller.OutputExclusive) {
					reasons = append(reasons, dependency.ErrOutputTaken)
				}
			}
		}
	}

	return append(reasons, m.inputRefusals(form, inputs)...)
}

func (m *model) inputRefusals(form dependency.Form, inputs []controller.Input) []error {
	var reasons []error

	for i, in := range inputs {
		ofQueue := in.Kind >= controller.InputQPrimary

		if in.Type == "" || in.Kind < 0 || in.Kind > controller.InputQMappedDestroyReady || ofQueue != (form == dependency.Queue) {
			reasons = append(reasons, dependency.ErrInvalidInput)
		}

		if slices.ContainsFunc(inputs[:i], in.EqualKeys) {
			reasons = append(reasons, dependency.ErrDuplicateInput)
		}
	}

	return reasons
}

// set replaces the inputs of a controller and returns the kinds concerned.
func (m *model) set(c *declared, inputs []controller.Input) []reduced.Kind {
	touched := map[reduced.Kind]struct{}{}
	old := c.inputs
	c.inputs = nil

	for _, in := range inputs {
		if i := slices.IndexFunc(old, func(o declaredInput) bool { return o.Input == in }); i >= 0 {
			c.inputs = append(c.inputs, old[i])
			old = slices.Delete(old, i, i+1)

			continue
		}

		m.seq++
		c.inputs = append(c.inputs, declaredInput{in, m.seq})
		touched[kindOf(in.Namespace, in.Type)] = struct{}{}
	}

	for _, in := range old {
		touched[kindOf(in.Namespace, in.Type)] = struct{}{}
	}

	return slices.SortedFunc(maps.Keys(touched), reduced.Kind.Compare)
}

// route returns who is to be visited for a change, in order.
func (m *model) route(md *reduced.Metadata) []visit {
	type match struct {
		c  *declared
		in declaredInput
	}

	var matches []match

	for _, c := range m.controllers {
		for _, in := range c.inputs {
			id, byID := in.ID.Get()
			ready := in.Kind != controller.InputDestroyReady && in.Kind != controller.InputQMappedDestroyReady || md.DestroyReady()

			if in.Namespace == md.Namespace() && in.Type == md.Type() && (!byID || id == md.ID()) && ready {
				matches = append(matches, match{c, in})
			}
		}
	}

	slices.SortFunc(matches, func(a, b match) int { return cmp.Compare(a.in.seq, b.in.seq) })

	var visits []visit

	done := map[visit]struct{}{}

	wakes := func(in declaredInput) bool {
		return in.Kind == controller.InputWeak || in.Kind == controller.InputStrong
	}

	for _, in := range []func(declaredInput) bool{
		func(in declaredInput) bool { return in.ID.IsPresent() },
		func(in declaredInput) bool { return !in.ID.IsPresent() && wakes(in) },
		func(in declaredInput) bool { return !in.ID.IsPresent() && !wakes(in) },
	} {
		for _, match := range matches {
			once := visit{match.c.name, modelLane(match.in.Kind)}

			if _, twice := done[once]; !twice && in(match.in) {
				done[once] = struct{}{}
				visits = append(visits, visit{match.c.name, match.in.Kind})
			}
		}
	}

	return visits
}

// modelLane stands for all input kinds that are delivered in the same way.
func modelLane(kind controller.InputKind) controller.InputKind {
	switch kind {
	case controller.InputQPrimary, controller.InputQMapped:
		return kind
	case controller.InputQMappedDestroyReady:
		return controller.InputQMapped
	default:
		return controller.InputWeak
	}
}

// graph returns the edges in the order that the contract's users know: by a plain sort on all their fields.
func (m *model) graph() []controller.DependencyEdge {
	inputEdges := map[controller.InputKind]controller.DependencyEdgeType{
		controller.InputWeak: controller.EdgeInputWeak, controller.InputStrong: controller.EdgeInputStrong,
		controller.InputDestroyReady: controller.EdgeInputDestroyReady, controller.InputQPrimary: controller.EdgeInputQPrimary,
		controller.InputQMapped:             controller.EdgeInputQMapped,
		controller.InputQMappedDestroyReady: controller.EdgeInputQMappedDestroyReady,
	}

	var exclusives, shareds, inputs []controller.DependencyEdge

	for _, c := range m.controllers {
		for _, out := range c.outputs {
			if out.Kind == controller.OutputExclusive {
				exclusives = append(exclusives, controller.DependencyEdge{ControllerName: c.name, ResourceType: out.Type, EdgeType: controller.EdgeOutputExclusive})
			} else {
				shareds = append(shareds, controller.DependencyEdge{ControllerName: c.name, ResourceType: out.Type, EdgeType: controller.EdgeOutputShared})
			}
		}

		// An input by the empty id looks like one on the whole kind, and comes after it.
		wholeFirst := slices.Clone(c.inputs)
		slices.SortStableFunc(wholeFirst, func(a, b declaredInput) int {
			switch {
			case a.ID.IsPresent() == b.ID.IsPresent():
				return 0
			case a.ID.IsPresent():
				return 1
			default:
				return -1
			}
		})

		for _, in := range wholeFirst {
			inputs = append(inputs, controller.DependencyEdge{
				ControllerName: c.name, ResourceNamespace: in.Namespace, ResourceType: in.Type, ResourceID: in.ID.ValueOrZero(),
				EdgeType: inputEdges[in.Kind],
			})
		}
	}

	for _, edges := range [][]controller.DependencyEdge{exclusives, shareds, inputs} {
		slices.SortStableFunc(edges, func(a, b controller.DependencyEdge) int {
			return slices.Compare(
				[]string{a.ControllerName, a.ResourceNamespace, a.ResourceType, a.ResourceID},
				[]string{b.ControllerName, b.ResourceNamespace, b.ResourceType, b.ResourceID},
			)
		})
	}

	return slices.Concat(exclusives, shareds, inputs)
}

// drawInputs draws a list that is valid for the form more often than not.
func drawInputs(t *rapid.T, form dependency.Form) []controller.Input {
	kinds := []controller.InputKind{controller.InputWeak, controller.InputStrong, controller.InputDestroyReady}
	if form == dependency.Queue {
		kinds = []controller.InputKind{controller.InputQPrimary, controller.InputQMapped, controller.InputQMappedDestroyReady}
	}

	one := rapid.Custom(func(t *rapid.T) controller.Input {
		in := whole(rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.SampledFrom(plain.namespaces).Draw(t, "ns"), rapid.SampledFrom(plain.types).Draw(t, "type"))

		if rapid.Bool().Draw(t, "by id") {
			in = byID(in.Kind, in.Namespace, in.Type, rapid.SampledFrom(plain.ids).Draw(t, "id"))
		}

		return in
	})

	inputs := rapid.SliceOfNDistinct(one, 0, 6, func(in controller.Input) controller.Input {
		in.Kind = 0

		return in
	}).Draw(t, "inputs")

	if len(inputs) > 0 {
		switch rapid.IntRange(0, 12).Draw(t, "spoil") {
		case 0:
			inputs = append(inputs, inputs[0]) // the same twice
		case 1:
			twin := inputs[0]
			twin.Kind = kinds[(slices.Index(kinds, twin.Kind)+1)%len(kinds)]
			inputs = append(inputs, twin) // the same under another kind
		case 2:
			inputs[len(inputs)-1].Kind = controller.InputKind(rapid.IntRange(-1, 7).Draw(t, "any kind"))
		case 3:
			inputs[len(inputs)-1].Type = ""
		}
	}

	return inputs
}

func drawOutputs(t *rapid.T) []controller.Output {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) controller.Output {
		return controller.Output{
			Type: rapid.SampledFrom([]resource.Type{"X", "Y", "V", "W", ""}).Draw(t, "type"),
			Kind: controller.OutputKind(rapid.SampledFrom([]int{0, 0, 1, 1, 1, 2}).Draw(t, "kind")),
		}
	}), 0, 2).Draw(t, "outputs")
}

// refusedAs checks that an error is one of the expected reasons; without any, that there is no error.
func refusedAs(t require.TestingT, err error, reasons []error) {
	if len(reasons) == 0 {
		require.NoError(t, err)

		return
	}

	var declaration *dependency.DeclarationError

	require.ErrorAs(t, err, &declaration)
	require.True(t, slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) }), "%v is none of %v", err, reasons)
}

// check compares all that can be asked of the database with the model.
func (m *model) check(t tester, db *dependency.Database[string], router *log, w words) {
	nodes := make([]*dependency.Node[string], len(m.controllers))
	for i, c := range m.controllers {
		nodes[i] = c.node
	}

	require.Equal(t, nodes, db.Nodes())

	for _, name := range w.names {
		node, known := db.Get(name)
		require.Equal(t, m.find(name) != nil, known)

		if known {
			require.Same(t, m.find(name).node, node)
		}
	}

	require.Equal(t, m.graph(), db.Graph().Edges)

	for _, ns := range w.namespaces {
		for _, typ := range w.types {
			m.checkKind(t, db, kindOf(ns, typ))

			for _, id := range append(slices.Clip(w.ids), "other") {
				running := changed(ns, typ, id)

				for _, md := range []reduced.Metadata{
					running, running.Gone(), tearingDown(ns, typ, id, true), tearingDown(ns, typ, id, false),
					reduced.Merge(tearingDown(ns, typ, id, true), running),
				} {
					if want, got := m.route(&md), router.route(md); !slices.Equal(want, got) {
						t.Fatalf("%s: want %v, got %v", md.Key(), want, got)
					}
				}

				for _, c := range m.controllers {
					c.checkKey(t, keyOf(ns, typ, id))
				}
			}
		}
	}
}

func (m *model) checkKind(t tester, db *dependency.Database[string], kind reduced.Kind) {
	var (
		watched, tracked   bool
		targets, primaries []string
	)

	for _, c := range m.controllers {
		var target, primary, reads, allPrimary bool

		var primaryIDs []resource.ID

		for _, in := range c.inputs {
			if in.Namespace != kind.Namespace || in.Type != kind.Type {
				continue
			}

			watched, target = true, true
			tracked = tracked || in.Kind != controller.InputWeak && in.Kind != controller.InputStrong
			reads = reads || !in.ID.IsPresent()

			if in.Kind == controller.InputQPrimary {
				primary = true

				if id, ok := in.ID.Get(); ok {
					primaryIDs = append(primaryIDs, id)
				} else {
					allPrimary = true
				}
			}
		}

		if target {
			targets = append(targets, c.name)
		}

		if primary {
			primaries = append(primaries, c.name)
		}

		require.Equal(t, target, slices.Contains(c.node.Kinds(), kind))
		require.Equal(t, reads || c.writes(kind.Type), c.node.ReadsKind(kind), "%s lists %s", c.name, kind)

		gotAll, gotIDs := c.node.Primary(kind)
		require.Equal(t, allPrimary, gotAll)

		if !allPrimary {
			slices.Sort(primaryIDs)
			require.Equal(t, primaryIDs, gotIDs)
		}
	}

	gotWatched, gotTracked := db.Needs(kind)
	require.Equal(t, [2]bool{watched, tracked}, [2]bool{gotWatched, gotTracked}, "needs of %s", kind)
	require.Equal(t, targets, append([]string(nil), db.Targets(kind)...), "targets of %s", kind)
	require.Equal(t, primaries, append([]string(nil), db.Primaries(kind)...), "primaries of %s", kind)
}

func (c *declared) writes(typ resource.Type) bool {
	return slices.ContainsFunc(c.outputs, func(o controller.Output) bool { return o.Type == typ })
}

func (c *declared) checkKey(t tester, key reduced.Key) {
	reads, holds := c.writes(key.Type), false

	for _, in := range c.inputs {
		if id, byID := in.ID.Get(); in.Namespace == key.Namespace && in.Type == key.Type && (!byID || id == key.ID) {
			reads = true
			holds = holds || in.Kind != controller.InputWeak && in.Kind != controller.InputDestroyReady
		}
	}

	want := [...]bool{c.writes(key.Type), reads, holds}
	if got := [...]bool{c.node.Writes(key.Type), c.node.Reads(key), c.node.Holds(key)}; want != got {
		t.Fatalf("%s writes, reads, holds %s: want %v, got %v", c.name, key, want, got)
	}
}

// Whatever is declared, changed and taken back, and whatever of it is refused: the database answers like a model that
// scans slices, and a refused declaration leaves no trace.
func TestDatabaseFollowsItsModel(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		var (
			m      model
			gone   []*dependency.Node[string]
			db     = dependency.NewDatabase[string]()
			router = newLog(db)
		)

		t.Repeat(map[string]func(*rapid.T){
			"register": func(t *rapid.T) {
				name := rapid.SampledFrom(plain.names).Draw(t, "name")
				form := rapid.SampledFrom([]dependency.Form{dependency.Classic, dependency.Queue}).Draw(t, "form")
				inputs, outputs := drawInputs(t, form), drawOutputs(t)
				reasons := m.refusals(name, form, inputs, outputs)

				var accepted *dependency.Node[string]

				node, err := db.Register(name, form, name, inputs, outputs, func(n *dependency.Node[string]) { accepted = n })
				refusedAs(t, err, reasons)
				require.Same(t, accepted, node)

				if err == nil {
					c := &declared{name: name, form: form, outputs: slices.Clone(outputs), node: node}
					m.controllers = append(m.controllers, c)
					m.set(c, inputs)
				}
			},
			"set inputs": func(t *rapid.T) {
				if len(m.controllers) == 0 {
					t.Skip("nothing is registered")
				}

				c := rapid.SampledFrom(m.controllers).Draw(t, "controller")
				inputs := drawInputs(t, c.form)

				if rapid.Bool().Draw(t, "keep some") && len(c.inputs) > 0 {
					inputs = append(inputs, c.inputs[0].Input)
				}

				reasons := m.inputRefusals(c.form, inputs)

				kinds, err := db.SetInputs(c.node, c.form, inputs)
				refusedAs(t, err, reasons)

				if err == nil {
					require.Equal(t, m.set(c, inputs), kinds)
				}
			},
			"remove": func(t *rapid.T) {
				if len(m.controllers) == 0 {
					t.Skip("nothing is registered")
				}

				c := rapid.SampledFrom(m.controllers).Draw(t, "controller")
				require.Equal(t, m.set(c, nil), db.Remove(c.node))

				m.controllers = slices.DeleteFunc(m.controllers, func(other *declared) bool { return other == c })
				gone = append(gone, c.node)
			},
			"use one that is gone": func(t *rapid.T) {
				if len(gone) == 0 {
					t.Skip("nothing is gone")
				}

				node := rapid.SampledFrom(gone).Draw(t, "node")
				_, err := db.SetInputs(node, dependency.Classic, nil)
				require.ErrorIs(t, err, dependency.ErrUnknownController)
				require.Empty(t, db.Remove(node))
			},
			"": func(t *rapid.T) { m.check(t, db, router, plain) },
		})
	})
}
