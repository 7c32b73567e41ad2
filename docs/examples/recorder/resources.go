package main

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// HostType is written by the user.
const HostType = "Hosts.example.dev"

// Host is a machine with an address.
type Host = typed.Resource[HostSpec, HostDefinition]

// HostSpec is what is known of a host.
type HostSpec struct{ Address string }

// DeepCopy returns a copy.
func (s HostSpec) DeepCopy() HostSpec { return s }

// HostDefinition tells the contract about the type.
type HostDefinition struct{}

// ResourceDefinition returns the name of the type and its namespace.
func (HostDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: HostType, DefaultNamespace: "default"}
}

// NewHost returns a host.
func NewHost(id resource.ID, address string) *Host {
	md := resource.NewMetadata("default", HostType, id, resource.VersionUndefined)

	return typed.NewResource[HostSpec, HostDefinition](md, HostSpec{address})
}

// RecordType is written by the controller.
const RecordType = "Records.example.dev"

// Record is a line of a zone file.
type Record = typed.Resource[RecordSpec, RecordDefinition]

// RecordSpec is the line.
type RecordSpec struct{ Line string }

// DeepCopy returns a copy.
func (s RecordSpec) DeepCopy() RecordSpec { return s }

// RecordDefinition tells the contract about the type.
type RecordDefinition struct{}

// ResourceDefinition returns the name of the type and its namespace.
func (RecordDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: RecordType, DefaultNamespace: "default"}
}

// NewRecord returns a record without content.
func NewRecord(id resource.ID) *Record {
	md := resource.NewMetadata("default", RecordType, id, resource.VersionUndefined)

	return typed.NewResource[RecordSpec, RecordDefinition](md, RecordSpec{})
}
