// Package graphtest owns dependency graphs for the tests of code that reads them: a readable sample, names that try
// to break out of a format, and generators of any graph.
//
// The package keeps no state and starts no goroutine. It links the property testing library, so nothing but tests
// should import it.
package graphtest

import (
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"pgregory.net/rapid"
)

// Edge returns one edge, of the given controller, about the given resources.
func Edge(ctrl string, kind controller.DependencyEdgeType, namespace, typ, id string) controller.DependencyEdge {
	return controller.DependencyEdge{
		ControllerName:    ctrl,
		EdgeType:          kind,
		ResourceNamespace: namespace,
		ResourceType:      typ,
		ResourceID:        id,
	}
}

// Graph returns the graph of these edges.
func Graph(edges ...controller.DependencyEdge) *controller.DependencyGraph {
	return &controller.DependencyGraph{Edges: edges}
}

// Sample returns a new graph of eight controllers of an appliance, with every type of edge. Two of the controllers
// feed each other; one type that is read comes from outside, and one that is written is read by nobody.
func Sample() *controller.DependencyGraph {
	const (
		config  = "config"
		network = "network"
		runtime = "runtime"
	)

	return Graph(
		Edge("ConfigController", controller.EdgeInputWeak, config, "Documents.appliance.dev", ""),
		Edge("ConfigController", controller.EdgeOutputExclusive, "", "MachineConfigs.appliance.dev", ""),

		Edge("LinkController", controller.EdgeInputWeak, config, "MachineConfigs.appliance.dev", "v1"),
		Edge("LinkController", controller.EdgeOutputExclusive, "", "Links.appliance.dev", ""),

		Edge("AddressController", controller.EdgeInputStrong, network, "Links.appliance.dev", ""),
		Edge("AddressController", controller.EdgeOutputShared, "", "Addresses.appliance.dev", ""),

		Edge("DHCPController", controller.EdgeInputStrong, network, "Links.appliance.dev", "eth0"),
		Edge("DHCPController", controller.EdgeInputStrong, network, "Links.appliance.dev", "eth1"),
		Edge("DHCPController", controller.EdgeInputStrong, network, "Links.appliance.dev", "wlan0"),
		Edge("DHCPController", controller.EdgeInputStrong, network, "Links.appliance.dev", "wwan0"),
		Edge("DHCPController", controller.EdgeOutputShared, "", "Addresses.appliance.dev", ""),

		Edge("ServiceController", controller.EdgeInputQPrimary, config, "Services.appliance.dev", ""),
		Edge("ServiceController", controller.EdgeInputQMapped, network, "Addresses.appliance.dev", ""),
		Edge("ServiceController", controller.EdgeInputQMappedDestroyReady, runtime, "Containers.appliance.dev", ""),
		Edge("ServiceController", controller.EdgeOutputExclusive, "", "Containers.appliance.dev", ""),

		Edge("ContainerController", controller.EdgeInputQPrimary, runtime, "Containers.appliance.dev", ""),
		Edge("ContainerController", controller.EdgeOutputExclusive, "", "ContainerStatuses.appliance.dev", ""),

		Edge("CatalogController", controller.EdgeInputWeak, runtime, "ContainerStatuses.appliance.dev", ""),
		Edge("CatalogController", controller.EdgeOutputExclusive, "", "Services.appliance.dev", ""),

		Edge("JanitorController", controller.EdgeInputDestroyReady, network, "Links.appliance.dev", ""),
		Edge("JanitorController", controller.EdgeInputDestroyReady, runtime, "Containers.appliance.dev", ""),
		Edge("JanitorController", controller.EdgeOutputExclusive, "", "CleanupReports.appliance.dev", ""),
	)
}

// Hostile returns names that mean something in at least one of the formats a graph is written in, or in what shows it.
func Hostile() []string {
	return []string{
		"",
		" ",
		" padded ",
		`"`,
		`'`,
		"`code`",
		"\\",
		`\`,
		`\"`,
		`ends with \`,
		`\N \G \l \n`,
		"line\nbreak",
		"\r\n",
		"tab\there",
		"nul\x00byte",
		"bell\a escape\x1b[31m",
		"not utf8 \xff\xfe",
		"\xed\xa0\x80",
		"<script>alert(1)</script>",
		"<b>bold</b>",
		"<!-- comment -->",
		"-->",
		"--> x",
		"]]>",
		"<![CDATA[",
		"&amp; &lt; &#60; &",
		"#quot; #60;",
		"ﬂ°°60¶ß",
		"%% comment",
		"%%{init: {}}%%",
		"]",
		")]",
		`")] --> evil`,
		`"]; evil -> evil; "`,
		"end",
		"subgraph",
		"click c1 href \"javascript:alert(1)\"",
		"javascript:alert(1)",
		"www.example.com",
		"https://example.com/",
		"someone@example.com",
		"1. list",
		"1.5",
		"- list",
		"# heading",
		"**bold** _it_ ~~no~~",
		"$$x^2$$",
		"a;b|c{d}(e)[f]",
		"---",
		"---\ntitle: x\n---",
		"Straße ключ 鍵 🔑",
		"e\u0301 combining",
		"left\u202eright",
		"zero\u200bwidth",
		"\ufeffbom",
		"\ufffd",
		"\u2028line",
		"noncharacter \uffff",
		strings.Repeat("long", 500),
		strings.Repeat("長", 500),
		strings.Repeat(" ", 200) + "x",
	}
}

