package svg_test

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/render"
)

// marks are the attributes that a marked picture may have beside those of any other. None of them acts, but for a link that is
// followed.
var marks = map[string][]string{
	"svg":    {"class"},
	"g":      {"class", "color", "aria-label", "data-kind", "data-from", "data-to", "data-node", "data-controller", "data-namespace", "data-type"},
	"a":      {"class", "href", "aria-label", "data-node", "data-controller", "data-namespace", "data-type"},
	"rect":   {"class"},
	"circle": {"class"},
	"path":   {"class"},
	"text":   {"class", "color"},
}

func allowedMarked() map[string][]string {
	all := maps.Clone(allowed)
	for name, attrs := range marks {
		all[name] = slices.Concat(all[name], attrs)
	}

	return all
}

// page is the link that a host makes of a node.
func page(node render.Node) string {
	if node.Kind == render.Controller {
		return "controllers/" + url.PathEscape(node.Name) + "?from=graph&a=b"
	}

	return "resources?" + url.Values{"namespace": {node.Namespace}, "type": {node.Type}}.Encode()
}

// carried is what a document can carry of a text: XML has no place for some characters.
func carried(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return '\ufffd'
		}

		return r
	}, text)
}

func hasClass(e *element, class string) bool {
	return slices.Contains(strings.Fields(e.attrs["class"]), class)
}

// checkMarked tells whether a marked picture is well-formed, and names all of its nodes and edges for the page.
func checkMarked(t require.TestingT, g *controller.DependencyGraph, opts ...render.Option) {
	opts = append(opts, render.WithLinks(page))
	built := render.Build(g, opts...)
	document := picture(t, g, opts...)

	var nodes []render.Node

	var edges []render.Edge

	for _, e := range parseAs(t, document, allowedMarked()) {
		switch {
		case hasClass(e, "node"):
			require.Equal(t, "a", e.name)
			require.True(t, hasClass(e, "controller") || hasClass(e, "resources"))

			node := render.Node{ID: e.attrs["data-node"], Link: e.attrs["href"], Kind: render.Resource}
			if hasClass(e, "controller") {
				node.Kind = render.Controller
			}

			node.Name, node.Namespace, node.Type = e.attrs["data-controller"], e.attrs["data-namespace"], e.attrs["data-type"]
			nodes = append(nodes, node)
		case hasClass(e, "edge"):
			require.True(t, hasClass(e, e.attrs["data-kind"]))

			edges = append(edges, render.Edge{
				Kind: render.EdgeKind(e.attrs["data-kind"]), From: e.attrs["data-from"], To: e.attrs["data-to"],
			})
		}

		// Whatever has a colour can be given another one, by its class or by that of the edge it belongs to.
		for _, colour := range []string{e.attrs["fill"], e.attrs["stroke"]} {
			if colour != "" && colour != "none" {
				require.NotEmpty(t, e.attrs["class"], "%s has the colour %s and no class", e.name, colour)
			}
		}
	}

	want := slices.Clone(built.Nodes)
	for i := range want {
		want[i].Name, want[i].Namespace, want[i].Type = carried(want[i].Name), carried(want[i].Namespace), carried(want[i].Type)
	}

	require.Equal(t, want, append([]render.Node{}, nodes...))

	declared := slices.Clone(built.Edges)
	for i := range declared {
		declared[i].IDs = nil
	}

	require.Equal(t, declared, append([]render.Edge{}, edges...))
	checkInert(t, document, nodes)
}

// checkInert tells whether a page in which the picture lies has nothing from it but the picture, and reads the names in it as the
// picture has them.
func checkInert(t require.TestingT, document string, nodes []render.Node) {
	parsed, err := html.Parse(strings.NewReader("<!doctype html><body><main>" + document + "</main><footer></footer>"))
	require.NoError(t, err)

	all := allowedMarked()
	names := []string{}
	outside := []string{}

	for n := range parsed.Descendants() {
		require.NotEqual(t, html.CommentNode, n.Type)

		if n.Type != html.ElementNode {
			continue
		}

		if n.Namespace != "svg" {
			require.Empty(t, n.Attr, "%s", n.Data)

			outside = append(outside, n.Data)

			continue
		}

		require.Contains(t, all, n.Data)

		for _, attr := range n.Attr {
			require.Empty(t, attr.Namespace)
			require.Contains(t, all[n.Data], attr.Key)

			if attr.Key == "data-controller" {
				names = append(names, attr.Val)
			}

			if attr.Key == "href" {
				require.True(t, strings.HasPrefix(attr.Val, "controllers/") || strings.HasPrefix(attr.Val, "resources?"), attr.Val)
			}
		}
	}

	require.Equal(t, []string{"html", "head", "body", "main", "footer"}, outside)

	want := []string{}

	for _, node := range nodes {
		if node.Kind == render.Controller {
			want = append(want, node.Name)
		}
	}

	require.Equal(t, want, names)
}

