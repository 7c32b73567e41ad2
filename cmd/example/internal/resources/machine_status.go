package resources

import (
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// MachineStatusType is the type of [MachineStatus].
const MachineStatusType resource.Type = "MachineStatuses" + suffix

// MachineStatus sums up the machine: is everything as the document in force says, and if not, what is missing.
type MachineStatus = typed.Resource[MachineStatusSpec, MachineStatusExtension]

// NewMachineStatus returns a MachineStatus, of which there is one, with an empty spec.
func NewMachineStatus() *MachineStatus {
	return typed.NewResource[MachineStatusSpec, MachineStatusExtension](
		resource.NewMetadata(Machine, MachineStatusType, TheMachine, resource.VersionUndefined),
		MachineStatusSpec{},
	)
}

// MachineStatusSpec is the summary.
type MachineStatusSpec struct {
	// Ready tells that nothing is missing.
	Ready bool `yaml:"ready" protobuf:"1"`
	// Generation is that of the document this is about; 0 when none is in force.
	Generation int `yaml:"generation" protobuf:"2"`
	// Missing lists what is not as it should be, one sentence each, sorted.
	Missing []string `yaml:"missing,omitempty" protobuf:"3"`
}

// DeepCopy implements the contract of typed resources.
func (s MachineStatusSpec) DeepCopy() MachineStatusSpec {
	s.Missing = slices.Clone(s.Missing)

	return s
}

// String sums the spec up in one line.
func (s MachineStatusSpec) String() string {
	if s.Ready {
		return "ready"
	}

	return "not ready: " + strings.Join(s.Missing, "; ")
}

// MachineStatusExtension describes the type to clients.
type MachineStatusExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (MachineStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             MachineStatusType,
		DefaultNamespace: Machine,
		Aliases:          []resource.Type{"machine"},
		PrintColumns: []meta.PrintColumn{
			{Name: "Ready", JSONPath: "{.ready}"},
			{Name: "Generation", JSONPath: "{.generation}"},
			{Name: "Missing", JSONPath: "{.missing}"},
		},
	}
}
