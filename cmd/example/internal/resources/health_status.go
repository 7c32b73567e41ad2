package resources

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// HealthStatusType is the type of [HealthStatus].
const HealthStatusType resource.Type = "HealthStatuses" + suffix

// HealthStatus is the outcome of the health checks of a [Process] that has one. Its ID is the name of the service.
type HealthStatus = typed.Resource[HealthStatusSpec, HealthStatusExtension]

// NewHealthStatus returns a HealthStatus, with an empty spec.
func NewHealthStatus(id resource.ID) *HealthStatus {
	return typed.NewResource[HealthStatusSpec, HealthStatusExtension](
		resource.NewMetadata(Machine, HealthStatusType, id, resource.VersionUndefined),
		HealthStatusSpec{},
	)
}

// HealthStatusSpec sums up the checks of one instance of a process.
type HealthStatusSpec struct {
	// Instance is the instance of the process that was checked.
	Instance uint64 `yaml:"instance" protobuf:"1"`
	// Verdict is what the checks come to.
	Verdict Verdict `yaml:"verdict" protobuf:"2"`
	// Failures counts the failed checks since the last good one, up to the limit of the service.
	Failures int `yaml:"failures" protobuf:"3"`
	// Message is why the last check failed.
	Message string `yaml:"message,omitempty" protobuf:"4"`
}

// DeepCopy implements the contract of typed resources.
func (s HealthStatusSpec) DeepCopy() HealthStatusSpec {
	return s
}

// String sums the spec up in one line.
func (s HealthStatusSpec) String() string {
	if s.Message == "" {
		return string(s.Verdict)
	}

	return string(s.Verdict) + ": " + s.Message
}

// Verdict is what the health checks of a process come to.
type Verdict string

const (
	// Starting is a process that has not passed a check yet and has time left to do so.
	Starting Verdict = "starting"
	// Passing is a process whose last check was good.
	Passing Verdict = "passing"
	// Doubtful is a process whose last checks failed, but not enough of them to act on it.
	Doubtful Verdict = "doubtful"
	// Failing is a process that is to be restarted.
	Failing Verdict = "failing"
)

// HealthStatusExtension describes the type to clients.
type HealthStatusExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (HealthStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             HealthStatusType,
		DefaultNamespace: Machine,
		PrintColumns: []meta.PrintColumn{
			{Name: "Verdict", JSONPath: "{.verdict}"},
			{Name: "Failures", JSONPath: "{.failures}"},
			{Name: "Message", JSONPath: "{.message}"},
		},
	}
}
