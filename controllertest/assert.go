package controllertest

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// Get returns the resource, which has to be there.
func Get[T resource.Resource](w *World, ptr resource.Pointer) T {
	res, err := w.core.Get(w.Context(), ptr)
	if err != nil {
		w.Fatalf("%s should be there: %s", short(ptr), err)
	}

	return typed[T](w, res)
}

// List returns the resources of a kind, in order of their ids.
func List[T resource.Resource](w *World, kind resource.Kind, opts ...state.ListOption) []T {
	list, err := w.core.List(w.Context(), kind, opts...)
	if err != nil {
		w.Fatalf("%s can not be listed: %s", shortType(kind.Type()), err)
	}

	all := make([]T, len(list.Items))
	for i, res := range list.Items {
		all[i] = typed[T](w, res)
	}

	return all
}

// Gone asserts that the resource is not there.
func Gone(w *World, ptr resource.Pointer) {
	res, err := w.core.Get(w.Context(), ptr)

	switch {
	case state.IsNotFoundError(err):
	case err != nil:
		w.Fatalf("%s can not be read: %s", short(ptr), err)
	default:
		w.Fatalf("%s should not be there: %s", short(ptr), describe("found", res))
	}
}

// Await waits until the resource is there and the condition returns nil, and returns it. It waits on the state and not on
// time: when the world has settled and the condition still returns an error, the run ends with that.
func Await[T resource.Resource](w *World, ptr resource.Pointer, condition func(T) error) T {
	met := func() (T, error) {
		var none T

		res, err := w.core.Get(w.Context(), ptr)
		if err != nil {
			return none, err
		}

		found, ok := res.(T)
		if !ok {
			return none, fmt.Errorf("it is a %T", res)
		}

		return found, condition(found)
	}

	var (
		found T
		err   error
	)

	w.await(func() bool {
		found, err = met()

		return err == nil
	})

	if err != nil {
		w.Fatalf("the world has settled, but %s is not what is waited for: %s", short(ptr), err)
	}

	return found
}

func typed[T resource.Resource](w *World, res resource.Resource) T {
	t, ok := res.(T)
	if !ok {
		w.Fatalf("%s is a %T, not a %s", short(res.Metadata()), res, fmt.Sprintf("%T", *new(T)))
	}

	return t
}
