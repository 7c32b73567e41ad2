package resources

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// FileStatusType is the type of [FileStatus].
const FileStatusType resource.Type = "FileStatuses" + suffix

// FileStatus tells whether a [File] lies in its place. Its ID is the path.
type FileStatus = typed.Resource[FileStatusSpec, FileStatusExtension]

// NewFileStatus returns a FileStatus, with an empty spec.
func NewFileStatus(id resource.ID) *FileStatus {
	return typed.NewResource[FileStatusSpec, FileStatusExtension](
		resource.NewMetadata(Machine, FileStatusType, id, resource.VersionUndefined),
		FileStatusSpec{},
	)
}

// FileStatusSpec is what was found under the root.
type FileStatusSpec struct {
	// InPlace tells that the file lies there with the content and mode of Digest.
	InPlace bool `yaml:"inPlace" protobuf:"1"`
	// Digest is the digest of the [FileSpec] this is about.
	Digest string `yaml:"digest" protobuf:"2"`
	// Repairs counts how often the file was put back after somebody else had changed it.
	Repairs int `yaml:"repairs" protobuf:"3"`
	// Message is the reason of the last repair, or why the file is not in place.
	Message string `yaml:"message,omitempty" protobuf:"4"`
}

// DeepCopy implements the contract of typed resources.
func (s FileStatusSpec) DeepCopy() FileStatusSpec {
	return s
}

// String sums the spec up in one line.
func (s FileStatusSpec) String() string {
	text := "in place"
	if !s.InPlace {
		text = "not in place"
	}

	if s.Repairs > 0 {
		text += fmt.Sprintf(", repairs: %d", s.Repairs)
	}

	if s.Message != "" {
		text += ", " + s.Message
	}

	return text
}

// FileStatusExtension describes the type to clients.
type FileStatusExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (FileStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             FileStatusType,
		DefaultNamespace: Machine,
		PrintColumns: []meta.PrintColumn{
			{Name: "In place", JSONPath: "{.inPlace}"},
			{Name: "Repairs", JSONPath: "{.repairs}"},
			{Name: "Message", JSONPath: "{.message}"},
		},
	}
}
