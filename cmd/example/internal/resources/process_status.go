package resources

import (
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// ProcessStatusType is the type of [ProcessStatus].
const ProcessStatusType resource.Type = "ProcessStatuses" + suffix

// ProcessStatus tells what became of a [Process]. Its ID is the name of the service.
type ProcessStatus = typed.Resource[ProcessStatusSpec, ProcessStatusExtension]

// NewProcessStatus returns a ProcessStatus, with an empty spec.
func NewProcessStatus(id resource.ID) *ProcessStatus {
	return typed.NewResource[ProcessStatusSpec, ProcessStatusExtension](
		resource.NewMetadata(Machine, ProcessStatusType, id, resource.VersionUndefined),
		ProcessStatusSpec{},
	)
}

// ProcessStatusSpec is the state of one process.
type ProcessStatusSpec struct {
	// Revision identifies the [ServiceSpec] that the process was started from.
	Revision string `yaml:"revision" protobuf:"1"`
	// State is one of the states of package supervise.
	State string `yaml:"state" protobuf:"2"`
	// Instance tells one start of the process from the next; it counts from 1.
	Instance uint64 `yaml:"instance" protobuf:"3"`
	// PID is the process ID while the process runs, else 0.
	PID int `yaml:"pid,omitempty" protobuf:"4"`
	// Restarts counts the starts after the first.
	Restarts uint64 `yaml:"restarts" protobuf:"5"`
	// Started is when the process of this instance was started.
	Started time.Time `yaml:"started" protobuf:"6"`
	// Settled tells that the process has run long enough not to be a start that fails.
	Settled bool `yaml:"settled" protobuf:"8"`
	// Message says how the last process ended, or why it could not be started.
	Message string `yaml:"message,omitempty" protobuf:"7"`
}

// DeepCopy implements the contract of typed resources.
func (s ProcessStatusSpec) DeepCopy() ProcessStatusSpec {
	return s
}

// String sums the spec up in one line.
func (s ProcessStatusSpec) String() string {
	text := s.State
	if s.PID != 0 {
		text += fmt.Sprintf(", pid %d", s.PID)
	}

	if s.Message != "" {
		text += ", " + s.Message
	}

	return text
}

// ProcessStatusExtension describes the type to clients.
type ProcessStatusExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (ProcessStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             ProcessStatusType,
		DefaultNamespace: Machine,
		PrintColumns: []meta.PrintColumn{
			{Name: "State", JSONPath: "{.state}"},
			{Name: "PID", JSONPath: "{.pid}"},
			{Name: "Restarts", JSONPath: "{.restarts}"},
			{Name: "Message", JSONPath: "{.message}"},
		},
	}
}
