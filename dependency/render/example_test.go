package render_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/render"
)

// links is a graph of two controllers.
var links = &controller.DependencyGraph{Edges: []controller.DependencyEdge{
	{ControllerName: "Links", EdgeType: controller.EdgeOutputExclusive, ResourceType: "Link"},
	{ControllerName: "Routes", EdgeType: controller.EdgeInputStrong, ResourceNamespace: "net", ResourceType: "Link"},
}}

func ExampleMermaid() {
	if err := render.Mermaid(os.Stdout, links); err != nil {
		fmt.Println(err)
	}
	// Output:
	// flowchart LR
	//   classDef controller fill:#dfe8fb,stroke:#2f4b8f,color:#1b1b1b
	//   classDef resource fill:#fff3cd,stroke:#8a6100,color:#1b1b1b
	//   c1("Links"):::controller
	//   c2("Routes"):::controller
	//   r1[("Link<br/>net")]:::resource
	//   c1 ==>|"exclusive"| r1
	//   r1 -->|"strong"| c2
	//   subgraph legend["Legend"]
	//     direction LR
	//     legendController("controller"):::controller
	//     legendInput[("resource type<br/>namespace")]:::resource
	//     legendOutput[("resource type<br/>namespace")]:::resource
	//     legendController ==>|"exclusive: writes, and nobody else may"| legendOutput
	//     legendInput -->|"strong: reads, may hold finalizers"| legendController
	//   end
	//   linkStyle 0,2 stroke:#a84300,color:#a84300
	//   linkStyle 1,3 stroke:#00598c,color:#00598c
}

func ExampleJSON() {
	var document strings.Builder

	if err := render.JSON(&document, links); err != nil {
		fmt.Println(err)
	}

	var graph render.Graph

	if err := json.Unmarshal([]byte(document.String()), &graph); err != nil {
		fmt.Println(err)
	}

	for _, edge := range graph.Edges {
		fmt.Println(edge.From, edge.Kind, edge.To)
	}
	// Output:
	// c1 output-exclusive r1
	// r1 input-strong c2
}

func ExampleParseFormat() {
	_, err := render.ParseFormat("gif")
	fmt.Println(err)
	// Output: render: there is no format "gif", only mermaid, dot, json
}
