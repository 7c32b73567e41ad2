package resources

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// DiskStatusType is the type of [DiskStatus].
const DiskStatusType resource.Type = "DiskStatuses" + suffix

// DiskStatus tells that something has changed in the tree of the files, and not what.
type DiskStatus = typed.Resource[DiskStatusSpec, DiskStatusExtension]

// NewDiskStatus returns a DiskStatus, of which there is one, with an empty spec.
func NewDiskStatus() *DiskStatus {
	return typed.NewResource[DiskStatusSpec, DiskStatusExtension](
		resource.NewMetadata(Machine, DiskStatusType, TheMachine, resource.VersionUndefined),
		DiskStatusSpec{},
	)
}

// DiskStatusSpec counts changes.
type DiskStatusSpec struct {
	// Changes is how often something may have changed.
	Changes uint64 `yaml:"changes" protobuf:"1"`
}

// DeepCopy implements the contract of typed resources.
func (s DiskStatusSpec) DeepCopy() DiskStatusSpec { return s }

// String sums the spec up in one line.
func (s DiskStatusSpec) String() string { return fmt.Sprintf("%d changes", s.Changes) }

// DiskStatusExtension describes the type to clients.
type DiskStatusExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (DiskStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             DiskStatusType,
		DefaultNamespace: Machine,
		PrintColumns:     []meta.PrintColumn{{Name: "Changes", JSONPath: "{.changes}"}},
	}
}
