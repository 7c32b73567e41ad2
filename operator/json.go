package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
)

// EnsureJSON is [Ensure] for kinds whose spec is written as JSON: the patch is merged into the spec of the child as RFC 7386
// says. Objects are merged, lists are replaced, null removes, and what the patch does not name stays as it is. The patch is
// JSON text, as []byte, json.RawMessage or string, or anything that is marshalled to it.
//
// A patch that names a field that the spec does not have is refused, and so is a spec that JSON does not carry whole.
func EnsureJSON[C generic.ResourceWithRD](ctx context.Context, c Pass, child C, patch any) error {
	text, err := patchText(patch)
	if err != nil {
		return refusedFor(err, "the patch of %s is no JSON", typeName[C]())
	}

	_, err = ensureChild(ctx, c, child, func(child C) error { return merge(child, text) })

	return err
}

func patchText(patch any) (text []byte, err error) {
	switch patch := patch.(type) {
	case []byte:
		text = patch
	case string:
		text = []byte(patch)
	default:
		if text, err = json.Marshal(patch); err != nil {
			return nil, err
		}
	}

	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}

	if fields == nil {
		return nil, fmt.Errorf("it is null, and has to be an object")
	}

	return text, nil
}

// merge merges a patch into the spec of a resource.
func merge(res resource.Resource, patch []byte) error {
	current, err := json.Marshal(res.Spec())
	if err != nil {
		return refusedFor(err, "the spec of %s can not be written as JSON", typeNameOf(res))
	}

	// What JSON does not carry would be lost with the first patch, and nobody would know.
	if err := decode(res, current, func(spec any) error {
		if !carried(reflect.ValueOf(res.Spec()), reflect.ValueOf(spec)) {
			return refused("the spec of %s is not carried whole by JSON: use Ensure", typeNameOf(res))
		}

		return nil
	}); err != nil {
		return err
	}

	if wrong, right := misspelt(reflect.TypeOf(res.Spec()), patch); wrong != "" {
		return refused("the patch says %q where the spec of %s has %q: write it like that", wrong, typeNameOf(res), right)
	}

	merged, err := mergePatch(current, patch)
	if err != nil {
		return refusedFor(err, "the patch can not be merged into the spec of %s", typeNameOf(res))
	}

	return decode(res, merged, func(spec any) error {
		reflect.ValueOf(res.Spec()).Elem().Set(reflect.ValueOf(spec).Elem())

		return nil
	})
}

// mergePatch is MergePatch of RFC 7386. Values that it does not look into go through as they are written, nulls in lists and large
// numbers too.
func mergePatch(target, patch json.RawMessage) (json.RawMessage, error) {
	if !isObject(patch) {
		return patch, nil
	}

	var changes map[string]json.RawMessage
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}

	fields := map[string]json.RawMessage{}

	if isObject(target) {
		if err := json.Unmarshal(target, &fields); err != nil {
			return nil, err
		}
	}

	for name, change := range changes {
		if string(change) == "null" {
			delete(fields, name)

			continue
		}

		merged, err := mergePatch(fields[name], change)
		if err != nil {
			return nil, err
		}

		fields[name] = merged
	}

	return json.Marshal(fields)
}

func isObject(text json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// decode decodes a spec of the resource's type from nothing.
func decode(res resource.Resource, text []byte, then func(spec any) error) error {
	typ := reflect.TypeOf(res.Spec())
	if typ == nil || typ.Kind() != reflect.Pointer {
		return refused("the Spec of %s can not be set: have it return a pointer", typeNameOf(res))
	}

	spec := reflect.New(typ.Elem())

	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()

	if err := decoder.Decode(spec.Interface()); err != nil {
		return refusedFor(err, "the spec of %s can not be what the patch makes of it", typeNameOf(res))
	}

	return then(spec.Interface())
}

// carried tells whether a value has come through JSON as it was. Nothing and empty are the same.
func carried(before, after reflect.Value) bool {
	switch before.Kind() {
	case reflect.Pointer, reflect.Interface:
		if before.IsNil() || after.IsNil() {
			return before.IsNil() == after.IsNil()
		}

		return carried(before.Elem(), after.Elem())
	case reflect.Struct:
		if _, own := before.Interface().(json.Marshaler); own {
			return true // it knows what it is about
		}

		for i := range before.NumField() {
			if !before.Type().Field(i).IsExported() {
				if !before.Field(i).IsZero() {
					return false
				}

				continue
			}

			if !carried(before.Field(i), after.Field(i)) {
				return false
			}
		}

		return true
	case reflect.Map, reflect.Slice:
		if before.Len() == 0 {
			return after.Len() == 0
		}
	}

	return reflect.DeepEqual(before.Interface(), after.Interface())
}
