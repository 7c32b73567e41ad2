package operator

import (
	"strings"

	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// Labels that a child carries.
const (
	// ParentLabel names the primary that a child belongs to: type, namespace and id, with slashes between.
	ParentLabel = "switchyard.run/parent"
	// ParentUIDLabel says in which of its lives the primary made the child: see [Incarnation].
	ParentUIDLabel = "switchyard.run/parent-uid"
)

// ownedKind is a kind of children.
type ownedKind struct {
	kind     reduced.Kind
	declared bool // the namespace was said
	homeless bool // the definition of the type has none
	shared   bool
}

// Owns declares a kind of children: resources that handlers make with [Ensure], each of which belongs to one primary. A child
// that changes wakes its primary, and all children are gone before the primary is. They are in the namespace of the primary,
// unless [InNamespace] says otherwise.
func Owns[C generic.ResourceWithRD](c Definition, opts ...KindOption) {
	def := c.define()

	rd := declare[C](def, "an owned kind")

	o := def.options("the owned kind "+rd.Type, opts)
	owned := &ownedKind{kind: reduced.Kind{Namespace: o.namespace, Type: rd.Type}, declared: o.hasNamespace, shared: o.shared}

	if !o.hasNamespace {
		owned.kind.Namespace, owned.homeless = rd.DefaultNamespace, rd.DefaultNamespace == ""
	}

	if o.hasNamespace && o.namespace == "" {
		def.problem("InNamespace of the owned kind %s is empty: name one", rd.Type)
	}

	def.owned = append(def.owned, owned)
}

// parentText is what [ParentLabel] says of a primary.
func parentText(kind reduced.Kind, id resource.ID) string {
	return kind.Type + "/" + kind.Namespace + "/" + id
}

// parentID returns the id of the primary that labels name, if it is of the kind.
func parentID(kind reduced.Kind, labels *resource.Labels) (resource.ID, bool) {
	text, ok := labels.Get(ParentLabel)
	if !ok {
		return "", false
	}

	id, ok := strings.CutPrefix(text, parentText(kind, ""))

	return id, ok && id != ""
}
