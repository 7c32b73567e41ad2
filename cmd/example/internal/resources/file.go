package resources

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
)

// FileType is the type of [File].
const FileType resource.Type = "Files" + suffix

// File is a file that shall lie under the root with this content. Its ID is the path.
type File = typed.Resource[FileSpec, FileExtension]

// NewFile returns a File, with an empty spec.
func NewFile(id resource.ID) *File {
	return typed.NewResource[FileSpec, FileExtension](
		resource.NewMetadata(Machine, FileType, id, resource.VersionUndefined),
		FileSpec{},
	)
}

// FileSpec is a rendered file.
type FileSpec struct {
	// Revision identifies what the document says about the file.
	Revision string `yaml:"revision" protobuf:"1"`
	// Digest identifies the content and the mode.
	Digest string `yaml:"digest" protobuf:"2"`
	// Mode holds the permission bits.
	Mode uint32 `yaml:"mode" protobuf:"3"`
	// Content is the text of the file.
	Content string `yaml:"content" protobuf:"4"`
}

// DeepCopy implements the contract of typed resources.
func (s FileSpec) DeepCopy() FileSpec {
	return s
}

// String sums the spec up in one line.
func (s FileSpec) String() string {
	return fmt.Sprintf("mode %#o, %d bytes", s.Mode, len(s.Content))
}

// Set fills in content and mode, and the digest over both.
func (s *FileSpec) Set(content string, mode uint32) {
	s.Content, s.Mode = content, mode
	s.Digest = document.Digest(fmt.Appendf(nil, "%o %s", mode, content))
}

// FileExtension describes the type to clients.
type FileExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (FileExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             FileType,
		DefaultNamespace: Machine,
		PrintColumns: []meta.PrintColumn{
			{Name: "Mode", JSONPath: "{.mode}"},
			{Name: "Digest", JSONPath: "{.digest}"},
		},
	}
}
