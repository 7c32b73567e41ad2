package render_test

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/render"
)

// The part of Mermaid that flowcharts of this package are made of. It is far smaller than the language: a label has
// nothing but words, punctuation that is inert between them, numeric entities and line breaks.
var (
	mermaidLabel = `"((?:[A-Za-z0-9 ./_,:-]|#[0-9]+;|<br/>)+)"`
	mermaidID    = `([cr][0-9]+|legend(?:Controller|Input|Output))`

	mermaidNode = regexp.MustCompile(`^ +` + mermaidID + `(?:\(` + mermaidLabel + `\):::controller|\[\(` + mermaidLabel +
		`\)\]:::resource)$`)
	mermaidEdge = regexp.MustCompile(`^ +` + mermaidID + ` (--[>ox]|-\.-[>ox]|==[>ox])\|` + mermaidLabel + `\| ` +
		mermaidID + `$`)
	mermaidOther = regexp.MustCompile(`^(flowchart (LR|TB)|  classDef (controller|resource) fill:#\w{6},stroke:#\w{6},` +
		`color:#\w{6}|  subgraph legend\["Legend"\]|    direction LR|  end|` +
		`  linkStyle [0-9]+(,[0-9]+)* stroke:#\w{6},color:#\w{6}|---|title: "[^\n]*")$`)
)

// readMermaid checks a flowchart line by line, and returns the labels of its nodes and of its edges as they are shown.
func readMermaid(t require.TestingT, document string) (nodes map[string]string, edges []string) {
	nodes = map[string]string{}

	for line := range strings.Lines(document) {
		line = strings.TrimSuffix(line, "\n")

		if m := mermaidNode.FindStringSubmatch(line); m != nil {
			require.NotContains(t, nodes, m[1])
			nodes[m[1]] = shownByMermaid(m[2] + m[3])

			continue
		}

		if m := mermaidEdge.FindStringSubmatch(line); m != nil {
			require.Contains(t, nodes, m[1])
			require.Contains(t, nodes, m[4])
			edges = append(edges, shownByMermaid(m[3]))

			continue
		}

		require.Regexp(t, mermaidOther, line)
	}

	return nodes, edges
}

func shownByMermaid(label string) string {
	label = regexp.MustCompile(`#([0-9]+);`).ReplaceAllString(label, "&#$1;")
	label = strings.ReplaceAll(label, "<br/>", "\n")

	return strings.NewReplacer("\u00a0", " ", "\u2060", "").Replace(html.UnescapeString(label))
}

func checkMermaid(t require.TestingT, g *controller.DependencyGraph, opts ...render.Option) {
	nodes, edges := readMermaid(t, text(t, render.FormatMermaid, g, opts...))
	built := render.Build(g, opts...)

	for _, node := range built.Nodes {
		want := strings.NewReplacer("\u00a0", " ", "\u2060", "").Replace(strings.Join(node.Lines(), "\n"))
		require.Equal(t, want, nodes[node.ID])
	}

	for i, edge := range built.Edges {
		require.Equal(t, strings.Join(edge.Lines(), "\n"), edges[i])
	}

	require.Len(t, edges, len(built.Edges)+len(built.Legend()))
}

func TestMermaidShowsAnyNames(t *testing.T) {
	t.Parallel()

	checkMermaid(t, graphtest.HostileGraph())
	checkMermaid(t, nil)

	for _, title := range graphtest.Hostile() {
		checkMermaid(t, graphtest.Sample(), render.WithTitle(title))
	}

	rapid.Check(t, func(t *rapid.T) {
		checkMermaid(t, graphtest.Any().Draw(t, "graph"))
	})
}

func TestMermaidKeepsPairsApartThatAct(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"a\nb":     "a#92;#8288;nb",
		"$$x$$":    "#36;#8288;#36;x#36;#8288;#36;",
		"ﬂ°°60¶ß":  "#64258;#8288;#176;#176;60#182;#223;",
		"www.a.b":  "www#46;a#46;b",
		"1. x":     "1#46;#160;x",
		"A.b-c_d/": "A#46;b#45;c#95;d#47;",
		"A.b-c_d":  "A.b-c_d",
		"a, b: c":  "a, b: c",
		"a:b":      "a#58;b",
		"a  b":     "a #160;b",
	} {
		g := graphtest.Graph(graphtest.Edge(name, controller.EdgeInputWeak, "n", "T", ""))
		assert.Contains(t, text(t, render.FormatMermaid, g), `c1("`+want+`")`)
	}
}

func TestMermaidLinkStylesMatchTheEdges(t *testing.T) {
	t.Parallel()

	document := text(t, render.FormatMermaid, graphtest.Sample())

	var labels []string
	for _, m := range regexp.MustCompile(`(?m)\|"(.*)"\|`).FindAllStringSubmatch(document, -1) {
		labels = append(labels, m[1])
	}

	styled := 0

	for _, kind := range render.EdgeKinds() {
		links := regexp.MustCompile(`linkStyle (\S+) stroke:` + kind.Style().Colour).FindStringSubmatch(document)
		if links == nil {
			continue
		}

		positions := strings.Split(links[1], ",")
		styled += len(positions)

		for i, label := range labels {
			short, _, _ := strings.Cut(strings.ReplaceAll(label, ": ", "<br/>"), "<br/>")
			assert.Equal(t, short == kind.Style().Label, slices.Contains(positions, itoa(i)), "%d %s", i, label)
		}
	}

	assert.Len(t, labels, styled)
}
