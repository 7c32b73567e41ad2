package resources

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// PowerStateType is the type of [PowerState].
const PowerStateType resource.Type = "PowerStates" + suffix

// PowerState says whether the machine shall run. It is written by the host program, not by a controller.
type PowerState = typed.Resource[PowerStateSpec, PowerStateExtension]

// NewPowerState returns a PowerState, of which there is one, with an empty spec.
func NewPowerState() *PowerState {
	return typed.NewResource[PowerStateSpec, PowerStateExtension](
		resource.NewMetadata(Config, PowerStateType, TheMachine, resource.VersionUndefined),
		PowerStateSpec{},
	)
}

// PowerStateSpec is the wish of the host program.
type PowerStateSpec struct {
	// Off asks for all services to be stopped, dependents before what they need.
	Off bool `yaml:"off" protobuf:"1"`
}

// DeepCopy implements the contract of typed resources.
func (s PowerStateSpec) DeepCopy() PowerStateSpec {
	return s
}

// String sums the spec up in one line.
func (s PowerStateSpec) String() string {
	if s.Off {
		return "off"
	}

	return "on"
}

// PowerStateExtension describes the type to clients.
type PowerStateExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (PowerStateExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             PowerStateType,
		DefaultNamespace: Config,
		Aliases:          []resource.Type{"power"},
		// The initials would be those of the status of a process.
		SkipAutomaticAliases: true,
		PrintColumns: []meta.PrintColumn{
			{Name: "Off", JSONPath: "{.off}"},
		},
	}
}
