package qruntime

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// inputs are the kinds on which a controller has inputs, in order. They do not change.
type inputs []inputKind

// inputKind is one of them, with what of it the controller reconciles.
type inputKind struct {
	reduced.Kind

	// whole tells that all resources are primary inputs, ids which are otherwise.
	whole bool
	ids   []resource.ID
}

func inputsOf(declared []controller.Input) inputs {
	all := make(inputs, 0, len(declared))

	for _, in := range declared {
		kind := reduced.Kind{Namespace: in.Namespace, Type: in.Type}

		at, known := all.find(kind)
		if !known {
			all = slices.Insert(all, at, inputKind{Kind: kind})
		}

		if in.Kind != controller.InputQPrimary {
			continue
		}

		if id, ok := in.ID.Get(); ok {
			all[at].ids = append(all[at].ids, id)
		} else {
			all[at].whole = true
		}
	}

	for i := range all {
		slices.Sort(all[i].ids)
	}

	return all
}

// find returns the number of a kind, or where it would be.
func (all inputs) find(kind reduced.Kind) (number int, ok bool) {
	if len(all) > 0 && all[0].Kind == kind {
		return 0, true // most have one or two
	}

	return slices.BinarySearchFunc(all, kind, func(in inputKind, kind reduced.Kind) int { return in.Kind.Compare(kind) })
}

// item returns the item that reconciles a resource, if it is a primary input.
func (all inputs) item(key reduced.Key) (it item, primary bool) {
	number, ok := all.find(key.Kind)
	if !ok {
		return item{}, false
	}

	in := &all[number]
	_, named := slices.BinarySearch(in.ids, key.ID)

	return item{id: key.ID, kind: uint32(number)}, in.whole || named
}

// primary returns the item that reconciles a resource, or an error that names the resource if it is not a primary input.
func (all inputs) primary(key reduced.Key) (item, error) {
	it, primary := all.item(key)
	if !primary {
		return item{}, &NotPrimaryError{Resource: key.Pointer()}
	}

	return it, nil
}

// key returns the resource of an item.
func (all inputs) key(it item) reduced.Key {
	return reduced.Key{Kind: all[it.kind].Kind, ID: it.id}
}

// NotPrimaryError says that a resource was to be reconciled that is not a primary input of the controller.
type NotPrimaryError struct{ Resource resource.Pointer }

// Error names the resource.
func (e *NotPrimaryError) Error() string {
	return reduced.KeyOf(e.Resource).String() + " is not a primary input of the controller: declare it as InputQPrimary or leave it out"
}
