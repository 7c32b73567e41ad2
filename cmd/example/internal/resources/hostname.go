package resources

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// HostnameType is the type of [Hostname].
const HostnameType resource.Type = "Hostnames" + suffix

// Hostname is what the machine is called.
type Hostname = typed.Resource[HostnameSpec, HostnameExtension]

// NewHostname returns a Hostname, of which there is one, with an empty spec.
func NewHostname() *Hostname {
	return typed.NewResource[HostnameSpec, HostnameExtension](
		resource.NewMetadata(Machine, HostnameType, TheMachine, resource.VersionUndefined),
		HostnameSpec{},
	)
}

// HostnameSpec holds the name in its two forms.
type HostnameSpec struct {
	// Hostname is the short name.
	Hostname string `yaml:"hostname" protobuf:"1"`
	// FQDN is the name completed with the domain, or the short name where there is none.
	FQDN string `yaml:"fqdn" protobuf:"2"`
}

// DeepCopy implements the contract of typed resources.
func (s HostnameSpec) DeepCopy() HostnameSpec {
	return s
}

// String sums the spec up in one line.
func (s HostnameSpec) String() string {
	return s.FQDN
}

// HostnameExtension describes the type to clients.
type HostnameExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (HostnameExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             HostnameType,
		DefaultNamespace: Machine,
		PrintColumns: []meta.PrintColumn{
			{Name: "Hostname", JSONPath: "{.hostname}"},
			{Name: "FQDN", JSONPath: "{.fqdn}"},
		},
	}
}
