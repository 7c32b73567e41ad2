package analysis_test

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/analysis"
)

func ExampleAnalyze() {
	graph := &controller.DependencyGraph{Edges: []controller.DependencyEdge{
		{ControllerName: "Links", EdgeType: controller.EdgeInputWeak, ResourceNamespace: "config", ResourceType: "Config"},
		{ControllerName: "Links", EdgeType: controller.EdgeOutputExclusive, ResourceType: "Link"},
		{ControllerName: "Routes", EdgeType: controller.EdgeInputStrong, ResourceNamespace: "net", ResourceType: "Link"},
		{ControllerName: "Routes", EdgeType: controller.EdgeOutputExclusive, ResourceType: "Route"},
		{ControllerName: "Links", EdgeType: controller.EdgeInputWeak, ResourceNamespace: "net", ResourceType: "Route"},
		{ControllerName: "Routes", EdgeType: controller.EdgeOutputExclusive, ResourceType: "Report"},
	}}

	for _, finding := range analysis.Analyze(graph).Findings() {
		fmt.Printf("%s: %s\n", finding.Severity(), finding)
	}
	// Output:
	// warning: 2 controllers feed each other: Links -> Link -> Routes -> Route -> Links
	// note: no controller writes Config, which Links reads in namespace config; it has to come from outside
	// note: no controller reads Report, which Routes writes; it is a result, or left over
}
