package resources

import (
	"fmt"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
)

// ConfigStatusType is the type of [ConfigStatus].
const ConfigStatusType resource.Type = "ConfigStatuses" + suffix

// ConfigStatus tells which document is in force and why a newer one is not.
type ConfigStatus = typed.Resource[ConfigStatusSpec, ConfigStatusExtension]

// NewConfigStatus returns a ConfigStatus, of which there is one, with an empty spec.
func NewConfigStatus() *ConfigStatus {
	return typed.NewResource[ConfigStatusSpec, ConfigStatusExtension](
		resource.NewMetadata(Config, ConfigStatusType, TheMachine, resource.VersionUndefined),
		ConfigStatusSpec{},
	)
}

// ConfigStatusSpec compares the file with what is in force.
type ConfigStatusSpec struct {
	// Path is where the document is read from.
	Path string `yaml:"path" protobuf:"1"`
	// Generation and Hash identify the document in force; 0 and empty when there is none yet.
	Generation int    `yaml:"generation" protobuf:"2"`
	Hash       string `yaml:"hash,omitempty" protobuf:"3"`
	// Refused tells that the file holds a document that is not in force.
	Refused bool `yaml:"refused" protobuf:"4"`
	// RefusedHash identifies the refused text; empty when the file could not be read.
	RefusedHash string `yaml:"refusedHash,omitempty" protobuf:"5"`
	// Problems are all the reasons for the refusal, in the order of the text.
	Problems []document.Problem `yaml:"problems,omitempty" protobuf:"6"`
}

// DeepCopy implements the contract of typed resources.
func (s ConfigStatusSpec) DeepCopy() ConfigStatusSpec {
	s.Problems = slices.Clone(s.Problems)

	return s
}

// String sums the spec up in one line.
func (s ConfigStatusSpec) String() string {
	if s.Refused {
		return fmt.Sprintf("generation %d in force, the file is refused: %s", s.Generation, s.Problems)
	}

	return fmt.Sprintf("generation %d in force", s.Generation)
}

// ConfigStatusExtension describes the type to clients.
type ConfigStatusExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (ConfigStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             ConfigStatusType,
		DefaultNamespace: Config,
		Aliases:          []resource.Type{"config"},
		PrintColumns: []meta.PrintColumn{
			{Name: "Generation", JSONPath: "{.generation}"},
			{Name: "Hash", JSONPath: "{.hash}"},
			{Name: "Refused", JSONPath: "{.refused}"},
		},
	}
}
