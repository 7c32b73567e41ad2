package render_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/render"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func text(t require.TestingT, f render.Format, g *controller.DependencyGraph, opts ...render.Option) string {
	var b bytes.Buffer

	require.NoError(t, render.Write(&b, f, g, opts...))

	return b.String()
}

func TestGolden(t *testing.T) {
	t.Parallel()

	g := graphtest.Sample()

	for _, f := range render.Formats() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()

			got := text(t, f, g, render.WithTitle("Appliance"), render.WithFindings(analysis.Analyze(g)))
			path := filepath.Join("testdata", "appliance."+string(f))

			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}

			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

func TestOrderOfEdgesDoesNotShow(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any().Draw(t, "graph")
		other := graphtest.Shuffled(t, g)

		for _, f := range render.Formats() {
			require.Equal(t, text(t, f, g), text(t, f, other))
		}
	})
}

func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any().Draw(t, "graph")

		checkJSON(t, g, render.WithTitle(rapid.SampledFrom(graphtest.Hostile()).Draw(t, "title")), render.WithFindings(analysis.Analyze(g)))
	})
}

// checkJSON tells whether the document holds all of the model.
func checkJSON(t require.TestingT, g *controller.DependencyGraph, opts ...render.Option) {
	document := text(t, render.FormatJSON, g, opts...)
	decoded, built := decode(t, document), render.Build(g, opts...)

	require.Equal(t, built.Version, decoded.Version)
	require.Equal(t, built.Title, decoded.Title)
	require.Equal(t, built.Nodes, decoded.Nodes)
	require.Equal(t, built.Edges, decoded.Edges)
	require.Equal(t, built.Findings, decoded.Findings)

	require.True(t, utf8.ValidString(document))
	require.False(t, strings.ContainsAny(document, "<>&\u2028\u2029"), "it is inert in a page")
}

func decode(t require.TestingT, document string) *render.Graph {
	var g render.Graph

	d := json.NewDecoder(strings.NewReader(document))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&g))

	_, err := d.Token()
	require.ErrorIs(t, err, io.EOF)

	return &g
}

func TestJSONIsInertInAPage(t *testing.T) {
	t.Parallel()

	document := text(t, render.FormatJSON, graphtest.HostileGraph())

	assert.False(t, strings.ContainsAny(document, "<>&\u2028"))
	assert.True(t, utf8.ValidString(document))
}

func TestModelNamesEveryDeclaration(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) { checkModel(t, graphtest.Any().Draw(t, "graph")) })
}

// checkModel tells whether each declaration is an edge of the model.
func checkModel(t require.TestingT, g *controller.DependencyGraph) {
	built := render.Build(g)
	nodes := map[string]render.Node{}

	for _, node := range built.Nodes {
		require.NotContains(t, nodes, node.ID)
		nodes[node.ID] = node
	}

	for _, declared := range g.Edges {
		kind := render.KindOfEdge(declared.EdgeType)

		require.True(t, slices.ContainsFunc(built.Edges, func(e render.Edge) bool {
			ctrl, res := nodes[e.To], nodes[e.From]
			if kind.Output() {
				ctrl, res = res, ctrl
			}

			return e.Kind == kind &&
				ctrl.Kind == render.Controller && same(ctrl.Name, declared.ControllerName) &&
				res.Kind == render.Resource && same(res.Type, declared.ResourceType) &&
				(same(res.Namespace, declared.ResourceNamespace) || kind.Output()) &&
				(len(e.IDs) == 0) == (declared.ResourceID == "") &&
				(len(e.IDs) == 0 || slices.ContainsFunc(e.IDs, func(id string) bool { return same(id, declared.ResourceID) }))
		}), "%+v", declared)
	}
}

// same compares a name in the model to a declared one, which need not be UTF-8.
func same(got, declared string) bool {
	return got == strings.ToValidUTF8(declared, "\ufffd")
}

func TestOutputsLeadToEveryNamespaceThatIsRead(t *testing.T) {
	t.Parallel()

	g := graphtest.Graph(
		graphtest.Edge("W", controller.EdgeOutputExclusive, "", "T", ""),
		graphtest.Edge("W", controller.EdgeOutputExclusive, "", "U", ""),
		graphtest.Edge("R", controller.EdgeInputWeak, "n", "T", ""),
		graphtest.Edge("R", controller.EdgeInputStrong, "m", "T", ""),
	)

	assert.Equal(t, []render.Node{
		{ID: "c1", Kind: render.Controller, Name: "R"},
		{ID: "c2", Kind: render.Controller, Name: "W"},
		{ID: "r1", Kind: render.Resource, Type: "U"},
		{ID: "r2", Kind: render.Resource, Namespace: "m", Type: "T"},
		{ID: "r3", Kind: render.Resource, Namespace: "n", Type: "T"},
	}, render.Build(g).Nodes)

	assert.Equal(t, []render.Edge{
		{From: "c2", To: "r1", Kind: render.OutputExclusive},
		{From: "c2", To: "r2", Kind: render.OutputExclusive},
		{From: "c2", To: "r3", Kind: render.OutputExclusive},
		{From: "r2", To: "c1", Kind: render.InputStrong},
		{From: "r3", To: "c1", Kind: render.InputWeak},
	}, render.Build(g).Edges)
}

