package cache

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// Lend returns a resource of a view itself, which must not be changed, as its type. It returns a [NotFoundError] or a
// [TypeError]. See [View.Lend].
func Lend[T resource.Resource](v View, id resource.ID) (T, error) {
	res, ok := v.Lend(id)
	if !ok {
		var none T

		return none, v.missing(id)
	}

	return typed[T](res)
}

// Typed yields resources as their type, in the same order. For one of another type it yields a [TypeError] and goes on.
//
//	for machine, err := range cache.Typed[*Machine](view.All()) {
func Typed[T resource.Resource](resources iter.Seq[resource.Resource]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for res := range resources {
			if !yield(typed[T](res)) {
				return
			}
		}
	}
}

func typed[T resource.Resource](res resource.Resource) (T, error) {
	t, ok := res.(T)
	if !ok {
		return t, &TypeError{Key: reduced.KeyOf(res.Metadata()), Want: reflect.TypeFor[T](), Got: reflect.TypeOf(res)}
	}

	return t, nil
}

// TypeError says that a resource is of another Go type than it was asked for as.
type TypeError struct {
	Key       reduced.Key
	Want, Got reflect.Type
}

// Error names the resource and both types.
func (e *TypeError) Error() string {
	return fmt.Sprintf("resource %s is a %s, it was asked for as a %s", e.Key, e.Got, e.Want)
}
