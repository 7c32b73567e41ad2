package resources

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
)

// TemplateType is the type of [Template].
const TemplateType resource.Type = "Templates" + suffix

// Template is a file of the document before it is rendered. Its ID is the path.
type Template = typed.Resource[TemplateSpec, TemplateExtension]

// NewTemplate returns a Template, with an empty spec.
func NewTemplate(id resource.ID) *Template {
	return typed.NewResource[TemplateSpec, TemplateExtension](
		resource.NewMetadata(Machine, TemplateType, id, resource.VersionUndefined),
		TemplateSpec{},
	)
}

// TemplateSpec is the file as the document gives it.
type TemplateSpec document.File

// DeepCopy implements the contract of typed resources.
func (s TemplateSpec) DeepCopy() TemplateSpec {
	return s
}

// String sums the spec up in one line.
func (s TemplateSpec) String() string {
	return fmt.Sprintf("mode %#o", s.Mode)
}

// TemplateExtension describes the type to clients.
type TemplateExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (TemplateExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             TemplateType,
		DefaultNamespace: Machine,
		PrintColumns: []meta.PrintColumn{
			{Name: "Mode", JSONPath: "{.mode}"},
		},
	}
}
