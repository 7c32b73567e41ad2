package resources

import (
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
)

// ResolverType is the type of [Resolver].
const ResolverType resource.Type = "Resolvers" + suffix

// Resolver is how the machine resolves names: the resolver file and the hosts file.
type Resolver = typed.Resource[ResolverSpec, ResolverExtension]

// NewResolver returns a Resolver, of which there is one, with an empty spec.
func NewResolver() *Resolver {
	return typed.NewResource[ResolverSpec, ResolverExtension](
		resource.NewMetadata(Machine, ResolverType, TheMachine, resource.VersionUndefined),
		ResolverSpec{},
	)
}

// ResolverSpec joins what the document says on names.
type ResolverSpec struct {
	// Servers are the addresses of name servers, most preferred first.
	Servers []string `yaml:"servers,omitempty" protobuf:"1"`
	// Search are the domains that short names are tried in.
	Search []string `yaml:"search,omitempty" protobuf:"2"`
	// Hosts are names that need no server.
	Hosts []document.Host `yaml:"hosts,omitempty" protobuf:"3"`
}

// DeepCopy implements the contract of typed resources.
func (s ResolverSpec) DeepCopy() ResolverSpec {
	s.Servers = slices.Clone(s.Servers)
	s.Search = slices.Clone(s.Search)
	s.Hosts = slices.Clone(s.Hosts)

	for i := range s.Hosts {
		s.Hosts[i] = s.Hosts[i].DeepCopy()
	}

	return s
}

// String sums the spec up in one line.
func (s ResolverSpec) String() string {
	return strings.Join(s.Servers, ", ")
}

// ResolverExtension describes the type to clients.
type ResolverExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (ResolverExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             ResolverType,
		DefaultNamespace: Machine,
		PrintColumns: []meta.PrintColumn{
			{Name: "Servers", JSONPath: "{.servers}"},
			{Name: "Search", JSONPath: "{.search}"},
		},
	}
}