func TestMarkedGolden(t *testing.T) {
	t.Parallel()

	path := filepath.Join("testdata", "marked.svg")
	got := picture(t, graphtest.Sample(), render.WithLinks(page), render.WithTitle("Appliance"))

	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestMarkedPictureNamesEverything(t *testing.T) {
	t.Parallel()

	checkMarked(t, nil)
	checkMarked(t, graphtest.Sample())
	checkMarked(t, graphtest.HostileGraph())
	checkMarked(t, fleet(70)) // with straight edges

	rapid.Check(t, func(t *rapid.T) {
		checkMarked(t, graphtest.Any().Draw(t, "graph"), render.WithTitle(rapid.SampledFrom(graphtest.Hostile()).Draw(t, "title")))
	})
}

// What does not show, or turns the direction of text round, is not in the document as such, but for what a reference would change.
func TestNamesDoNotMisleadWhoReadsTheDocument(t *testing.T) {
	t.Parallel()

	g := graphtest.Graph(graphtest.Edge("a\u202eb\u2066c\u200b", controller.EdgeInputWeak, "n\u200f", "t\ufeff", ""))
	document := picture(t, g, render.WithLinks(page))

	assert.NotContains(t, document, "\u202e")
	assert.NotContains(t, document, "\u2066")
	assert.NotContains(t, document, "\u200b")
	assert.NotContains(t, document, "\u200f")
	assert.NotContains(t, document, "\ufeff")
	assert.Contains(t, document, `data-controller="a&#x202e;b&#x2066;c&#x200b;"`)
	checkMarked(t, g)
}

// Nodes come before edges, which are told with their ends, and nothing is told twice.
func TestMarkedPictureIsReadInOrder(t *testing.T) {
	t.Parallel()

	var order []string

	for _, e := range parseAs(t, picture(t, graphtest.Sample(), render.WithLinks(page)), allowedMarked()) {
		if e.attrs["role"] == "group" {
			order = append(order, e.attrs["aria-label"])
		}

		if e.name == "a" {
			require.Empty(t, e.attrs["role"], "a link is told as one")
			require.NotEmpty(t, e.attrs["aria-label"])
		}

		if e.name == "text" && e.in.name == "a" {
			require.Equal(t, "true", e.attrs["aria-hidden"])
		}
	}

	assert.Equal(t, []string{"Controllers and resources", "What is read and written"}, order)
}

func TestNodesWithoutALink(t *testing.T) {
	t.Parallel()

	for _, link := range []func(render.Node) string{nil, func(render.Node) string { return "javascript:alert(1)" }} {
		controllers := 0

		for _, e := range parseAs(t, picture(t, graphtest.Sample(), render.WithLinks(link)), allowedMarked()) {
			require.NotEqual(t, "a", e.name)

			if hasClass(e, "node") && hasClass(e, "controller") {
				require.Equal(t, "graphics-symbol img", e.attrs["role"])

				controllers++
			}
		}

		assert.Equal(t, 8, controllers)
	}
}

func TestWithoutFrame(t *testing.T) {
	t.Parallel()

	plain := parse(t, picture(t, graphtest.Sample(), render.WithTitle("Appliance")))
	bare := parse(t, picture(t, graphtest.Sample(), render.WithTitle("Appliance"), render.WithoutFrame()))

	assert.Equal(t, "Appliance", bare[0].attrs["aria-label"])
	assert.NotContains(t, texts(bare, "title"), "Appliance")
	assert.NotContains(t, texts(bare, "text"), "Appliance")
	assert.NotContains(t, texts(bare, "text"), "Legend")
	assert.Less(t, number(t, bare[0].attrs["height"]), number(t, plain[0].attrs["height"]))
	assert.Equal(t, len(texts(plain, "title"))-1, len(texts(bare, "title")), "nodes and edges are named")

	checkMarked(t, graphtest.Sample(), render.WithoutFrame())
	checkMarked(t, nil, render.WithoutFrame())
}

func FuzzMarked(f *testing.F) {
	f.Add("\x00|A||T||\x02|A|n|T|id", "title")

	for _, name := range graphtest.Hostile() {
		f.Add("\x01|"+name+"||"+name+"||\x06|"+name+"|"+name+"|"+name+"|"+name, name)
	}

	f.Fuzz(func(t *testing.T, edges, title string) {
		checkMarked(t, graphtest.FromBytes(edges), render.WithTitle(title))
	})
}
