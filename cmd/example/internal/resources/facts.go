package resources

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
)

// FactsType is the type of [Facts].
const FactsType resource.Type = "MachineFacts" + suffix

// Facts is what templates may speak of.
type Facts = typed.Resource[FactsSpec, FactsExtension]

// NewFacts returns the facts, of which there is one, with an empty spec.
func NewFacts() *Facts {
	return typed.NewResource[FactsSpec, FactsExtension](
		resource.NewMetadata(Machine, FactsType, TheMachine, resource.VersionUndefined),
		FactsSpec{},
	)
}

// FactsSpec is the vocabulary of templates.
type FactsSpec document.Facts

// DeepCopy implements the contract of typed resources.
func (s FactsSpec) DeepCopy() FactsSpec {
	return s
}

// String sums the spec up in one line.
func (s FactsSpec) String() string {
	return fmt.Sprintf("%s, %s/%s, %d CPUs", s.FQDN, s.OS, s.Arch, s.CPUs)
}

// FactsExtension describes the type to clients.
type FactsExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (FactsExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             FactsType,
		DefaultNamespace: Machine,
		Aliases:          []resource.Type{"facts"},
		PrintColumns: []meta.PrintColumn{
			{Name: "FQDN", JSONPath: "{.fqdn}"},
			{Name: "OS", JSONPath: "{.os}"},
			{Name: "Arch", JSONPath: "{.arch}"},
			{Name: "CPUs", JSONPath: "{.cpus}"},
		},
	}
}
