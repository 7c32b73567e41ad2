package resources

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
)

// DocumentType is the type of [Document].
const DocumentType resource.Type = "Documents" + suffix

// Document is the document in force: the last one that was good.
type Document = typed.Resource[DocumentSpec, DocumentExtension]

// NewDocument returns a Document, of which there is one, with an empty spec.
func NewDocument() *Document {
	return typed.NewResource[DocumentSpec, DocumentExtension](
		resource.NewMetadata(Config, DocumentType, TheMachine, resource.VersionUndefined),
		DocumentSpec{},
	)
}

// DocumentSpec holds the document as it was read.
type DocumentSpec struct {
	// Generation counts the documents that came into force since the control plane started, from 1.
	Generation int `yaml:"generation" protobuf:"1"`
	// Hash identifies the text of the document.
	Hash string `yaml:"hash" protobuf:"2"`
	// Machine is what the document says.
	Machine document.Machine `yaml:"machine" protobuf:"3"`
}

// DeepCopy implements the contract of typed resources.
func (s DocumentSpec) DeepCopy() DocumentSpec {
	s.Machine = s.Machine.DeepCopy()

	return s
}

// String sums the spec up in one line.
func (s DocumentSpec) String() string {
	return fmt.Sprintf("generation %d, %s", s.Generation, s.Hash)
}

// DocumentExtension describes the type to clients.
type DocumentExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (DocumentExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             DocumentType,
		DefaultNamespace: Config,
		Aliases:          []resource.Type{"doc"},
		PrintColumns: []meta.PrintColumn{
			{Name: "Generation", JSONPath: "{.generation}"},
			{Name: "Hash", JSONPath: "{.hash}"},
		},
	}
}
