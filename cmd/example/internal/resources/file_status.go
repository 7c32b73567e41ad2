package resources

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/operator"
)

// FileStatusType is the type of [FileStatus].
const FileStatusType resource.Type = "FileStatuses" + suffix

// FileStatus tells whether a [File] lies in its place. Its ID is the path. Its condition Ready says whether it does, with
// content and mode of the generation that was observed, and if not, what is in the way.
type FileStatus = operator.StatusResource[FileData, FileStatusExtension]

// NewFileStatus returns a FileStatus, with an empty spec.
func NewFileStatus(id resource.ID) *FileStatus {
	return typed.NewResource[operator.StatusSpec[FileData], FileStatusExtension](
		resource.NewMetadata(Machine, FileStatusType, id, resource.VersionUndefined),
		operator.StatusSpec[FileData]{},
	)
}

// FileData is what else there is to say.
type FileData struct {
	// Repairs counts how often the file was put back after somebody else had changed it.
	Repairs int `yaml:"repairs" protobuf:"1"`
	// Repaired is the reason of the last repair.
	Repaired string `yaml:"repaired,omitempty" protobuf:"2"`
}

// DeepCopy implements the contract of typed resources.
func (s FileData) DeepCopy() FileData { return s }

// String sums the data up in one line.
func (s FileData) String() string {
	if s.Repairs == 0 {
		return ""
	}

	return fmt.Sprintf("repairs: %d, the last because %s", s.Repairs, s.Repaired)
}

// FileStatusExtension describes the type to clients.
type FileStatusExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (FileStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             FileStatusType,
		DefaultNamespace: Machine,
		PrintColumns: append(readyColumns(),
			meta.PrintColumn{Name: "Repairs", JSONPath: "{.data.repairs}"},
			meta.PrintColumn{Name: "Repaired", JSONPath: "{.data.repaired}"},
		),
	}
}
