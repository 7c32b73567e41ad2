package apply

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"go.yaml.in/yaml/v4"
)

// mostFaults is how many faults are told. Who has more of them has sent something else than he wanted to.
const mostFaults = 100

// reader reads one document, and notes what is wrong with it.
type reader struct {
	number int
	// faults are the first ones, one more than are told.
	faults []Fault
}

// full tells whether no more faults are noted.
func (r *reader) full() bool { return len(r.faults) > mostFaults }

func (r *reader) fault(at *yaml.Node, field, message string) {
	if r.full() {
		return
	}

	r.faults = append(r.faults, Fault{Document: r.number, Field: field, Line: at.Line, Column: at.Column, Message: message})
}

// document reads a resource. It returns nil if not even its name is known.
func (r *reader) document(root *yaml.Node) *document {
	fields := r.fields(root, "", []string{"metadata", "spec"})

	for _, name := range []string{"metadata", "spec"} {
		if root.Kind == yaml.MappingNode && fields[name] == nil {
			r.fault(root, name, "is missing")
		}
	}

	if fields["metadata"] == nil {
		return nil
	}

	d := &document{number: r.number}

	md := r.metadata(fields["metadata"], d)
	if md == nil {
		return nil
	}

	d.res = r.resource(md, fields["metadata"])

	if d.res == nil {
		return nil
	}

	if spec := fields["spec"]; spec != nil {
		r.spec(spec, d.res)
	}

	return d
}

// fields takes a mapping apart, and finds fields that are not known, or there twice.
func (r *reader) fields(node *yaml.Node, path string, known []string) map[string]*yaml.Node {
	fields := map[string]*yaml.Node{}

	if node.Kind != yaml.MappingNode {
		r.fault(node, path, "has to be a group of fields: "+strings.Join(known, ", "))

		return fields
	}

	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		field := join(path, key.Value)

		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			r.fault(key, field, "is not known; known are "+strings.Join(known, ", "))
		case fields[key.Value] != nil:
			r.fault(key, field, fmt.Sprintf("is there twice, first in line %d", fields[key.Value].Line))
		default:
			fields[key.Value] = value
		}
	}

	return fields
}

func join(path, name string) string {
	if path == "" {
		return name
	}

	return path + "." + name
}

// resource returns an empty resource of a type of the contract's registry. The registry of types that are registered
// dynamically makes resources only out of their wire format; of nothing it makes an empty one of either kind.
func (r *reader) resource(md *resource.Metadata, at *yaml.Node) resource.Resource {
	wired, err := protobuf.Unmarshal(&v1alpha1.Resource{
		Metadata: &v1alpha1.Metadata{
			Namespace: md.Namespace(), Type: md.Type(), Id: md.ID(), Version: md.Version().String(), Phase: md.Phase().String(),
			Annotations: md.Annotations().Raw(), Labels: md.Labels().Raw(), Finalizers: *md.Finalizers(),
		},
		Spec: &v1alpha1.Spec{},
	})

	var res resource.Resource

	if err == nil {
		res, err = protobuf.UnmarshalResource(wired)
	}

	if err != nil {
		r.fault(at, "metadata", "can not be read: "+err.Error())

		return nil
	}

	if _, still := res.(*protobuf.Resource); still {
		r.fault(valueOf(at, "type"), "metadata.type", fmt.Sprintf("there is no type %q, or the program has not registered it", md.Type()))

		return nil
	}

	if md.Namespace() != "" {
		return res
	}

	provider, ok := res.(meta.ResourceDefinitionProvider)
	if !ok || provider.ResourceDefinition().DefaultNamespace == "" {
		r.fault(at, "metadata.namespace", "is missing, and the type has no default")

		return nil
	}

	named := resource.NewMetadata(provider.ResourceDefinition().DefaultNamespace, md.Type(), md.ID(), md.Version())
	*named.Labels(), *named.Annotations(), *named.Finalizers() = *md.Labels(), *md.Annotations(), *md.Finalizers()
	*res.Metadata() = named

	return res
}

// valueOf is the value of a field, or the mapping if it has no such field.
func valueOf(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}

	return mapping
}

// unknownField is how the library tells of a field that a type does not have.
var unknownField = regexp.MustCompile(`^field (.*) not found in type .*$`)

// unreadable is what is said of a value that is not to be repeated.
const unreadable = "can not be read as what belongs there; it is not shown, since the type is sensitive"

// sensitive tells whether values of a resource are not to be repeated to whoever reads what is wrong with them.
func sensitive(res resource.Resource) bool {
	provider, ok := res.(meta.ResourceDefinitionProvider)

	return !ok || provider.ResourceDefinition().Sensitivity == meta.Sensitive
}

// spec reads a spec. What it does while it is read is no concern of who sends it.
func (r *reader) spec(node *yaml.Node, res resource.Resource) {
	said := func(message string) string {
		if sensitive(res) {
			return unreadable
		}

		return message
	}

	defer func() {
		if panicked := recover(); panicked != nil {
			r.fault(node, "spec", said(fmt.Sprintf("can not be read: %v", panicked)))
		}
	}()

	r.unique(node, "spec")

	err := node.Load(res.Spec(), yaml.WithKnownFields(), yaml.WithUniqueKeys(false))

	var several *yaml.LoadErrors

	switch {
	case err == nil:
	case errors.As(err, &several):
		for _, one := range several.Errors {
			if r.full() {
				return
			}

			message := said(one.Err.Error())
			if unknownField.MatchString(one.Err.Error()) {
				message = "is not known"
			}

			field := "spec"
			if found := fieldAt(node, "spec", one.Line, one.Column); found != "" {
				field = found
			}

			r.fault(&yaml.Node{Line: one.Line, Column: one.Column}, field, message)
		}
	default:
		r.fault(node, "spec", said("can not be read: "+err.Error()))
	}
}

// fieldAt finds the field whose name, or whose value, stands at a place.
func fieldAt(node *yaml.Node, path string, line, column int) string {
	if node.Line == line && node.Column == column && node.Kind != yaml.MappingNode {
		return path
	}

	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			field := join(path, key.Value)

			if key.Line == line && key.Column == column {
				return field
			}

			if found := fieldAt(node.Content[i+1], field, line, column); found != "" {
				return found
			}
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			if found := fieldAt(item, fmt.Sprintf("%s[%d]", path, i), line, column); found != "" {
				return found
			}
		}
	}

	if node.Line == line && node.Column == column {
		return path
	}

	return ""
}
