package grouped_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/grouped"
	"github.com/switchyard-run/switchyard/dependency/render"
)

const (
	reads  = controller.EdgeInputWeak
	writes = controller.EdgeOutputExclusive
)

// chain has each controller read what the one before it writes.
func chain(n int) *controller.DependencyGraph {
	g := graphtest.Graph()

	for i := range n {
		name := fmt.Sprintf("Link%05dController", i)
		g.Edges = append(g.Edges,
			graphtest.Edge(name, reads, "n", fmt.Sprintf("Link%05ds.test", i), ""),
			graphtest.Edge(name, writes, "", fmt.Sprintf("Link%05ds.test", i+1), ""))
	}

	return g
}

// star has all controllers read one type, and each write a type of its own.
func star(n int) *controller.DependencyGraph {
	g := graphtest.Graph()

	for i := range n {
		name := fmt.Sprintf("ray-%d", i)
		g.Edges = append(g.Edges, graphtest.Edge(name, reads, "n", "Hub", ""), graphtest.Edge(name, writes, "", fmt.Sprintf("Ray%d", i), ""))
	}

	return g
}

// crowd has all controllers declare the same.
func crowd(n int) *controller.DependencyGraph {
	g := graphtest.Graph()

	for i := range n {
		name := fmt.Sprintf("Worker%d", i)
		g.Edges = append(g.Edges, graphtest.Edge(name, reads, "n", "Hub", ""), graphtest.Edge(name, controller.EdgeOutputShared, "", "Done", ""))
	}

	return g
}

// loners has each controller write a type of its own, which nobody reads.
func loners(n int) *controller.DependencyGraph {
	g := graphtest.Graph()

	for i := range n {
		g.Edges = append(g.Edges, graphtest.Edge(fmt.Sprintf("c%d", i), writes, "", fmt.Sprintf("t%d", i), ""))
	}

	return g
}

// families has fifty families, in each of which all read one type and write one of their own.
func families(n int) *controller.DependencyGraph {
	g := graphtest.Graph()

	for i := range n {
		family := fmt.Sprintf("%c%cFamily", 'A'+i%50/10, 'A'+i%50%10)
		name := fmt.Sprintf("%sMember%dController", family, i/50)
		g.Edges = append(g.Edges,
			graphtest.Edge(name, reads, "n", family+"s", ""), graphtest.Edge(name, writes, "", fmt.Sprintf("%s%ds", family, i/50), ""))
	}

	return g
}

// tangle has each controller read many types, none two the same ones.
func tangle(n int) *controller.DependencyGraph {
	g := graphtest.Graph()

	for i := range n {
		for j := range 20 {
			g.Edges = append(g.Edges, graphtest.Edge(fmt.Sprintf("%x", i*7919%n), reads, "n", fmt.Sprintf("T%d", (i*31+j*j*17)%400), ""))
		}
	}

	return g
}

var shapes = map[string]func(int) *controller.DependencyGraph{
	"chain": chain, "star": star, "crowd": crowd, "loners": loners, "families": families, "tangle": tangle,
}

// nodes is how many nodes a picture of the graph has.
func nodes(g *controller.DependencyGraph) int { return len(render.Build(g).Nodes) }

func distinct(g *controller.DependencyGraph, of func(controller.DependencyEdge) string) int {
	seen := map[string]bool{}
	for _, e := range g.Edges {
		seen[of(e)] = true
	}

	return len(seen)
}

// check tells whether a grouping says of every controller, type and edge where it is, and nothing else.
func check(t require.TestingT, g *controller.DependencyGraph, got *grouped.Grouping) {
	controllers, types := map[string]string{}, map[string]string{}

	note := func(of map[string]string, groups []grouped.Members) {
		names := map[string]bool{}

		for _, group := range groups {
			require.False(t, names[group.Name], "two groups are called %q", group.Name)
			require.NotEmpty(t, group.Names)
			require.True(t, slices.IsSorted(group.Names))

			names[group.Name] = true

			for _, name := range group.Names {
				if other, known := of[name]; known {
					require.Fail(t, "in two groups", "%q is in %q and in %q", name, other, group.Name)
				}

				of[name] = group.Name
			}

			if len(group.Names) == 1 {
				require.Equal(t, group.Names[0], group.Name)
			}
		}
	}

	note(controllers, got.Controllers)
	note(types, got.Types)
	require.Len(t, controllers, distinct(g, func(e controller.DependencyEdge) string { return e.ControllerName }))
	require.Len(t, types, distinct(g, func(e controller.DependencyEdge) string { return e.ResourceType }))

	type edge struct {
		controller, typ string
		kind            controller.DependencyEdgeType
	}

	want, have := map[edge]int{}, map[edge]int{}

	for _, e := range g.Edges {
		if controllers[e.ControllerName] != got.Of(e.ControllerName) {
			require.Fail(t, "in no group", "%q", e.ControllerName)
		}

		want[edge{controllers[e.ControllerName], types[e.ResourceType], e.EdgeType}] = 1
	}

	for _, e := range got.Graph.Edges {
		require.Empty(t, e.ResourceID)
		have[edge{e.ControllerName, e.ResourceType, e.EdgeType}]++
	}

	require.Equal(t, want, have)

	built := render.Build(got.Graph)
	require.Len(t, built.Nodes, len(got.Controllers)+len(got.Types), "a type is one node, whatever its namespaces")
	require.Len(t, built.Edges, len(got.Graph.Edges))
	require.LessOrEqual(t, len(built.Nodes), 120)
	require.LessOrEqual(t, len(built.Edges), 1200)
}

