// Package resources owns the vocabulary of the appliance: every resource type that its controllers read and write,
// and how those types travel over the state API.
//
// Two namespaces keep apart who speaks: [Config] holds what was asked for, by the document or by an operator,
// [Machine] what the controllers made of it. A type without "Status" in its name says what shall be, the type with
// "Status" what is.
//
// The package starts no goroutine. Linking it registers the types with the contract's wire format, so that a client
// that links it too gets typed resources back.
package resources

import (
	"context"
	"fmt"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/registry"
	"github.com/siderolabs/gen/ensure"

	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

const (
	// Config is the namespace of what was asked for.
	Config resource.Namespace = "config"
	// Machine is the namespace of what the controllers derive and observe.
	Machine resource.Namespace = "machine"
)

// TheMachine is the ID of resources that exist once.
const TheMachine resource.ID = "machine"

// suffix ends the name of every type.
const suffix = ".appliance.switchyard.run"

// NeedLabel marks a [Service] and its [Process] with a service that it needs.
func NeedLabel(service string) string {
	return needPrefix + service
}

// Needs lists the services that a resource is marked with.
func Needs(md *resource.Metadata) (services []resource.ID) {
	for _, label := range md.Labels().Keys() {
		if service, ok := strings.CutPrefix(label, needPrefix); ok {
			services = append(services, service)
		}
	}

	return services
}

const needPrefix = "needs" + suffix + "/"

// All returns one empty resource of each type, in the order of the pipeline.
func All() []meta.ResourceWithRD {
	return []meta.ResourceWithRD{
		&PowerState{}, &Document{}, &ConfigStatus{}, &RestartRequest{},
		&Hostname{}, &Resolver{}, &TimeServer{}, &Facts{},
		&Template{}, &File{}, &DiskStatus{}, &FileStatus{},
		&Service{}, &Endpoint{}, &Process{}, &ProcessStatus{}, &HealthStatus{}, &ServiceStatus{},
		&MachineStatus{},
	}
}

// Stamped returns the state with generations and uids for what has a status of its own, so that a status says which state of
// it was looked at. It belongs where all writers are behind it.
func Stamped(core state.CoreState) state.CoreState { return StampedWith(core, nil) }

// StampedWith is [Stamped] with uids that somebody else makes.
func StampedWith(core state.CoreState, newUID func() string) state.CoreState {
	return generation.Wrap(core, generation.Config{Types: []resource.Type{ServiceType, FileType}, NewUID: newUID})
}

// Register writes the definitions of all types and namespaces to a state, where clients look them up.
func Register(ctx context.Context, st state.State) error {
	namespaces := registry.NewNamespaceRegistry(st)
	if err := namespaces.RegisterDefault(ctx); err != nil {
		return fmt.Errorf("resources: %w", err)
	}

	for _, ns := range []struct {
		name resource.Namespace
		text string
	}{
		{Config, "What was asked for, by the document or by an operator."},
		{Machine, "What the controllers derive from it and observe."},
	} {
		if err := namespaces.Register(ctx, ns.name, ns.text); err != nil {
			return fmt.Errorf("resources: %w", err)
		}
	}

	types := registry.NewResourceRegistry(st)
	if err := types.RegisterDefault(ctx); err != nil {
		return fmt.Errorf("resources: %w", err)
	}

	for _, r := range All() {
		if err := types.Register(ctx, r); err != nil {
			return fmt.Errorf("resources: %w", err)
		}
	}

	return nil
}

// The specs are plain structs whose fields carry their protobuf numbers; the contract encodes such types by itself
// once they are registered.
func init() {
	ensure.NoError(protobuf.RegisterDynamic[PowerStateSpec](PowerStateType, &PowerState{}))
	ensure.NoError(protobuf.RegisterDynamic[DocumentSpec](DocumentType, &Document{}))
	ensure.NoError(protobuf.RegisterDynamic[ConfigStatusSpec](ConfigStatusType, &ConfigStatus{}))
	ensure.NoError(protobuf.RegisterDynamic[RestartRequestSpec](RestartRequestType, &RestartRequest{}))
	ensure.NoError(protobuf.RegisterDynamic[HostnameSpec](HostnameType, &Hostname{}))
	ensure.NoError(protobuf.RegisterDynamic[ResolverSpec](ResolverType, &Resolver{}))
	ensure.NoError(protobuf.RegisterDynamic[TimeServerSpec](TimeServerType, &TimeServer{}))
	ensure.NoError(protobuf.RegisterDynamic[FactsSpec](FactsType, &Facts{}))
	ensure.NoError(protobuf.RegisterDynamic[TemplateSpec](TemplateType, &Template{}))
	ensure.NoError(protobuf.RegisterDynamic[FileSpec](FileType, &File{}))
	ensure.NoError(protobuf.RegisterDynamic[DiskStatusSpec](DiskStatusType, &DiskStatus{}))
	ensure.NoError(protobuf.RegisterDynamic[operator.StatusSpec[FileData]](FileStatusType, &FileStatus{}))
	ensure.NoError(protobuf.RegisterDynamic[ServiceSpec](ServiceType, &Service{}))
	ensure.NoError(protobuf.RegisterDynamic[EndpointSpec](EndpointType, &Endpoint{}))
	ensure.NoError(protobuf.RegisterDynamic[ProcessSpec](ProcessType, &Process{}))
	ensure.NoError(protobuf.RegisterDynamic[ProcessStatusSpec](ProcessStatusType, &ProcessStatus{}))
	ensure.NoError(protobuf.RegisterDynamic[HealthStatusSpec](HealthStatusType, &HealthStatus{}))
	ensure.NoError(protobuf.RegisterDynamic[operator.StatusSpec[ServiceData]](ServiceStatusType, &ServiceStatus{}))
	ensure.NoError(protobuf.RegisterDynamic[MachineStatusSpec](MachineStatusType, &MachineStatus{}))
}
