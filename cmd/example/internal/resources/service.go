package resources

import (
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
)

// ServiceType is the type of [Service].
const ServiceType resource.Type = "Services" + suffix

// Service is a service that shall run. Its ID is the name.
type Service = typed.Resource[ServiceSpec, ServiceExtension]

// NewService returns a Service, with an empty spec.
func NewService(id resource.ID) *Service {
	return typed.NewResource[ServiceSpec, ServiceExtension](
		resource.NewMetadata(Machine, ServiceType, id, resource.VersionUndefined),
		ServiceSpec{},
	)
}

// ServiceSpec is the service as the document gives it.
type ServiceSpec document.Service

// DeepCopy implements the contract of typed resources.
func (s ServiceSpec) DeepCopy() ServiceSpec {
	return ServiceSpec(document.Service(s).DeepCopy())
}

// String sums the spec up in one line.
func (s ServiceSpec) String() string {
	return strings.Join(append([]string{string(s.Kind)}, s.Command...), " ")
}

// Revision identifies the state of the spec.
func (s ServiceSpec) Revision() string { return document.Service(s).Revision() }

// ServiceExtension describes the type to clients.
type ServiceExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (ServiceExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             ServiceType,
		DefaultNamespace: Machine,
		Aliases:          []resource.Type{"svc"},
		PrintColumns: []meta.PrintColumn{
			{Name: "Kind", JSONPath: "{.kind}"},
			{Name: "Needs", JSONPath: "{.needs}"},
		},
	}
}