func TestLargeGraphsComeOutSmall(t *testing.T) {
	t.Parallel()

	for name, shape := range shapes {
		for _, n := range []int{301, 1000, 10_000} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				t.Parallel()

				g := shape(n)
				got := grouped.Group(g, grouped.Config{})

				require.True(t, got.Grouped())
				check(t, g, got)
				t.Logf("%d nodes become %d controllers and %d types, %d edges become %d",
					nodes(g), len(got.Controllers), len(got.Types), len(g.Edges), len(got.Graph.Edges))
			})
		}
	}
}

func TestSmallGraphsAreLeftAlone(t *testing.T) {
	t.Parallel()

	for _, g := range []*controller.DependencyGraph{nil, graphtest.Sample(), chain(300)} {
		got := grouped.Group(g, grouped.Config{})

		assert.Same(t, g, got.Graph)
		assert.False(t, got.Grouped())
		assert.Empty(t, got.Controllers)
		assert.Empty(t, got.Types)
		assert.Equal(t, "A", got.Of("A"))
	}

	assert.True(t, grouped.Group(graphtest.Sample(), grouped.Config{Above: 7}).Grouped())
}

// What is alike is together, under a name that says what it is.
func TestGroupsAreNamedForWhatIsInThem(t *testing.T) {
	t.Parallel()

	of := func(g *controller.DependencyGraph, name string) string {
		return grouped.Group(g, grouped.Config{}).Of(name)
	}

	assert.Equal(t, "Worker… (1000)", of(crowd(1000), "Worker7"))
	assert.Equal(t, "AAFamilyMember… (20)", of(families(1000), "AAFamilyMember7Controller"))
	assert.Equal(t, "ray-7… (11)", of(star(400), "ray-77"))

	got := grouped.Group(families(1000), grouped.Config{})
	assert.Equal(t, "AAFamilys", got.Types[0].Name, "what they read")
	assert.Equal(t, "AAFamily… (20)", got.Types[1].Name, "what only they write")

	// A chain stays one.
	chained := of(chain(1000), "Link00777Controller")
	assert.Regexp(t, `^Link007(7)?… \(10+\)$`, chained)
}

func TestNamesOfGroupsAreTheirOwn(t *testing.T) {
	t.Parallel()

	g := crowd(400)
	g.Edges = append(g.Edges, graphtest.Edge("Worker… (400)", writes, "", "Other", ""), graphtest.Edge("Hubs", writes, "", "Worker… (400)", ""))

	got := grouped.Group(g, grouped.Config{})
	check(t, g, got)
	assert.Equal(t, "Worker… (400, 2)", got.Of("Worker1"))
	assert.Equal(t, "Worker… (400)", got.Of("Worker… (400)"))
}

// A word ends where people who write names begin another one.
func TestWords(t *testing.T) {
	t.Parallel()

	for _, test := range []struct{ one, other, begin string }{
		{"NetLink", "NetLoad", "Net"},
		{"HTTPServer", "HTTPSink", "HTTP"},
		{"net.link", "net.load", "net."},
		{"net-link-a", "net-link-b", "net-link-"},
		{"disk17", "disk18", "disk1"},
		{"link", "load", ""},
		{"same", "sameness", ""},
		{"Über1", "Über2", "Über"},
		{"\xff\xfe1", "\xff\xfe2", "\xff\xfe"},
	} {
		g := graphtest.Graph(
			graphtest.Edge(test.one, reads, "n", "T", ""), graphtest.Edge(test.other, reads, "n", "T", ""))
		got := grouped.Group(g, grouped.Config{Above: 1})

		assert.Equal(t, test.begin+"… (2)", got.Of(test.one))
	}
}

func TestAnyGraph(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		g := graphtest.Any().Draw(t, "graph")
		got := grouped.Group(g, grouped.Config{Above: 1})

		if got.Grouped() {
			check(t, g, got)
		}

		require.Equal(t, got, regrouped(t, g), "the order of the edges shows")
	})
}

func regrouped(t *rapid.T, g *controller.DependencyGraph) *grouped.Grouping {
	got := grouped.Group(graphtest.Shuffled(t, g), grouped.Config{Above: 1})
	if !got.Grouped() {
		got.Graph = g
	}

	return got
}

// Many controllers with any names and declarations.
func TestAnyLargeGraph(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"Net", "Disk", "net", "-", ".", "1", "22", "Ä", "é", "\xff", "HTTP", "x", "", "…", " (2)"})
		name := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 1, 6).Draw(t, "words"), "") })
		kind := rapid.SampledFrom([]controller.DependencyEdgeType{writes, controller.EdgeOutputShared, reads, controller.EdgeInputQMapped, 99})
		edge := rapid.Custom(func(t *rapid.T) controller.DependencyEdge {
			e := graphtest.Edge(name.Draw(t, "controller"), kind.Draw(t, "kind"), "", name.Draw(t, "type"), "")
			if e.EdgeType != writes && e.EdgeType != controller.EdgeOutputShared {
				e.ResourceNamespace = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "namespace")
			}

			return e
		})

		g := graphtest.Graph(rapid.SliceOfN(edge, 100, 600).Draw(t, "edges")...)
		got := grouped.Group(g, grouped.Config{Above: 1})

		require.True(t, got.Grouped())
		check(t, g, got)
	})
}

func BenchmarkGroup(b *testing.B) {
	for name, shape := range shapes {
		for _, n := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				g := shape(n)

				for b.Loop() {
					grouped.Group(g, grouped.Config{})
				}
			})
		}
	}
}
