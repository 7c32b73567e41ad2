package resources

import (
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// TimeServerType is the type of [TimeServer].
const TimeServerType resource.Type = "TimeServers" + suffix

// TimeServer is where the machine gets the time from.
type TimeServer = typed.Resource[TimeServerSpec, TimeServerExtension]

// NewTimeServer returns a TimeServer, of which there is one, with an empty spec.
func NewTimeServer() *TimeServer {
	return typed.NewResource[TimeServerSpec, TimeServerExtension](
		resource.NewMetadata(Machine, TimeServerType, TheMachine, resource.VersionUndefined),
		TimeServerSpec{},
	)
}

// TimeServerSpec lists the servers.
type TimeServerSpec struct {
	// Servers are names or addresses, most preferred first.
	Servers []string `yaml:"servers,omitempty" protobuf:"1"`
}

// DeepCopy implements the contract of typed resources.
func (s TimeServerSpec) DeepCopy() TimeServerSpec {
	s.Servers = slices.Clone(s.Servers)

	return s
}

// String sums the spec up in one line.
func (s TimeServerSpec) String() string {
	return strings.Join(s.Servers, ", ")
}

// TimeServerExtension describes the type to clients.
type TimeServerExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (TimeServerExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             TimeServerType,
		DefaultNamespace: Machine,
		Aliases:          []resource.Type{"ntp"},
		PrintColumns: []meta.PrintColumn{
			{Name: "Servers", JSONPath: "{.servers}"},
		},
	}
}
