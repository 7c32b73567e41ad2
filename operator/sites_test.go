package operator_test

import (
	"maps"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/operator"
)

// The kinds of the tests: somebody asks for sites, and a controller makes pages and docs for them. Secrets are what sites depend on.
const (
	ns         = resource.Namespace("test")
	siteType   = resource.Type("Sites.test.switchyard.run")
	statusType = resource.Type("SiteStatuses.test.switchyard.run")
	pageType   = resource.Type("Pages.test.switchyard.run")
	docType    = resource.Type("Docs.test.switchyard.run")
	secretType = resource.Type("Secrets.test.switchyard.run")
)

type (
	site       = typed.Resource[siteSpec, siteExtension]
	siteStatus = operator.StatusResource[seen, statusExtension]
	page       = typed.Resource[pageSpec, pageExtension]
	doc        = typed.Resource[docSpec, docExtension]
	secret     = typed.Resource[secretSpec, secretExtension]
)

type siteSpec struct {
	Text  string
	Pages []string
}

func (s siteSpec) DeepCopy() siteSpec {
	s.Pages = slices.Clone(s.Pages)

	return s
}

// seen is the data of a status.
type seen struct{ Text string }

func (s seen) DeepCopy() seen { return s }

type pageSpec struct {
	Text string
	Tags map[string]string
}

func (s pageSpec) DeepCopy() pageSpec {
	s.Tags = maps.Clone(s.Tags)

	return s
}

// docSpec is whatever JSON can say. Values are replaced as a whole and never changed, so a copy of the top is a copy.
type docSpec map[string]any

func (s docSpec) DeepCopy() docSpec { return maps.Clone(s) }

// secretSpec names the sites that depend on a secret.
type secretSpec struct{ Sites []string }

func (s secretSpec) DeepCopy() secretSpec { return secretSpec{slices.Clone(s.Sites)} }

type (
	siteExtension   struct{}
	statusExtension struct{}
	pageExtension   struct{}
	docExtension    struct{}
	secretExtension struct{}
)

func (siteExtension) ResourceDefinition() meta.ResourceDefinitionSpec   { return described(siteType) }
func (statusExtension) ResourceDefinition() meta.ResourceDefinitionSpec { return described(statusType) }
func (pageExtension) ResourceDefinition() meta.ResourceDefinitionSpec   { return described(pageType) }
func (docExtension) ResourceDefinition() meta.ResourceDefinitionSpec    { return described(docType) }
func (secretExtension) ResourceDefinition() meta.ResourceDefinitionSpec { return described(secretType) }

func described(typ resource.Type) meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: typ, DefaultNamespace: ns}
}
