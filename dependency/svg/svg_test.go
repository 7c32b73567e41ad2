package svg_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/dependency/svg"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func picture(t require.TestingT, g *controller.DependencyGraph, opts ...render.Option) string {
	var b bytes.Buffer

	require.NoError(t, svg.Render(context.Background(), &b, g, opts...))

	return b.String()
}

func TestGolden(t *testing.T) {
	t.Parallel()

	path := filepath.Join("testdata", "appliance.svg")
	got := picture(t, graphtest.Sample(), render.WithTitle("Appliance"))

	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// element is one element of a document, with the text directly in it.
type element struct {
	name  string
	attrs map[string]string
	text  string
	in    *element
}

// allowed are the elements of a document of this package and their attributes. None of them can load, link, style or
// run anything.
var allowed = map[string][]string{
	"svg": {
		"xmlns", "width", "height", "viewBox", "role", "aria-label", "font-family",
	},
	"title":  nil,
	"desc":   nil,
	"g":      {"transform", "role"},
	"rect":   {"x", "y", "width", "height", "rx", "fill", "stroke", "stroke-width"},
	"circle": {"cx", "cy", "r", "fill"},
	"path":   {"d", "fill", "stroke", "stroke-width", "stroke-dasharray"},
	"text": {
		"x", "y", "font-size", "font-weight", "fill", "text-anchor", "aria-hidden", "paint-order", "stroke", "stroke-width",
	},
}

var pathData = regexp.MustCompile(`^[MCLvaz0-9. -]+$`)

// parse reads a document, and checks that it has nothing but what is allowed.
func parse(t require.TestingT, document string) []*element { return parseAs(t, document, allowed) }

func parseAs(t require.TestingT, document string, allowed map[string][]string) []*element {
	var (
		all  []*element
		open *element
	)

	d := xml.NewDecoder(strings.NewReader(document))

	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}

		require.NoError(t, err)

		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}, in: open}

			require.Contains(t, allowed, e.name)

			for _, attr := range token.Attr {
				require.Contains(t, allowed[e.name], attr.Name.Local, "in %s", e.name)
				e.attrs[attr.Name.Local] = attr.Value
			}

			if e.name == "path" {
				require.Regexp(t, pathData, e.attrs["d"])
			}

			all = append(all, e)
			open = e
		case xml.EndElement:
			open = open.in
		case xml.CharData:
			if open != nil {
				open.text += string(token)
			}
		default:
			require.Fail(t, "unexpected", "%T", token)
		}
	}

	require.NotEmpty(t, all)
	require.Equal(t, "svg", all[0].name)

	return all
}

func texts(elements []*element, name string) []string {
	var found []string

	for _, e := range elements {
		if e.name == name {
			found = append(found, e.text)
		}
	}

	return found
}

// checkPicture tells whether a picture is well-formed, names everything and places it inside.
func checkPicture(t require.TestingT, g *controller.DependencyGraph, opts ...render.Option) {
	built := render.Build(g, opts...)
	elements := parse(t, picture(t, g, opts...))
	shown := texts(elements, "text")
	titles := texts(elements, "title")

	for _, node := range built.Nodes {
		for _, line := range node.Lines() {
			require.Contains(t, shown, line)
		}
	}

	for _, kind := range built.Legend() {
		require.Contains(t, shown, kind.Style().Label+": "+kind.Style().Meaning)
	}

	require.Len(t, titles, 1+len(built.Nodes)+len(built.Edges))

	width, height := number(t, elements[0].attrs["width"]), number(t, elements[0].attrs["height"])

	for _, e := range elements[1:] {
		if e.name == "text" {
			x, y := number(t, e.attrs["x"]), number(t, e.attrs["y"])
			require.True(t, x >= 0 && x <= width && y >= 0 && y <= height, "%q at %v, %v", e.text, x, y)
		}
	}
}

func number(t require.TestingT, text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err, text)

	return v
}

func TestAnyGraph(t *testing.T) {
	t.Parallel()

	checkPicture(t, nil)
	checkPicture(t, graphtest.HostileGraph())

	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any().Draw(t, "graph")
		checkPicture(t, g, render.WithTitle(rapid.SampledFrom(graphtest.Hostile()).Draw(t, "title")))

		require.Equal(t, picture(t, g), picture(t, graphtest.Shuffled(t, g)), "the order of the edges shows")
	})
}

func TestEverythingIsNamed(t *testing.T) {
	t.Parallel()

	elements := parse(t, picture(t, graphtest.Sample(), render.WithTitle("Appliance")))
	titles := texts(elements, "title")

	assert.Equal(t, "graphics-document document", elements[0].attrs["role"])
	assert.Equal(t, "Appliance", elements[0].attrs["aria-label"])
	assert.Equal(t, "Appliance", titles[0])
	assert.Equal(t, []string{
		"Dependency graph with 8 controllers, 8 resource types and 19 edges. Data flows along the arrows.",
	}, texts(elements, "desc"))
	assert.Contains(t, titles, "controller LinkController")
	assert.Contains(t, titles, "resources of type Links.appliance.dev in namespace network")
	assert.Contains(t, titles, "resources of type CleanupReports.appliance.dev")
	assert.Contains(t, titles, "resources of type Links.appliance.dev in namespace network → controller DHCPController "+
		"(strong: eth0, eth1 and 2 more)")
}

