package rivalry

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-run/switchyard/internal/index"
)

const (
	// mostLeaves is how many fields of a resource are told apart. What is beyond them counts as one, named rest.
	mostLeaves = 128
	rest       = "(others)"
	// deepest is how deep into a spec fields are told apart. What is below is a part of them.
	deepest = 6
	// mostValues is how many values of a spec are looked at, and bottom how deep they may lie. What is beyond is not seen.
	mostValues = 8192
	bottom     = 24
	// longestPath is how many bytes of a path are kept.
	longestPath = 120
)

// walk goes through a spec, and takes down its fields. It calls nothing of the spec's own, and reads what is not exported
// only where nothing else is to be had.
type walk struct {
	leaves []leaf
	others uint64
	seen   int
}

// leaf takes down a field.
func (w *walk) leaf(path string, hash uint64) {
	if len(path) > longestPath {
		path = path[:longestPath]
	}

	if len(w.leaves) < mostLeaves {
		w.leaves = append(w.leaves, leaf{path, max(hash, 1)})
	} else {
		w.others = index.Hash(path, w.others^hash)
	}
}

// finish returns what was taken down, in order of path.
func (w *walk) finish() []leaf {
	if w.others != 0 {
		w.leaves = append(w.leaves, leaf{rest, w.others})
	}

	slices.SortStableFunc(w.leaves, func(a, b leaf) int { return cmp.Compare(a.path, b.path) })

	return w.leaves
}

// value takes down what lies under a path: each field of a struct and each entry of a map by itself, all else as a whole.
func (w *walk) value(path string, v reflect.Value, depth int) {
	v = pointedTo(v)

	if depth < deepest {
		switch {
		case v.Kind() == reflect.Struct && open(v.Type()):
			w.fields(path, v, depth)

			return
		case v.Kind() == reflect.Map && 0 < v.Len() && v.Len() <= mostLeaves:
			for _, e := range entries(v) {
				w.value(path+"."+e.key, e.value, depth+1)
			}

			return
		}
	}

	w.leaf(path, w.hash(v, 0))
}

// fields takes down the fields of a struct under the names that they have in YAML.
func (w *walk) fields(path string, v reflect.Value, depth int) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}

		tag, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")

		switch {
		case field.Anonymous && tag == "", strings.Contains(options, "inline"), isWrapping(v.Type()):
			w.value(path, v.Field(i), depth)
		case tag != "" && tag != "-":
			w.value(path+"."+tag, v.Field(i), depth+1)
		default:
			w.value(path+"."+strings.ToLower(field.Name), v.Field(i), depth+1)
		}
	}
}

// yamlMarshaler is what shows itself in YAML as something else.
var yamlMarshaler = reflect.TypeFor[interface{ MarshalYAML() (any, error) }]()

// isWrapping tells whether a struct is nothing but a value for whoever sees its YAML, as the contract's wrapping of protobuf
// messages is.
func isWrapping(t reflect.Type) bool {
	return t.NumField() == 1 && t.Field(0).Name == "Value" && reflect.PointerTo(t).Implements(yamlMarshaler)
}

// open tells whether a struct has an exported field.
func open(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return true
		}
	}

	return false
}

func pointedTo(v reflect.Value) reflect.Value {
	for range bottom {
		if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
			break
		}

		v = v.Elem()
	}

	return v
}

// entry is one of a map.
type entry struct {
	key   string
	value reflect.Value
}

// entries returns those of a map in order of key.
func entries(m reflect.Value) []entry {
	all := make(map[string]reflect.Value, m.Len())

	for each := m.MapRange(); each.Next(); {
		all[keyOf(each.Key())] = each.Value()
	}

	list := make([]entry, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, entry{key, all[key]})
	}

	return list
}

func keyOf(v reflect.Value) string {
	switch v = pointedTo(v); {
	case v.Kind() == reflect.String:
		return v.String()
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	default:
		return strconv.FormatUint((&walk{}).hash(v, 0), 16)
	}
}

var timeType = reflect.TypeFor[time.Time]()

// hash sums up a value with all that it holds.
func (w *walk) hash(v reflect.Value, depth int) uint64 {
	v = pointedTo(v)
	w.seen++

	if w.seen > mostValues || depth > bottom {
		return 1
	}

	switch kind := v.Kind(); {
	case kind == reflect.String:
		return index.Hash(v.String(), 1)
	case kind == reflect.Bool:
		return number(present(!v.Bool()))
	case v.CanInt():
		return number(uint64(v.Int()))
	case v.CanUint():
		return number(v.Uint())
	case v.CanFloat():
		return number(math.Float64bits(v.Float()))
	case kind == reflect.Slice, kind == reflect.Array:
		return w.hashList(v, depth)
	case kind == reflect.Map:
		return w.hashMap(v, depth)
	case kind == reflect.Struct:
		return w.hashStruct(v, depth)
	default:
		return 1 // nothing, or nothing that could be told apart
	}
}

func number(n uint64) uint64 { return index.Hash("n", n) }

// both joins the hash of what came before with that of what comes next.
func both(before, next uint64) uint64 { return index.Hash("", before*31+next) }

func (w *walk) hashList(v reflect.Value, depth int) uint64 {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return index.Hash(string(v.Bytes()), 2)
	}

	hash := number(uint64(v.Len()))

	for i := range v.Len() {
		if w.seen > mostValues {
			break
		}

		hash = both(hash, w.hash(v.Index(i), depth+1))
	}

	return hash
}

func (w *walk) hashMap(v reflect.Value, depth int) uint64 {
	hash := number(uint64(v.Len()))

	if v.Len() > mostValues {
		return hash
	}

	for _, e := range entries(v) {
		hash = both(index.Hash(e.key, hash), w.hash(e.value, depth+1))
	}

	return hash
}

// hashStruct sums up the exported fields or, where there are none, those that are there; of a time not the place.
func (w *walk) hashStruct(v reflect.Value, depth int) uint64 {
	all, fields := !open(v.Type()), v.NumField()
	if v.Type() == timeType {
		fields = 2
	}

	hash := number(uint64(fields))

	for i := range fields {
		if all || v.Type().Field(i).IsExported() {
			hash = both(hash, w.hash(v.Field(i), depth+1))
		}
	}

	return hash
}
