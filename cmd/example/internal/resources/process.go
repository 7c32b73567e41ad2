package resources

import (
	"slices"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
)

// ProcessType is the type of [Process].
const ProcessType resource.Type = "Processes" + suffix

// Process is a process that shall run. Its ID is the name of the service.
//
// It exists as long as the process may: it is torn down when the process shall stop, and goes when it has.
type Process = typed.Resource[ProcessSpec, ProcessExtension]

// NewProcess returns a Process, with an empty spec.
func NewProcess(id resource.ID) *Process {
	return typed.NewResource[ProcessSpec, ProcessExtension](
		resource.NewMetadata(Machine, ProcessType, id, resource.VersionUndefined),
		ProcessSpec{},
	)
}

// ProcessSpec is a service with everything filled in.
type ProcessSpec struct {
	// Revision identifies the [ServiceSpec] it was made from.
	Revision string `yaml:"revision" protobuf:"1"`
	// WaitingFor names the services that have to be ready first; the process is not started until the list is empty.
	WaitingFor []string `yaml:"waitingFor,omitempty" protobuf:"2"`
	// Command is the program and its arguments.
	Command []string `yaml:"command" protobuf:"3"`
	// Env is the environment, as NAME=value, sorted.
	Env []string `yaml:"env,omitempty" protobuf:"4"`
	// OneShot tells that the process has done its work when it exits with code 0.
	OneShot bool `yaml:"oneShot,omitempty" protobuf:"5"`
	// Restart says how long to wait before the next attempt.
	Restart document.Restart `yaml:"restart" protobuf:"6"`
	// Stop is how long the process may take to end after it was asked to.
	Stop time.Duration `yaml:"stop" protobuf:"7"`
	// Health says how to find out that the process is well, at HealthURL.
	Health    document.Health `yaml:"health,omitempty" protobuf:"8"`
	HealthURL string          `yaml:"healthURL,omitempty" protobuf:"9"`
	// Attempt identifies the last restart that was asked for; a new value restarts the process.
	Attempt string `yaml:"attempt,omitempty" protobuf:"10"`
}

// DeepCopy implements the contract of typed resources.
func (s ProcessSpec) DeepCopy() ProcessSpec {
	s.WaitingFor = slices.Clone(s.WaitingFor)
	s.Command = slices.Clone(s.Command)
	s.Env = slices.Clone(s.Env)

	return s
}

// String sums the spec up in one line.
func (s ProcessSpec) String() string {
	if len(s.WaitingFor) > 0 {
		return "waits for " + strings.Join(s.WaitingFor, ", ")
	}

	return strings.Join(s.Command, " ")
}

// ProcessExtension describes the type to clients.
type ProcessExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (ProcessExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             ProcessType,
		DefaultNamespace: Machine,
		Aliases:          []resource.Type{"proc"},
		PrintColumns: []meta.PrintColumn{
			{Name: "Command", JSONPath: "{.command}"},
			{Name: "Waiting for", JSONPath: "{.waitingFor}"},
		},
	}
}
