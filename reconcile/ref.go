package reconcile

import (
	"cmp"
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
)

// Ref is the identity of a resource, and all that a reconciler of a [Manager] is handed: it reads the rest.
type Ref struct {
	// Kind is the type of the resource, as "Services.example.dev".
	Kind resource.Type
	// Scope is its namespace.
	Scope resource.Namespace
	// Name is its id.
	Name resource.ID
}

var _ resource.Pointer = Ref{}

// RefOf returns the identity of a resource.
func RefOf(ptr resource.Pointer) Ref {
	return Ref{Kind: ptr.Type(), Scope: ptr.Namespace(), Name: ptr.ID()}
}

// Type implements [resource.Pointer], so that a Ref can be read with the state's Get.
func (r Ref) Type() resource.Type { return r.Kind }

// Namespace implements [resource.Pointer].
func (r Ref) Namespace() resource.Namespace { return r.Scope }

// ID implements [resource.Pointer].
func (r Ref) ID() resource.ID { return r.Name }

// String renders it as "kind(scope/name)", as the contract renders pointers.
func (r Ref) String() string {
	return fmt.Sprintf("%s(%s/%s)", r.Kind, cmp.Or(r.Scope, "-"), cmp.Or(r.Name, "-"))
}
