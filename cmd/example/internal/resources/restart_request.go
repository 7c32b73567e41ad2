package resources

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// RestartRequestType is the type of [RestartRequest].
const RestartRequestType resource.Type = "RestartRequests" + suffix

// RestartRequest asks for a service to be restarted once. Operators create it over the state API under the name of
// the service; it goes away by itself when the restart is under way.
type RestartRequest = typed.Resource[RestartRequestSpec, RestartRequestExtension]

// NewRestartRequest returns a RestartRequest, with an empty spec.
func NewRestartRequest(id resource.ID) *RestartRequest {
	return typed.NewResource[RestartRequestSpec, RestartRequestExtension](
		resource.NewMetadata(Config, RestartRequestType, id, resource.VersionUndefined),
		RestartRequestSpec{},
	)
}

// RestartRequestSpec is the request of an operator.
type RestartRequestSpec struct {
	// Reason is for the log.
	Reason string `yaml:"reason,omitempty" protobuf:"1"`
}

// DeepCopy implements the contract of typed resources.
func (s RestartRequestSpec) DeepCopy() RestartRequestSpec {
	return s
}

// String sums the spec up in one line.
func (s RestartRequestSpec) String() string {
	return s.Reason
}

// RestartRequestExtension describes the type to clients.
type RestartRequestExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (RestartRequestExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             RestartRequestType,
		DefaultNamespace: Config,
		Aliases:          []resource.Type{"restart"},
		PrintColumns: []meta.PrintColumn{
			{Name: "Reason", JSONPath: "{.reason}"},
		},
	}
}
