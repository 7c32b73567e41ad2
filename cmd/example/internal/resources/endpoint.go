package resources

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// EndpointType is the type of [Endpoint].
const EndpointType resource.Type = "Endpoints" + suffix

// Endpoint is the loopback port of a [Service] that has one. Its ID is the name of the service.
type Endpoint = typed.Resource[EndpointSpec, EndpointExtension]

// NewEndpoint returns an Endpoint, with an empty spec.
func NewEndpoint(id resource.ID) *Endpoint {
	return typed.NewResource[EndpointSpec, EndpointExtension](
		resource.NewMetadata(Machine, EndpointType, id, resource.VersionUndefined),
		EndpointSpec{},
	)
}

// EndpointSpec is the address to listen on and to connect to.
type EndpointSpec struct {
	// Port is between 1 and 65535.
	Port int `yaml:"port" protobuf:"1"`
	// Address is the loopback address with the port.
	Address string `yaml:"address" protobuf:"2"`
}

// DeepCopy implements the contract of typed resources.
func (s EndpointSpec) DeepCopy() EndpointSpec {
	return s
}

// String sums the spec up in one line.
func (s EndpointSpec) String() string {
	return s.Address
}

// EndpointExtension describes the type to clients.
type EndpointExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (EndpointExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             EndpointType,
		DefaultNamespace: Machine,
		Aliases:          []resource.Type{"ep"},
		PrintColumns: []meta.PrintColumn{
			{Name: "Address", JSONPath: "{.address}"},
		},
	}
}