// HostileGraph returns a graph in which each of the names of [Hostile] is the name of a controller, a namespace, a
// type and an id, and every edge type occurs.
func HostileGraph() *controller.DependencyGraph {
	g := &controller.DependencyGraph{}
	names := Hostile()

	for i, name := range names {
		other := names[(i+1)%len(names)]
		kind := controller.DependencyEdgeType(i % edgeTypes)

		g.Edges = append(g.Edges,
			Edge(name, kind, other, name, name),
			Edge(other, controller.EdgeInputWeak, name, name, ""),
			Edge(name, controller.EdgeOutputShared, "", other, ""))
	}

	return g
}

// edgeTypes is how many edge types the contract has.
const edgeTypes = int(controller.EdgeInputQMappedDestroyReady) + 1

// Any generates graphs of up to some tens of edges over a few names, so that the edges meet. Names are ordinary,
// hostile or random; a few edges have a type that the contract does not know, and a few outputs a namespace.
func Any() *rapid.Generator[*controller.DependencyGraph] {
	return rapid.Custom(func(t *rapid.T) *controller.DependencyGraph {
		return generate(t, rapid.OneOf(
			rapid.SampledFrom([]string{"A", "B", "C", "D"}),
			rapid.SampledFrom(Hostile()),
			rapid.String(),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
		))
	})
}

// Ordinary generates graphs like [Any], of ordinary names alone.
func Ordinary() *rapid.Generator[*controller.DependencyGraph] {
	return rapid.Custom(func(t *rapid.T) *controller.DependencyGraph {
		return generate(t, rapid.SampledFrom([]string{"A", "B", "C", "D", "E", "F"}))
	})
}

func generate(t *rapid.T, names *rapid.Generator[string]) *controller.DependencyGraph {
	controllers := rapid.SliceOfN(names, 1, 8).Draw(t, "controllers")
	types := rapid.SliceOfN(names, 1, 8).Draw(t, "types")
	namespaces := rapid.SliceOfN(names, 1, 3).Draw(t, "namespaces")
	ids := append(rapid.SliceOfN(names, 0, 6).Draw(t, "ids"), "", "")

	edge := rapid.Custom(func(t *rapid.T) controller.DependencyEdge {
		kind := controller.DependencyEdgeType(rapid.IntRange(0, edgeTypes*4).Draw(t, "kind"))
		if kind < controller.DependencyEdgeType(edgeTypes*4) {
			kind %= controller.DependencyEdgeType(edgeTypes)
		}

		namespace := rapid.SampledFrom(namespaces).Draw(t, "namespace")
		if kind <= controller.EdgeOutputShared && rapid.IntRange(0, 9).Draw(t, "bare") > 0 {
			namespace = ""
		}

		return Edge(
			rapid.SampledFrom(controllers).Draw(t, "controller"),
			kind,
			namespace,
			rapid.SampledFrom(types).Draw(t, "type"),
			rapid.SampledFrom(ids).Draw(t, "id"),
		)
	})

	return Graph(rapid.SliceOfN(edge, 0, 30).Draw(t, "edges")...)
}

// FromBytes reads a graph out of arbitrary bytes, for fuzz targets: text is cut at each "|", and each five pieces
// are the first byte's worth of an edge type, a controller, a namespace, a type and an id.
func FromBytes(text string) *controller.DependencyGraph {
	pieces := strings.Split(text, "|")
	g := &controller.DependencyGraph{}

	for ; len(pieces) >= 5; pieces = pieces[5:] {
		kind := 0
		if pieces[0] != "" {
			kind = int(pieces[0][0]) % (edgeTypes + 1)
		}

		g.Edges = append(g.Edges,
			Edge(pieces[1], controller.DependencyEdgeType(kind), pieces[2], pieces[3], pieces[4]))
	}

	return g
}

// Shuffled returns a copy of the graph with its edges in another order.
func Shuffled(t *rapid.T, g *controller.DependencyGraph) *controller.DependencyGraph {
	if len(g.Edges) < 2 {
		return Graph(append([]controller.DependencyEdge(nil), g.Edges...)...)
	}

	return Graph(rapid.Permutation(g.Edges).Draw(t, "order")...)
}
