package operator

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// misspelt returns a name in a patch that differs from that of a field in upper and lower case alone, and the name of the field.
// The decoder of JSON takes one for the other, but a merge does not: both would be in what is merged, and the old one could win.
func misspelt(typ reflect.Type, patch json.RawMessage) (wrong, right string) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}

	if !isObject(patch) || decodesItself(typ) {
		return "", ""
	}

	var changes map[string]json.RawMessage
	if json.Unmarshal(patch, &changes) != nil {
		return "", "" // the merge tells
	}

	var fields map[string]reflect.Type

	switch typ.Kind() {
	case reflect.Struct:
		fields = fieldsOf(typ)
	case reflect.Map:
	default:
		return "", ""
	}

	for name, change := range changes {
		within, known := fields[name]

		switch {
		case typ.Kind() == reflect.Map:
			within = typ.Elem()
		case !known:
			for field := range fields {
				if strings.EqualFold(field, name) {
					return name, field
				}
			}

			continue // the decoder tells
		}

		if wrong, right := misspelt(within, change); wrong != "" {
			return wrong, right
		}
	}

	return "", ""
}

// decodesItself tells whether a type has a way of its own to be read from JSON.
func decodesItself(typ reflect.Type) bool {
	pointer := reflect.PointerTo(typ)

	return pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// fieldsOf returns the fields of a struct by their names in JSON.
func fieldsOf(typ reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}

	for _, field := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")

		switch {
		case !field.IsExported() || name == "-" || field.Anonymous && name == "":
		case name != "":
			fields[name] = field.Type
		default:
			fields[field.Name] = field.Type
		}
	}

	return fields
}
