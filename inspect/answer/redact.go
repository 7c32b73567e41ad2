package answer

import (
	"context"
	"fmt"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/state"
	"go.yaml.in/yaml/v4"
)

// secret says why the contents of a resource are not to be shown, or nothing if they may be.
func (a *Answers) secret(ctx context.Context, res resource.Resource) string {
	typ := res.Metadata().Type()

	// What the program knows of the type counts as much as what the state was told: either may say that it is sensitive.
	known := false

	if provider, ok := res.(meta.ResourceDefinitionProvider); ok {
		if known = true; provider.ResourceDefinition().Sensitivity == meta.Sensitive {
			return "its type is sensitive"
		}
	}

	registered, err := a.cfg.State.Get(ctx, resource.NewMetadata(meta.NamespaceName, meta.ResourceDefinitionType, strings.ToLower(typ), resource.VersionUndefined))

	switch {
	case err == nil:
		definition, ok := registered.(*meta.ResourceDefinition)
		if !ok {
			return "the definition of its type can not be read"
		}

		if definition.TypedSpec().Sensitivity == meta.Sensitive {
			return "its type is sensitive"
		}

		return ""
	case !state.IsNotFoundError(err) && !known:
		return "whether its type is sensitive can not be found out: " + err.Error()
	case known || a.cfg.Show(typ):
		return ""
	default:
		return "its type has no definition that would say whether it is sensitive"
	}
}

// yamlOf renders a resource, without what is not to be shown for a reason.
func yamlOf(res resource.Resource, secret string) (string, error) {
	if secret == "" {
		doc, err := resource.MarshalYAML(res)
		if err != nil {
			return "", err
		}

		return marshal(doc)
	}

	md := res.Metadata().Copy()

	for key := range md.Labels().Raw() {
		md.Labels().Set(key, redacted)
	}

	for key := range md.Annotations().Raw() {
		md.Annotations().Set(key, redacted)
	}

	return marshal(struct {
		Metadata *resource.Metadata `yaml:"metadata"`
		Spec     string             `yaml:"spec"`
	}{&md, redacted})
}

const redacted = "(not shown)"

// marshal renders a document. What a spec does while it is rendered is no concern of who asks.
func marshal(doc any) (text string, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the resource can not be rendered: %v", panicked)
		}
	}()

	out, err := yaml.Marshal(doc)

	return string(out), err
}
