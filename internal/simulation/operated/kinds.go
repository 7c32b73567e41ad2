package operated

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/operator"
)

const (
	namespace = resource.Namespace("operated")

	siteType       = resource.Type("Sites.operated")
	siteStatusType = resource.Type("SiteStatuses.operated")
	sourceType     = resource.Type("Sources.operated")
	configType     = resource.Type("Configs.operated")
	pageType       = resource.Type("Pages.operated")
)

var types = []resource.Type{siteType, siteStatusType, sourceType, configType, pageType}

// mode is how a site is to be.
type mode string

const (
	up      mode = ""
	paused  mode = "paused"
	invalid mode = "invalid"
	late    mode = "late"
)

// siteSpec is what is asked for: the primary.
type siteSpec struct {
	Mode  mode
	Pages int
}

// sourceSpec adds something to the site that it is for.
type sourceSpec struct {
	For   resource.ID
	Value int
}

// configSpec is the child that each site has. The note is others'.
type configSpec struct {
	Value int
	Note  string
}

// pageSpec is one of a set of children.
type pageSpec struct{ Number, Of int }

// siteData is what the status says beside conditions.
type siteData struct{ Total, Pages int }

// DeepCopy implements the contract of typed resources, as those that follow do.
func (s siteSpec) DeepCopy() siteSpec { return s }

// DeepCopy implements the contract of typed resources.
func (s sourceSpec) DeepCopy() sourceSpec { return s }

// DeepCopy implements the contract of typed resources.
func (s configSpec) DeepCopy() configSpec { return s }

// DeepCopy implements the contract of typed resources.
func (s pageSpec) DeepCopy() pageSpec { return s }

// DeepCopy implements the contract of typed resources.
func (d siteData) DeepCopy() siteData { return d }

type (
	siteKind   struct{}
	statusKind struct{}
	sourceKind struct{}
	configKind struct{}
	pageKind   struct{}

	site       = typed.Resource[siteSpec, siteKind]
	siteStatus = operator.StatusResource[siteData, statusKind]
	source     = typed.Resource[sourceSpec, sourceKind]
	config     = typed.Resource[configSpec, configKind]
	page       = typed.Resource[pageSpec, pageKind]
)

func (siteKind) ResourceDefinition() meta.ResourceDefinitionSpec   { return defined(siteType) }
func (statusKind) ResourceDefinition() meta.ResourceDefinitionSpec { return defined(siteStatusType) }
func (sourceKind) ResourceDefinition() meta.ResourceDefinitionSpec { return defined(sourceType) }
func (configKind) ResourceDefinition() meta.ResourceDefinitionSpec { return defined(configType) }
func (pageKind) ResourceDefinition() meta.ResourceDefinitionSpec   { return defined(pageType) }

func defined(typ resource.Type) meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: typ, DefaultNamespace: namespace}
}

func pointer(typ resource.Type, id resource.ID) resource.Metadata {
	return resource.NewMetadata(namespace, typ, id, resource.VersionUndefined)
}

func newSite(id resource.ID) *site {
	return typed.NewResource[siteSpec, siteKind](pointer(siteType, id), siteSpec{})
}

func newSource(id resource.ID) *source {
	return typed.NewResource[sourceSpec, sourceKind](pointer(sourceType, id), sourceSpec{})
}

func newConfig(id resource.ID) *config {
	return typed.NewResource[configSpec, configKind](pointer(configType, id), configSpec{})
}

func newPage(id resource.ID) *page {
	return typed.NewResource[pageSpec, pageKind](pointer(pageType, id), pageSpec{})
}
