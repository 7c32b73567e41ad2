package main

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/operator"
)

// The types of resources, all in one namespace.
const (
	namespace                      = resource.Namespace("default")
	recordType       resource.Type = "ExternalRecords.examples.switchyard.run"
	recordStatusType resource.Type = "ExternalRecordStatuses.examples.switchyard.run"
)

// ExternalRecord is something that a service elsewhere is to keep.
type ExternalRecord = typed.Resource[RecordSpec, recordExtension]

// RecordSpec is the spec of an [ExternalRecord].
type RecordSpec struct{ Value string }

// DeepCopy implements the contract of typed resources.
func (s RecordSpec) DeepCopy() RecordSpec { return s }

type recordExtension struct{}

func (recordExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: recordType, DefaultNamespace: namespace}
}

// RecordStatus is what the operator says about an [ExternalRecord]: conditions, and nothing else.
type RecordStatus = operator.StatusResource[operator.NoData, recordStatusExtension]

type recordStatusExtension struct{}

func (recordStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: recordStatusType, DefaultNamespace: namespace}
}

func newRecord(id resource.ID, value string) *ExternalRecord {
	return typed.NewResource[RecordSpec, recordExtension](*pointer(recordType, id), RecordSpec{value})
}

func pointer(typ resource.Type, id resource.ID) *resource.Metadata {
	md := resource.NewMetadata(namespace, typ, id, resource.VersionUndefined)

	return &md
}
