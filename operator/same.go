package operator

import (
	"reflect"

	"github.com/cosi-project/runtime/pkg/resource"
)

// same tells whether what is desired is there already. Empty maps and slices are taken for none: on its way to a state and
// back an empty one becomes none, and to write it again and again would come to nothing.
func same(current, desired resource.Resource) bool {
	if resource.Equal(current, desired) {
		return true
	}

	if !current.Metadata().Equal(*desired.Metadata()) {
		return false
	}

	a, b := current.Spec(), desired.Spec()
	if _, own := a.(interface{ Equal(any) bool }); own || reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}

	return alike(reflect.ValueOf(a), reflect.ValueOf(b))
}

// alike tells whether two values of one type are the same but for maps and slices that are empty in one and nil in the other.
func alike(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}

		return a.Elem().Type() == b.Elem().Type() && (a.Kind() == reflect.Pointer && a.Pointer() == b.Pointer() || alike(a.Elem(), b.Elem()))
	case reflect.Struct:
		return alikeFields(a, b)
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}

		for i := range a.Len() {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}

		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}

		for _, key := range a.MapKeys() {
			if other := b.MapIndex(key); !other.IsValid() || !alike(a.MapIndex(key), other) {
				return false
			}
		}

		return true
	default:
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
}

// alikeFields compares structs. Those that keep something to themselves are compared as a whole: nobody else knows what it means.
func alikeFields(a, b reflect.Value) bool {
	for i := range a.NumField() {
		if !a.Type().Field(i).IsExported() {
			return reflect.DeepEqual(a.Interface(), b.Interface())
		}
	}

	for i := range a.NumField() {
		if !alike(a.Field(i), b.Field(i)) {
			return false
		}
	}

	return true
}
