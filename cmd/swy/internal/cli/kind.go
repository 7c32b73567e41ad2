package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/state"
	"go.yaml.in/yaml/v4"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/kinds"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/client"
)

// find returns the type that a name stands for, with the namespace that was asked for, or its own. With a namespace, a full name
// may be of a type that has no definition.
func (s *session) find(ctx context.Context, st state.CoreState, name, namespace string) (kinds.Kind, error) {
	all, err := kinds.Load(ctx, st)
	if err != nil {
		return kinds.Kind{}, s.stateError(ctx, err)
	}

	return choose(all, name, namespace)
}

func choose(all *kinds.Kinds, name, namespace string) (kinds.Kind, error) {
	kind, err := all.Find(name)

	if unknown := (*kinds.UnknownError)(nil); errors.As(err, &unknown) {
		if strings.Contains(name, ".") && namespace != "" {
			kind, err = kinds.Undefined(name), nil
		} else {
			err = &refusedError{what: err.Error(), do: "swy get api-resources shows all types; one without a definition is found by its full name and -n"}
		}
	}

	switch {
	case err != nil:
		return kinds.Kind{}, err
	case namespace != "":
		kind.Namespace = namespace
	case kind.Namespace == "":
		return kinds.Kind{}, misused("in which namespace? The type %s has no default: say it with -n", kind.Type)
	}

	return kind, nil
}

// findRemote is the same for whoever asks the handler of package inspect: the state API may not be there.
func (s *session) findRemote(ctx context.Context, c *client.Client, name, namespace string) (kinds.Kind, error) {
	all, err := definitions(ctx, c, name)
	if err != nil {
		return kinds.Kind{}, err
	}

	return choose(all, name, namespace)
}

// mostDefinitions is how many types there may be.
const mostDefinitions = 10_000

// definitions reads the definitions of types that a name may stand for: of one, if it begins like the name of one type alone, and
// otherwise of all, since it may be an alias. An empty name stands for all.
func definitions(ctx context.Context, c *client.Client, name string) (*kinds.Kinds, error) {
	list, err := c.Resources(ctx, meta.NamespaceName, meta.ResourceDefinitionType, mostDefinitions)
	if err != nil {
		return nil, err
	}

	lower := strings.ToLower(name)

	begin := slices.DeleteFunc(slices.Clone(list.Items), func(row api.ResourceRow) bool {
		return row.ID != lower && !strings.HasPrefix(row.ID, lower+".")
	})

	if len(begin) == 1 {
		list.Items = begin
	}

	var all []*meta.ResourceDefinitionSpec

	for _, row := range list.Items {
		detail, err := c.Resource(ctx, row.Ref)
		if err != nil {
			return nil, err
		}

		definition := &struct{ Spec meta.ResourceDefinitionSpec }{}
		if yaml.Unmarshal([]byte(detail.YAML), definition) == nil && definition.Spec.Type != "" { // what can not be read has no name
			all = append(all, &definition.Spec)
		}
	}

	return kinds.Of(all), nil
}

func pointer(kind kinds.Kind, id resource.ID) resource.Metadata {
	return resource.NewMetadata(kind.Namespace, kind.Type, id, resource.VersionUndefined)
}
