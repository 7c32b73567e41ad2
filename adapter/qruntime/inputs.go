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
	// mapped is the kind of the input by which resources are mapped, if there is one.
	mapped controller.InputKind

	// duties are what there may be to do with a resource, by the job.
	duties [2]duty
}

// duty is what is to be done with a resource of a kind, which has the number among the inputs.
type duty struct {
	kind   *inputKind
	number uint32
	job    job
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
			all[at].mapped = in.Kind

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

		for at := range all[i].duties {
			all[i].duties[at] = duty{kind: &all[i], number: uint32(i), job: job(at)}
		}
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

// primary returns the item that reconciles a resource, or an error that names the resource if it is not a primary input.
func (all inputs) primary(key reduced.Key) (item, error) {
	number, ok := all.find(key.Kind)
	if !ok || !all[number].primary(key.ID) {
		return item{}, &NotPrimaryError{Resource: key.Pointer()}
	}

	return item{id: key.ID, kind: uint32(number)}, nil
}

// primary tells whether a resource of the kind is to be reconciled.
func (in *inputKind) primary(id resource.ID) bool {
	if in.whole {
		return true
	}

	_, named := slices.BinarySearch(in.ids, id)

	return named
}

// NotPrimaryError says that a resource was to be reconciled that is not a primary input of the controller.
type NotPrimaryError struct{ Resource resource.Pointer }

// Error names the resource.
func (e *NotPrimaryError) Error() string {
	return reduced.KeyOf(e.Resource).String() + " is not a primary input of the controller: declare it as InputQPrimary or leave it out"
}
