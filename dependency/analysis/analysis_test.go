package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// graphOf reads edges such as "A writes T", "A reads ns/T" and "A cleans ns/T".
func graphOf(t *testing.T, lines ...string) *controller.DependencyGraph {
	t.Helper()

	g := &controller.DependencyGraph{}

	for _, line := range lines {
		words := strings.Fields(line)
		require.Len(t, words, 3, line)

		namespace, typ, found := strings.Cut(words[2], "/")
		if !found {
			namespace, typ = "", words[2]
		}

		kind, ok := map[string]controller.DependencyEdgeType{
			"writes":      controller.EdgeOutputExclusive,
			"shares":      controller.EdgeOutputShared,
			"reads":       controller.EdgeInputWeak,
			"holds":       controller.EdgeInputStrong,
			"cleans":      controller.EdgeInputDestroyReady,
			"queues":      controller.EdgeInputQPrimary,
			"maps":        controller.EdgeInputQMapped,
			"maps-cleans": controller.EdgeInputQMappedDestroyReady,
			"new":         99,
		}[words[1]]
		require.True(t, ok, line)

		g.Edges = append(g.Edges, graphtest.Edge(words[0], kind, namespace, typ, ""))
	}

	return g
}

func TestAnalyze(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		edges []string
		want  string
	}{
		"nothing in an empty graph": {},
		"a chain has no loop": {
			edges: []string{"A writes T", "B reads n/T", "B writes U", "C queues n/U"},
		},
		"a controller that reads what it writes": {
			edges: []string{"A writes T", "A reads n/T"},
			want:  "warning: a controller feeds itself: A -> T -> A\n",
		},
		"any input that brings content closes a loop": {
			edges: []string{
				"A writes T", "B holds n/T", "B writes U", "C queues n/U", "C shares V", "D maps n/V", "D writes W",
				"A reads n/W",
			},
			want: "warning: 4 controllers feed each other: A -> T -> B -> U -> C -> V -> D -> W -> A\n",
		},
		"cleaning up after itself is no loop": {
			edges: []string{"A writes T", "A cleans n/T", "A maps-cleans n/T", "B reads n/T"},
		},
		"cleaning up after each other is no loop": {
			edges: []string{"A writes T", "B queues n/T", "B writes U", "A maps-cleans n/U"},
		},
		"a loop through another namespace counts": {
			edges: []string{"A writes T", "A reads m/S", "B reads n/T", "B reads m/T", "B writes S"},
			want:  "warning: 2 controllers feed each other: A -> T -> B -> S -> A\n",
		},
		"the short way round is told": {
			edges: []string{
				"A writes T", "B reads n/T", "B writes U", "C reads n/U", "C writes V", "A reads n/V", "B reads n/V",
			},
			want: "warning: 3 controllers feed each other: B -> U -> C -> V -> B\n",
		},
		"two loops apart": {
			edges: []string{"Z writes T", "Z reads n/T", "B writes U", "A reads n/U", "A writes V", "B reads n/V"},
			want: "warning: 2 controllers feed each other: A -> V -> B -> U -> A\n" +
				"warning: a controller feeds itself: Z -> T -> Z\n",
		},
		"inputs that nothing writes, by namespace": {
			edges: []string{"B reads n/T", "A cleans n/T", "A reads m/T"},
			want: "note: no controller writes T, which A reads in namespace m; it has to come from outside\n" +
				"note: no controller writes T, which A and B read in namespace n; it has to come from outside\n",
		},
		"outputs that nothing reads": {
			edges: []string{"D shares T", "C shares T", "B shares T", "A shares T"},
			want:  "note: no controller reads T, which A, B and 2 more write; it is a result, or left over\n",
		},
		"its own cleanup does not read an output": {
			edges: []string{"A shares T", "A cleans n/T"},
			want:  "note: no controller reads T, which A writes; it is a result, or left over\n",
		},
		"somebody else's cleanup does": {
			edges: []string{"A shares T", "A cleans n/T", "B cleans n/T"},
		},
		"an output with a namespace feeds that one only": {
			edges: []string{"A writes n/T", "A reads m/T", "B writes n/U", "B reads n/U"},
			want:  "warning: a controller feeds itself: B -> U -> B\n",
		},
		"unknown edge types are left out": {
			edges: []string{"A new n/T", "A writes U", "B reads n/U"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			assert.Equal(t, test.want, analysis.Analyze(graphOf(t, test.edges...)).String())
		})
	}
}

