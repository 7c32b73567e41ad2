package grouped_test

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/grouped"
)

func ExampleGroup() {
	graph := &controller.DependencyGraph{}

	for i := range 1000 {
		graph.Edges = append(graph.Edges, controller.DependencyEdge{
			ControllerName: fmt.Sprintf("Link%dController", i), EdgeType: controller.EdgeInputWeak, ResourceNamespace: "net", ResourceType: "Links",
		})
	}

	grouping := grouped.Group(graph, grouped.Config{})

	for _, edge := range grouping.Graph.Edges {
		fmt.Println(edge.ControllerName, "reads", edge.ResourceType)
	}

	fmt.Println(grouping.Of("Link17Controller"))
	// Output:
	// Link… (1000) reads Links
	// Link… (1000)
}