func TestIDsAreFolded(t *testing.T) {
	t.Parallel()

	read := func(kind controller.DependencyEdgeType, ids ...string) []controller.DependencyEdge {
		var edges []controller.DependencyEdge
		for _, id := range ids {
			edges = append(edges, graphtest.Edge("C", kind, "n", "T", id))
		}

		return edges
	}

	g := graphtest.Graph(slices.Concat(
		read(controller.EdgeInputWeak, "i", "h", "g", "f", "e", "d", "c", "b", "a", "a"),
		read(controller.EdgeInputWeak, ""),
		read(controller.EdgeInputStrong, "z", "y", "x"),
		read(controller.EdgeInputQPrimary, "only"),
	)...)

	var got [][]string
	for _, edge := range render.Build(g).Edges {
		got = append(got, edge.Lines())
	}

	assert.Equal(t, [][]string{
		{"strong", "x, y, z"},
		{"weak"},
		{"weak", "a, b and 7 more"},
		{"primary", "only"},
	}, got)
}

func TestEdgeKindsCanBeToldApart(t *testing.T) {
	t.Parallel()

	type look struct {
		line render.Line
		head render.Head
	}

	looks := map[look]render.EdgeKind{}
	labels := map[string]render.EdgeKind{}
	colours := map[string]render.EdgeKind{}

	for _, kind := range render.EdgeKinds() {
		style := kind.Style()

		assert.NotContains(t, looks, look{style.Line, style.Head}, "%s", kind)
		assert.NotContains(t, labels, style.Label, "%s", kind)
		assert.NotContains(t, colours, style.Colour, "%s", kind)
		assert.NotEmpty(t, style.Meaning, "%s", kind)

		looks[look{style.Line, style.Head}] = kind
		labels[style.Label] = kind
		colours[style.Colour] = kind
	}

	for i, kind := range render.EdgeKinds() {
		assert.Equal(t, kind, render.KindOfEdge(controller.DependencyEdgeType(i)))
	}

	assert.Equal(t, render.Unknown, render.KindOfEdge(-1))
	assert.NotEqual(t, render.Controller.Fill(), render.Resource.Fill())
	assert.NotEqual(t, render.Controller.Stroke(), render.Resource.Stroke())
}

func TestLegendExplainsWhatIsUsed(t *testing.T) {
	t.Parallel()

	all := render.Build(graphtest.Sample()).Legend()
	assert.Equal(t, render.EdgeKinds()[:8], all)

	for _, f := range []render.Format{render.FormatMermaid, render.FormatDOT} {
		document := text(t, f, graphtest.Sample())
		for _, kind := range all {
			assert.Equal(t, 1, strings.Count(document, kind.Style().Label+": "+kind.Style().Meaning+`"`), "%s %s", f, kind)
		}

		assert.NotContains(t, document, render.Unknown.Style().Meaning)
		assert.NotContains(t, text(t, f, nil), "Legend")
	}
}

func TestTopDown(t *testing.T) {
	t.Parallel()

	assert.Contains(t, text(t, render.FormatMermaid, nil), "flowchart LR\n")
	assert.Contains(t, text(t, render.FormatMermaid, nil, render.WithTopDown()), "flowchart TB\n")
	assert.Contains(t, text(t, render.FormatDOT, nil), "rankdir=LR")
	assert.Contains(t, text(t, render.FormatDOT, nil, render.WithTopDown()), "rankdir=TB")
}

func TestFormatNames(t *testing.T) {
	t.Parallel()

	for _, f := range render.Formats() {
		parsed, err := render.ParseFormat(strings.ToUpper(string(f)))
		require.NoError(t, err)
		assert.Equal(t, f, parsed)
	}

	_, err := render.ParseFormat("png")
	require.EqualError(t, err, `render: there is no format "png", only mermaid, dot, json`)

	var b bytes.Buffer

	require.Error(t, render.Write(&b, "", nil))
	assert.Zero(t, b.Len())

	f := render.FormatMermaid
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.TextVar(&f, "format", f, "")

	require.Error(t, flags.Parse([]string{"-format", "png"}))
	assert.Equal(t, render.FormatMermaid, f)
	require.NoError(t, flags.Parse([]string{"-format", "dot"}))
	assert.Equal(t, render.FormatDOT, f)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestErrorOfTheWriterIsReturned(t *testing.T) {
	t.Parallel()

	full := errors.New("disk full")

	for _, f := range render.Formats() {
		require.ErrorIs(t, render.Write(failing{full}, f, graphtest.Sample()), full)
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"":                      `""`,
		"plain.example.dev":     "plain.example.dev",
		" x":                    `" x"`,
		"a\nb":                  `a\nb`,
		"a\x00b\x1b":            `a\x00b\x1b`,
		"\xff":                  `\xff`,
		"\ufffd":                "\ufffd",
		"left\u202eright":       `left\u202eright`,
		"Straße 鍵":              "Straße 鍵",
		"12345678901234567890":  "12345678901234567890",
		"123456789012345678901": "1234567890123…678901",
	} {
		assert.Equal(t, want, render.Printable(name, 20), "%q", name)
	}
}

func TestPrintableIsShortAndVisible(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		limit := rapid.IntRange(-5, 60).Draw(t, "limit")
		shown := render.Printable(name, limit)

		require.LessOrEqual(t, utf8.RuneCountInString(shown), max(limit, 8))
		require.NotEmpty(t, shown)
		require.Equal(t, strings.TrimSpace(shown), shown)

		for _, r := range shown {
			require.True(t, unicode.IsPrint(r), "%q", r)
		}
	})
}
