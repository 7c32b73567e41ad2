// Package kinds owns the names of resource types: which type is meant by what somebody has typed, what is near it, and what the
// definition of a type says about showing its resources.
//
// The package starts no goroutine.
package kinds

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
)

// Kinds are the types that a state has definitions of.
type Kinds struct {
	definitions []*meta.ResourceDefinitionSpec
}

// Load reads the definitions.
func Load(ctx context.Context, st state.CoreState) (*Kinds, error) {
	list, err := safe.StateList[*meta.ResourceDefinition](ctx, state.WrapCore(st),
		resource.NewMetadata(meta.NamespaceName, meta.ResourceDefinitionType, "", resource.VersionUndefined))
	if err != nil {
		return nil, err
	}

	var definitions []*meta.ResourceDefinitionSpec

	for definition := range list.All() {
		definitions = append(definitions, definition.TypedSpec())
	}

	return Of(definitions), nil
}

// Of returns the types of definitions that somebody else has read.
func Of(definitions []*meta.ResourceDefinitionSpec) *Kinds {
	definitions = slices.Clone(definitions)
	slices.SortFunc(definitions, func(a, b *meta.ResourceDefinitionSpec) int { return cmp.Compare(a.Type, b.Type) })

	return &Kinds{definitions}
}

// Kind is a type, and what is known of it.
type Kind struct {
	Type resource.Type
	// Namespace is the one to look in when nobody says which. It may be empty.
	Namespace resource.Namespace
	// Columns are what a table shows of the spec.
	Columns []meta.PrintColumn
	// Secret says why contents are not to be shown, or is empty.
	Secret string
}

// Find returns the type that a name stands for: the full name of the type, its name without what comes behind the dot, the
// singular of that, or an alias; whether letters are small or capital does not matter. The error is an [*UnknownError] or an
// [*AmbiguousError].
func (k *Kinds) Find(name string) (Kind, error) {
	lower := strings.ToLower(name)

	var found []*meta.ResourceDefinitionSpec

	for _, definition := range k.definitions {
		if strings.ToLower(definition.Type) == lower {
			return kindOf(definition), nil // the full name is never ambiguous
		}

		if slices.Contains(namesOf(definition), lower) {
			found = append(found, definition)
		}
	}

	switch len(found) {
	case 0:
		return Kind{}, &UnknownError{name, k.similar(lower)}
	case 1:
		return kindOf(found[0]), nil
	default:
		err := &AmbiguousError{Name: name}
		for _, definition := range found {
			err.Types = append(err.Types, definition.Type)
		}

		return Kind{}, err
	}
}

// Undefined is a type that has no definition. Nobody can say whether its contents are a secret, so they are not shown.
func Undefined(typ resource.Type) Kind {
	return Kind{Type: typ, Secret: "its type has no definition that would say whether it is sensitive"}
}

// Names are all names of all types, each once and in order; those that belong to several types are left out.
func (k *Kinds) Names() []string {
	count := map[string]int{}

	for _, definition := range k.definitions {
		for _, name := range namesOf(definition) {
			count[name]++
		}
	}

	var names []string

	for name, times := range count {
		if times == 1 {
			names = append(names, name)
		}
	}

	slices.Sort(names)

	return names
}

func kindOf(definition *meta.ResourceDefinitionSpec) Kind {
	kind := Kind{Type: definition.Type, Namespace: definition.DefaultNamespace, Columns: definition.PrintColumns}

	if definition.Sensitivity != meta.NonSensitive {
		kind.Secret, kind.Columns = "its type is sensitive", nil
	}

	return kind
}

// namesOf are the names of a type, in small letters, each once.
func namesOf(definition *meta.ResourceDefinitionSpec) []string {
	plural, _, _ := strings.Cut(definition.Type, ".")
	all := append([]string{definition.Type, plural, definition.DisplayType}, definition.Aliases...)
	all = append(all, definition.AllAliases...)

	for i := range all {
		all[i] = strings.ToLower(all[i])
	}

	slices.Sort(all)

	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}

// similar are the names that come near one, the nearest first. Of each type there is one.
func (k *Kinds) similar(name string) []string {
	return Nearest(name, func(yield func([]string) bool) {
		for _, definition := range k.definitions {
			if !yield(namesOf(definition)) {
				return
			}
		}
	})
}

// UnknownError is a name that no type has.
type UnknownError struct {
	Name string
	// Similar are names that come near it.
	Similar []string
}

// Error implements error.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("there is no resource type %q", e.Name)

	if len(e.Similar) > 0 {
		text += "; there is " + strings.Join(e.Similar, ", ")
	}

	return text
}

// AmbiguousError is a name that several types have.
type AmbiguousError struct {
	Name string
	// Types are their full names.
	Types []resource.Type
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q may be any of %s: say which", e.Name, strings.Join(e.Types, ", "))
}
