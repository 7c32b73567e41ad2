// Package reduced owns the small values that travel through the engine instead of whole resources: which kind
// ([Kind]), which resource ([Key]), and what is known about its last change ([Metadata]).
//
// The values keep no resource alive: they hold the strings and the label set of the metadata, not the spec. The
// package starts no goroutine and imports nothing of the engine; every other package may import it.
package reduced

import (
	"cmp"

	"github.com/cosi-project/runtime/pkg/resource"
)

// Kind is a resource namespace and type: what a watch, a cache and an input are about. It is comparable and
// implements [resource.Kind] under other method names, see [Kind.Pointer].
type Kind struct {
	Namespace resource.Namespace
	Type      resource.Type
}

// KindOf reduces any [resource.Kind] to a comparable value.
func KindOf(kind resource.Kind) Kind {
	return Kind{Namespace: kind.Namespace(), Type: kind.Type()}
}

// String renders the kind as "namespace/type".
func (k Kind) String() string {
	return k.Namespace + "/" + k.Type
}

// Compare orders kinds by namespace, then by type.
func (k Kind) Compare(other Kind) int {
	return cmp.Or(cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Type, other.Type))
}

// Pointer returns the kind in the form that calls of [state.CoreState] such as List and WatchKindAggregated take.
//
// [state.CoreState]: https://pkg.go.dev/github.com/cosi-project/runtime/pkg/state#CoreState
func (k Kind) Pointer() resource.Pointer {
	return Key{Kind: k}.Pointer()
}

// Key is the identity of one resource. It is comparable, and the key of every map in the engine that is about
// resources.
type Key struct {
	Kind

	ID resource.ID
}

// KeyOf reduces any [resource.Pointer] to a comparable value.
func KeyOf(ptr resource.Pointer) Key {
	return Key{Kind: KindOf(ptr), ID: ptr.ID()}
}

// String renders the key as "type(namespace/id)", the way the contract renders resources, without a version.
func (k Key) String() string {
	return k.Type + "(" + k.Namespace + "/" + k.ID + ")"
}

// Compare orders keys by kind, then by id.
func (k Key) Compare(other Key) int {
	return cmp.Or(k.Kind.Compare(other.Kind), cmp.Compare(k.ID, other.ID))
}

// Pointer returns the key as the contract's pointer, which controllers are handed.
func (k Key) Pointer() resource.Pointer {
	return pointer{k}
}

// pointer carries a key under the method names of the contract, which Key's fields occupy.
type pointer struct{ key Key }

func (p pointer) Namespace() resource.Namespace { return p.key.Namespace }
func (p pointer) Type() resource.Type           { return p.key.Type }
func (p pointer) ID() resource.ID               { return p.key.ID }

// String renders the pointer like its key.
func (p pointer) String() string { return p.key.String() }
