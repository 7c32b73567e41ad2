package resources

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/operator"
)

// ServiceStatusType is the type of [ServiceStatus].
const ServiceStatusType resource.Type = "ServiceStatuses" + suffix

// ServiceStatus tells how a [Service] is doing. Its ID is the name of the service. Its condition Ready says whether
// dependents may be started, and if not, why.
type ServiceStatus = operator.StatusResource[ServiceData, ServiceStatusExtension]

// NewServiceStatus returns a ServiceStatus, with an empty spec.
func NewServiceStatus(id resource.ID) *ServiceStatus {
	return typed.NewResource[operator.StatusSpec[ServiceData], ServiceStatusExtension](
		resource.NewMetadata(Machine, ServiceStatusType, id, resource.VersionUndefined),
		operator.StatusSpec[ServiceData]{},
	)
}

// ServiceData is what else there is to say.
type ServiceData struct {
	// PID is the process ID while there is a process.
	PID int `yaml:"pid,omitempty" protobuf:"1"`
	// Restarts counts the starts after the first.
	Restarts uint64 `yaml:"restarts" protobuf:"2"`
	// Address is where the service listens, or empty.
	Address string `yaml:"address,omitempty" protobuf:"3"`
}

// DeepCopy implements the contract of typed resources.
func (s ServiceData) DeepCopy() ServiceData { return s }

// String sums the data up in one line.
func (s ServiceData) String() string {
	if s.Address == "" {
		return ""
	}

	return fmt.Sprintf("at %s", s.Address)
}

// ServiceStatusExtension describes the type to clients.
type ServiceStatusExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (ServiceStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             ServiceStatusType,
		DefaultNamespace: Machine,
		PrintColumns: append(readyColumns(),
			meta.PrintColumn{Name: "PID", JSONPath: "{.data.pid}"},
			meta.PrintColumn{Name: "Address", JSONPath: "{.data.address}"},
		),
	}
}

// readyColumns show the condition Ready of a status.
func readyColumns() []meta.PrintColumn {
	const ready = `{.conditions[?(@.type=="` + operator.Ready + `")]`

	return []meta.PrintColumn{
		{Name: "Ready", JSONPath: ready + ".status}"},
		{Name: "Reason", JSONPath: ready + ".reason}"},
		{Name: "Message", JSONPath: ready + ".message}"},
	}
}