func TestAnalyzeNil(t *testing.T) {
	t.Parallel()

	assert.Equal(t, analysis.Report{}, analysis.Analyze(nil))
	assert.Empty(t, analysis.Analyze(nil).Findings())
}

func TestFindingsComeInOrder(t *testing.T) {
	t.Parallel()

	report := analysis.Analyze(graphtest.Sample())

	require.Len(t, report.Findings(), 3)
	assert.IsType(t, analysis.Loop{}, report.Findings()[0])
	assert.IsType(t, analysis.Unproduced{}, report.Findings()[1])
	assert.IsType(t, analysis.Unread{}, report.Findings()[2])

	assert.Equal(t, analysis.Loop{
		Controllers: []string{"CatalogController", "ContainerController", "ServiceController"},
		Cycle: []analysis.Step{
			{Controller: "CatalogController", Namespace: "config", Type: "Services.appliance.dev"},
			{Controller: "ServiceController", Namespace: "runtime", Type: "Containers.appliance.dev"},
			{Controller: "ContainerController", Namespace: "runtime", Type: "ContainerStatuses.appliance.dev"},
		},
	}, report.Loops[0])
}

func TestSentencesStayOnOneLine(t *testing.T) {
	t.Parallel()

	report := analysis.Analyze(graphtest.HostileGraph())
	require.NotEmpty(t, report.Findings())

	for _, name := range graphtest.Hostile() {
		report.Unread = append(report.Unread, analysis.Unread{Type: name, Writers: []string{name, name}})
		report.Unproduced = append(report.Unproduced, analysis.Unproduced{Namespace: name, Type: name})
	}

	for _, f := range report.Findings() {
		assert.NotContains(t, f.String(), "\n")
		assert.NotContains(t, f.String(), "\x1b")
		assert.Less(t, len(f.String()), 4000)
	}
}

// ring is n controllers each of which feeds the next; the last one feeds the first only if closed.
func ring(n int, closed bool) *controller.DependencyGraph {
	g := &controller.DependencyGraph{}

	for i := range n {
		name := fmt.Sprintf("C%05d", i)
		g.Edges = append(g.Edges, graphtest.Edge(name, controller.EdgeOutputExclusive, "", fmt.Sprintf("T%05d", i+1), ""))

		if i > 0 || closed {
			from := (i + n - 1) % n
			g.Edges = append(g.Edges,
				graphtest.Edge(name, controller.EdgeInputWeak, "n", fmt.Sprintf("T%05d", from+1), ""))
		}
	}

	return g
}

func TestDeepGraphs(t *testing.T) {
	t.Parallel()

	const n = 10_000

	assert.Empty(t, analysis.Analyze(ring(n, false)).Loops)

	loops := analysis.Analyze(ring(n, true)).Loops
	require.Len(t, loops, 1)
	assert.Len(t, loops[0].Controllers, n)
	assert.Len(t, loops[0].Cycle, n)
	assert.Equal(t, "C00000", loops[0].Cycle[0].Controller)
	assert.Contains(t, loops[0].String(), "(9992 more) -> C00000")
}

func TestLargeKnot(t *testing.T) {
	t.Parallel()

	// Everybody reads everything: far more work than searching from each member would be allowed.
	g := &controller.DependencyGraph{}

	for i := range 300 {
		name := fmt.Sprintf("C%03d", i)
		g.Edges = append(g.Edges, graphtest.Edge(name, controller.EdgeOutputShared, "", fmt.Sprintf("T%03d", i), ""))

		for j := range 300 {
			if i != j {
				g.Edges = append(g.Edges, graphtest.Edge(name, controller.EdgeInputWeak, "n", fmt.Sprintf("T%03d", j), ""))
			}
		}
	}

	loops := analysis.Analyze(g).Loops
	require.Len(t, loops, 1)
	assert.Len(t, loops[0].Controllers, 300)
	assert.Len(t, loops[0].Cycle, 2)
}

func BenchmarkAnalyze(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		for _, closed := range []bool{false, true} {
			b.Run(fmt.Sprintf("controllers=%d/ring=%t", n, closed), func(b *testing.B) {
				g := ring(n, closed)

				for b.Loop() {
					analysis.Analyze(g)
				}
			})
		}
	}
}
