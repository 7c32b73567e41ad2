package analysis_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
)

func isOutput(e controller.DependencyEdge) bool {
	return e.EdgeType == controller.EdgeOutputExclusive || e.EdgeType == controller.EdgeOutputShared
}

func isCleanup(e controller.DependencyEdge) bool {
	return e.EdgeType == controller.EdgeInputDestroyReady || e.EdgeType == controller.EdgeInputQMappedDestroyReady
}

func isInput(e controller.DependencyEdge) bool {
	return !isOutput(e) && e.EdgeType <= controller.EdgeInputQMappedDestroyReady
}

// feeds tells whether what the output writes reaches the input, as content.
func feeds(out, in controller.DependencyEdge) bool {
	return isOutput(out) && isInput(in) && !isCleanup(in) && out.ResourceType == in.ResourceType &&
		(out.ResourceNamespace == "" || out.ResourceNamespace == in.ResourceNamespace)
}

// distances has the number of steps between any two controllers that reach each other, by trying every pair of edges
// and then every controller in between.
func distances(g *controller.DependencyGraph) map[[2]string]int {
	dist := map[[2]string]int{}
	names := map[string]bool{}

	for _, out := range g.Edges {
		names[out.ControllerName] = true

		for _, in := range g.Edges {
			if feeds(out, in) {
				dist[[2]string{out.ControllerName, in.ControllerName}] = 1
			}
		}
	}

	for via := range names {
		for from := range names {
			for to := range names {
				a, okA := dist[[2]string{from, via}]
				b, okB := dist[[2]string{via, to}]
				old, known := dist[[2]string{from, to}]

				if okA && okB && (!known || a+b < old) {
					dist[[2]string{from, to}] = a + b
				}
			}
		}
	}

	return dist
}

func checkLoops(t require.TestingT, g *controller.DependencyGraph, loops []analysis.Loop) {
	dist := distances(g)
	groups := map[string][]string{}

	for pair := range dist {
		if _, back := dist[[2]string{pair[1], pair[0]}]; back {
			groups[pair[0]] = append(groups[pair[0]], pair[1])
		}
	}

	var want [][]string

	for _, name := range slices.Sorted(maps.Keys(groups)) {
		slices.Sort(groups[name])

		if groups[name][0] == name {
			want = append(want, groups[name])
		}
	}

	var got [][]string
	for _, loop := range loops {
		got = append(got, loop.Controllers)
	}

	require.Equal(t, want, got)

	for _, loop := range loops {
		shortest := 0
		for _, name := range loop.Controllers {
			if d := dist[[2]string{name, name}]; shortest == 0 || d < shortest {
				shortest = d
			}
		}

		require.Len(t, loop.Cycle, shortest)

		for i, step := range loop.Cycle {
			next := loop.Cycle[(i+1)%len(loop.Cycle)].Controller

			require.True(t, slices.ContainsFunc(g.Edges, func(in controller.DependencyEdge) bool {
				return in.ControllerName == next && in.ResourceNamespace == step.Namespace && in.ResourceType == step.Type &&
					slices.ContainsFunc(g.Edges, func(out controller.DependencyEdge) bool {
						return out.ControllerName == step.Controller && feeds(out, in)
					})
			}), "%v does not feed %q", step, next)
		}
	}
}

func checkUnproduced(t require.TestingT, g *controller.DependencyGraph, found []analysis.Unproduced) {
	want := map[analysis.Step]bool{}

	for _, in := range g.Edges {
		if isInput(in) && !slices.ContainsFunc(g.Edges, func(out controller.DependencyEdge) bool {
			return isOutput(out) && out.ResourceType == in.ResourceType
		}) {
			want[analysis.Step{Controller: in.ControllerName, Namespace: in.ResourceNamespace, Type: in.ResourceType}] = true
		}
	}

	got := map[analysis.Step]bool{}

	for _, f := range found {
		for _, reader := range f.Readers {
			got[analysis.Step{Controller: reader, Namespace: f.Namespace, Type: f.Type}] = true
		}
	}

	require.Equal(t, want, got)
}

func checkUnread(t require.TestingT, g *controller.DependencyGraph, found []analysis.Unread) {
	want := map[[2]string]bool{}

	for _, out := range g.Edges {
		read := slices.ContainsFunc(g.Edges, func(in controller.DependencyEdge) bool {
			own := slices.ContainsFunc(g.Edges, func(e controller.DependencyEdge) bool {
				return isOutput(e) && e.ControllerName == in.ControllerName && e.ResourceType == in.ResourceType
			})

			return isInput(in) && in.ResourceType == out.ResourceType && (!isCleanup(in) || !own)
		})

		if isOutput(out) && !read {
			want[[2]string{out.ControllerName, out.ResourceType}] = true
		}
	}

	got := map[[2]string]bool{}

	for _, f := range found {
		for _, writer := range f.Writers {
			got[[2]string{writer, f.Type}] = true
		}
	}

	require.Equal(t, want, got)
}

func TestAnalyzeAgreesWithTheObvious(t *testing.T) {
	t.Parallel()

	for name, graphs := range map[string]*rapid.Generator[*controller.DependencyGraph]{
		"any": graphtest.Any(), "ordinary": graphtest.Ordinary(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			rapid.Check(t, func(t *rapid.T) {
				g := graphs.Draw(t, "graph")
				report := analysis.Analyze(g)

				checkLoops(t, g, report.Loops)
				checkUnproduced(t, g, report.Unproduced)
				checkUnread(t, g, report.Unread)

				require.Equal(t, report, analysis.Analyze(graphtest.Shuffled(t, g)), "the order of the edges shows")
			})
		})
	}
}

func FuzzAnalyze(f *testing.F) {
	f.Add("\x00|A||T||\x02|A|n|T|")
	f.Add("\x00|A||T||\x02|B|n|T||\x00|B||U||\x05|A|n|U|id")

	for _, name := range graphtest.Hostile()[:20] {
		f.Add("\x01|" + name + "||" + name + "||\x06|" + name + "|" + name + "|" + name + "|")
	}

	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 400 {
			return
		}

		g := graphtest.FromBytes(text)
		report := analysis.Analyze(g)

		checkLoops(t, g, report.Loops)
		checkUnproduced(t, g, report.Unproduced)
		checkUnread(t, g, report.Unread)
		assert.NotContains(t, report.String(), "\x00")
	})
}