func TestEmptyGraphSaysSo(t *testing.T) {
	t.Parallel()

	shown := texts(parse(t, picture(t, nil)), "text")

	assert.Equal(t, []string{"Controllers, what they read and what they write", "The graph is empty."}, shown)
}

// fleet is a graph of n controllers, each of which reads, twice, the output of each of the three before it.
func fleet(n int) *controller.DependencyGraph {
	g := &controller.DependencyGraph{}

	for i := range n {
		name := fmt.Sprintf("Controller%04d", i)
		g.Edges = append(g.Edges,
			graphtest.Edge(name, controller.EdgeOutputExclusive, "", fmt.Sprintf("Type%04d", i), ""))

		for j := max(0, i-3); j < i; j++ {
			typ := fmt.Sprintf("Type%04d", j)
			g.Edges = append(g.Edges,
				graphtest.Edge(name, controller.EdgeInputWeak, "n", typ, ""),
				graphtest.Edge(name, controller.EdgeInputDestroyReady, "n", typ, ""))
		}
	}

	return g
}

func TestLabelsAndCurvesGiveWayInLargeGraphs(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		controllers, edges int
		labels             bool
	}{
		{10, 58, true},
		{20, 128, false},
		{70, 478, false},
	} {
		g := fleet(test.controllers)
		require.Len(t, render.Build(g).Edges, test.edges)
		checkPicture(t, g)

		shown := texts(parse(t, picture(t, g)), "text")
		assert.Equal(t, test.labels, slices.Contains(shown, "destroy-ready"), "%d controllers", test.controllers)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()

	var b bytes.Buffer

	require.ErrorIs(t, svg.Render(context.Background(), &b, fleet(300)), svg.ErrTooLarge)
	require.EqualError(t, svg.Render(context.Background(), &b, fleet(501)),
		"svg: the graph is too large for a picture: 1002 nodes and 3495 edges, the limits are 1000 and 1600")
	assert.Zero(t, b.Len())
}

func TestContextEndedBefore(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(context.Background())
	cancel()

	var b bytes.Buffer

	require.ErrorIs(t, svg.Render(ctx, &b, graphtest.Sample()), context.Canceled)
	require.ErrorIs(t, svg.Render(ctx, &b, nil), context.Canceled)
	assert.Zero(t, b.Len())

	// The Graphviz module has survived it.
	require.NoError(t, svg.Render(context.Background(), &b, graphtest.Sample()))
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestErrorOfTheWriterIsReturned(t *testing.T) {
	t.Parallel()

	full := errors.New("disk full")

	require.ErrorIs(t, svg.Render(context.Background(), failing{full}, graphtest.Sample()), full)
}

func TestConcurrentCallsGiveTheSameBytes(t *testing.T) {
	t.Parallel()

	// More than are remembered, so that layouts are both made and looked up.
	graphs := []*controller.DependencyGraph{
		graphtest.Sample(), fleet(2), fleet(3), fleet(4), fleet(5), fleet(6), fleet(7), fleet(12), nil,
	}

	want := make([]string, len(graphs))
	for i, g := range graphs {
		want[i] = picture(t, g)
	}

	got := make([]bytes.Buffer, 4*len(graphs))
	errs := make([]error, len(got))

	var wg sync.WaitGroup

	for i := range got {
		wg.Go(func() { errs[i] = svg.Render(context.Background(), &got[i], graphs[i%len(graphs)]) })
	}

	wg.Wait()

	for i := range got {
		require.NoError(t, errs[i])
		require.Equal(t, want[i%len(graphs)], got[i].String())
	}
}

func FuzzRender(f *testing.F) {
	f.Add("\x00|A||T||\x02|A|n|T|id", "title")

	for _, name := range graphtest.Hostile() {
		f.Add("\x01|"+name+"||"+name+"||\x06|"+name+"|"+name+"|"+name+"|"+name, name)
	}

	f.Fuzz(func(t *testing.T, edges, title string) {
		checkPicture(t, graphtest.FromBytes(edges), render.WithTitle(title))
	})
}

func BenchmarkRender(b *testing.B) {
	for _, n := range []int{8, 50, 200} {
		b.Run(fmt.Sprintf("controllers=%d/again", n), func(b *testing.B) {
			g := fleet(n)

			for b.Loop() {
				if err := svg.Render(context.Background(), io.Discard, g); err != nil {
					b.Fatal(err)
				}
			}
		})

		b.Run(fmt.Sprintf("controllers=%d/new", n), func(b *testing.B) {
			// A name of another length makes a node of another size, hence another layout.
			g := fleet(n)

			for i := 0; b.Loop(); i++ {
				g.Edges[0].ControllerName = strings.Repeat("x", 1+i%50)

				if err := svg.Render(context.Background(), io.Discard, g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
