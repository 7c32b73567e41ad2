package resources

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// ServiceStatusType is the type of [ServiceStatus].
const ServiceStatusType resource.Type = "ServiceStatuses" + suffix

// ServiceStatus tells how a [Service] is doing. Its ID is the name of the service.
type ServiceStatus = typed.Resource[ServiceStatusSpec, ServiceStatusExtension]

// NewServiceStatus returns a ServiceStatus, with an empty spec.
func NewServiceStatus(id resource.ID) *ServiceStatus {
	return typed.NewResource[ServiceStatusSpec, ServiceStatusExtension](
		resource.NewMetadata(Machine, ServiceStatusType, id, resource.VersionUndefined),
		ServiceStatusSpec{},
	)
}

// ServiceStatusSpec joins what is known of the process, its health and what it waits for.
type ServiceStatusSpec struct {
	// Revision identifies the [ServiceSpec] this is about.
	Revision string `yaml:"revision" protobuf:"1"`
	// Ready tells that dependents may be started.
	Ready bool `yaml:"ready" protobuf:"2"`
	// State is a word for people.
	State string `yaml:"state" protobuf:"3"`
	// PID is the process ID while there is a process.
	PID int `yaml:"pid,omitempty" protobuf:"4"`
	// Restarts counts the starts after the first.
	Restarts uint64 `yaml:"restarts" protobuf:"5"`
	// Address is where the service listens, or empty.
	Address string `yaml:"address,omitempty" protobuf:"6"`
	// Message says why the service is not ready.
	Message string `yaml:"message,omitempty" protobuf:"7"`
}

// DeepCopy implements the contract of typed resources.
func (s ServiceStatusSpec) DeepCopy() ServiceStatusSpec {
	return s
}

// String sums the spec up in one line.
func (s ServiceStatusSpec) String() string {
	text := s.State
	if s.Address != "" {
		text += " at " + s.Address
	}

	if s.Message != "" {
		text += ": " + s.Message
	}

	return text
}

// ServiceStatusExtension describes the type to clients.
type ServiceStatusExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (ServiceStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             ServiceStatusType,
		DefaultNamespace: Machine,
		PrintColumns: []meta.PrintColumn{
			{Name: "Ready", JSONPath: "{.ready}"},
			{Name: "State", JSONPath: "{.state}"},
			{Name: "PID", JSONPath: "{.pid}"},
			{Name: "Address", JSONPath: "{.address}"},
			{Name: "Message", JSONPath: "{.message}"},
		},
	}
}
