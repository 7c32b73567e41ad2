package apply

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.yaml.in/yaml/v4"
)

// metadataFields are those that the contract writes. Times are the state's, and not read.
var metadataFields = []string{
	"namespace", "type", "id", "version", "owner", "phase", "created", "updated", "labels", "annotations", "finalizers",
}

// mostEntries is how many labels, annotations or finalizers a resource may have: the contract copies all of them for each that is added.
const mostEntries = 1000

// metadata reads the metadata of a document, and notes in it what is given. It returns nil if it does not say of which type
// the resource is: then nothing can be said of the spec.
func (r *reader) metadata(node *yaml.Node, d *document) *resource.Metadata {
	fields := r.fields(node, "metadata", metadataFields)

	for _, name := range []string{"type", "id"} {
		if node.Kind == yaml.MappingNode && fields[name] == nil {
			r.fault(node, "metadata."+name, "is missing")
		}
	}

	text := func(name string) string {
		value := fields[name]

		switch {
		case value == nil:
			return ""
		case value.Kind != yaml.ScalarNode:
			r.fault(value, "metadata."+name, "has to be a text")

			return ""
		default:
			return value.Value
		}
	}

	version := r.version(fields["version"], text("version"))
	md := resource.NewMetadata(text("namespace"), text("type"), text("id"), version)
	d.version = !version.Equal(resource.VersionUndefined)

	if owner := text("owner"); owner != "" {
		r.fault(fields["owner"], "metadata.owner", fmt.Sprintf("what belongs to %s is for it to write; leave the owner out to have a resource of nobody", owner))
	}

	if phase := text("phase"); phase != "" && phase != resource.PhaseRunning.String() {
		r.fault(fields["phase"], "metadata.phase", fmt.Sprintf("is %q; only what is %q can be applied", phase, resource.PhaseRunning))
	}

	d.labels = r.pairs(fields["labels"], "metadata.labels", md.Labels().Set)
	d.annotations = r.pairs(fields["annotations"], "metadata.annotations", md.Annotations().Set)

	if list := fields["finalizers"]; list != nil {
		r.finalizers(list, &md)
	}

	if md.Type() == "" {
		return nil
	}

	return &md
}

func (r *reader) version(at *yaml.Node, text string) resource.Version {
	if text == "" || text == resource.VersionUndefined.String() {
		return resource.VersionUndefined
	}

	version, err := resource.ParseVersion(text)
	if err != nil {
		r.fault(at, "metadata.version", fmt.Sprintf("%q is no version: a number, or leave it out", text))
	}

	return version
}

// pairs reads labels or annotations, and tells whether there are any in the document.
func (r *reader) pairs(node *yaml.Node, path string, set func(key, value string)) bool {
	if node == nil || node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		return false
	}

	if node.Kind != yaml.MappingNode {
		r.fault(node, path, "has to be texts with names")

		return false
	}

	r.unique(node, path)

	if len(node.Content)/2 > mostEntries {
		r.fault(node, path, fmt.Sprintf("has more than %d texts", mostEntries))

		return true
	}

	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]

		if key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode {
			r.fault(key, join(path, key.Value), "has to be a text with a name")

			continue
		}

		set(key.Value, value.Value)
	}

	return true
}

func (r *reader) finalizers(node *yaml.Node, md *resource.Metadata) {
	if node.Kind != yaml.SequenceNode {
		r.fault(node, "metadata.finalizers", "has to be a list")

		return
	}

	if len(node.Content) > mostEntries {
		r.fault(node, "metadata.finalizers", fmt.Sprintf("has more than %d texts", mostEntries))

		return
	}

	for _, item := range node.Content {
		if item.Kind != yaml.ScalarNode {
			r.fault(item, "metadata.finalizers", "has to be a list of texts")

			continue
		}

		md.Finalizers().Add(item.Value)
	}
}
