package render_test

import (
	"html"
	"strconv"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/goccy/go-graphviz"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/render"
)

func itoa(i int) string { return strconv.Itoa(i) }

// shownByDOT undoes the escapes that Graphviz knows in the label of a node or an edge. It fails for those that stand for
// something else, such as the name of the node.
func shownByDOT(t require.TestingT, label string) string {
	var b strings.Builder

	for i := 0; i < len(label); i++ {
		if label[i] != '\\' {
			b.WriteByte(label[i])

			continue
		}

		i++
		require.Less(t, i, len(label))
		require.Contains(t, `\n`, label[i:i+1])

		if label[i] == 'n' {
			b.WriteByte('\n')
		} else {
			b.WriteByte('\\')
		}
	}

	return html.UnescapeString(b.String())
}

// checkDOT has Graphviz parse the document. Its module has one memory, so that calls must not run concurrently.
func checkDOT(t require.TestingT, g *controller.DependencyGraph, opts ...render.Option) {
	parsed, err := graphviz.ParseBytes([]byte(text(t, render.FormatDOT, g, opts...)))
	require.NoError(t, err)

	defer func() { require.NoError(t, parsed.Close()) }()

	built := render.Build(g, opts...)
	nodes := map[string]string{}
	edges := map[string]int{}

	node, err := parsed.FirstNode()
	for ; node != nil; node, err = parsed.NextNode(node) {
		require.NoError(t, err)

		name, err := node.Name()
		require.NoError(t, err)

		nodes[name] = shownByDOT(t, node.Label())

		edge, err := parsed.FirstOut(node)
		for ; edge != nil; edge, err = parsed.NextOut(edge) {
			require.NoError(t, err)

			head, err := edge.Head()
			require.NoError(t, err)

			to, err := head.Name()
			require.NoError(t, err)

			edges[name+" "+to+" "+shownByDOT(t, edge.Label())]++
		}

		require.NoError(t, err)
	}

	require.NoError(t, err)

	for _, node := range built.Nodes {
		require.Equal(t, strings.Join(node.Lines(), "\n"), nodes[node.ID])
		delete(nodes, node.ID)
	}

	for _, edge := range built.Edges {
		key := edge.From + " " + edge.To + " " + strings.Join(edge.Lines(), "\n")
		require.Positive(t, edges[key], key)
		edges[key]--
	}

	for name := range nodes {
		require.True(t, strings.HasPrefix(name, "legend"), name)
	}

	for key, n := range edges {
		require.True(t, n == 0 || strings.HasPrefix(key, "legend"), key)
	}
}

func TestDOTParsesWithAnyNames(t *testing.T) {
	checkDOT(t, graphtest.HostileGraph())
	checkDOT(t, nil)
	checkDOT(t, graphtest.Sample(), render.WithTopDown())

	for _, title := range graphtest.Hostile() {
		checkDOT(t, graphtest.Sample(), render.WithTitle(title))
	}

	rapid.Check(t, func(t *rapid.T) {
		checkDOT(t, graphtest.Any().Draw(t, "graph"))
	})
}
