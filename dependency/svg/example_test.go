package svg_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/svg"
)

func ExampleRender() {
	graph := &controller.DependencyGraph{Edges: []controller.DependencyEdge{
		{ControllerName: "Links", EdgeType: controller.EdgeOutputExclusive, ResourceType: "Link"},
		{ControllerName: "Routes", EdgeType: controller.EdgeInputStrong, ResourceNamespace: "net", ResourceType: "Link"},
	}}

	var picture strings.Builder

	if err := svg.Render(context.Background(), &picture, graph); err != nil {
		fmt.Println(err)
	}

	for line := range strings.Lines(picture.String()) {
		if strings.Contains(line, "<desc>") {
			fmt.Print(line)
		}
	}
	// Output: <desc>Dependency graph with 2 controllers, 1 resource type and 2 edges. Data flows along the arrows.</desc>
}
