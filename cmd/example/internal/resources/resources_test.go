package resources_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// fill sets everything below a value to something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1_000_000, 0).UTC()))

			return
		}

		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))

		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), reflect.ValueOf("value"))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	default:
		v.SetInt(7)
	}
}

// spoil changes everything that a copy might share with its original.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoil(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
			v.Index(i).SetZero()
		}
	case reflect.Map:
		v.Clear()
	default:
	}
}

// filled returns a resource of the same type with something in every field.
func filled(t *testing.T, kind meta.ResourceWithRD) resource.Resource {
	t.Helper()

	res := kind.DeepCopy()
	rd := kind.ResourceDefinition()

	*res.Metadata() = resource.NewMetadata(rd.DefaultNamespace, rd.Type, "id", resource.VersionUndefined)
	fill(reflect.ValueOf(res.Spec()).Elem())

	return res
}

func TestEveryTypeTravels(t *testing.T) {
	for _, kind := range resources.All() {
		t.Run(kind.ResourceDefinition().Type, func(t *testing.T) {
			sent := filled(t, kind)

			message, err := protobuf.FromResource(sent)
			require.NoError(t, err)

			wire, err := message.Marshal()
			require.NoError(t, err)

			received, err := protobuf.Unmarshal(wire)
			require.NoError(t, err)

			back, err := protobuf.UnmarshalResource(received)
			require.NoError(t, err)

			assert.IsType(t, sent, back)
			assert.True(t, resource.Equal(sent, back), "sent %+v, received %+v", sent.Spec(), back.Spec())
		})
	}
}

func TestEveryCopyIsDeep(t *testing.T) {
	for _, kind := range resources.All() {
		t.Run(kind.ResourceDefinition().Type, func(t *testing.T) {
			original, untouched := filled(t, kind), filled(t, kind)

			spoil(reflect.ValueOf(original.DeepCopy().Spec()).Elem())

			assert.Equal(t, untouched.Spec(), original.Spec())
		})
	}
}

func TestEveryColumnShowsAField(t *testing.T) {
	for _, kind := range resources.All() {
		rd := kind.ResourceDefinition()

		text, err := yaml.Marshal(filled(t, kind).Spec())
		require.NoError(t, err)

		fields := make(map[string]any)
		require.NoError(t, yaml.Unmarshal(text, &fields))

		require.NotEmpty(t, rd.PrintColumns, rd.Type)

		for _, column := range rd.PrintColumns {
			// Of a field of a condition, the conditions are what is looked for.
			path, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(column.JSONPath, "{."), "}"), "[")
			above, name, nested := strings.Cut(path, ".")

			in := fields
			if nested {
				in, _ = fields[above].(map[string]any)
			} else {
				name = above
			}

			assert.Contains(t, in, name, "%s: %s", rd.Type, column.Name)
		}
	}
}

func TestTypesCanBeLookedUp(t *testing.T) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))
	require.NoError(t, resources.Register(t.Context(), st))

	definitions, err := safe.StateListAll[*meta.ResourceDefinition](t.Context(), st)
	require.NoError(t, err)

	aliases := make(map[string]string)

	for definition := range definitions.All() {
		for _, alias := range definition.TypedSpec().AllAliases {
			if other, taken := aliases[alias]; taken {
				assert.Failf(t, "an alias stands for two types", "%s: %s and %s", alias, other, definition.TypedSpec().Type)
			}

			aliases[alias] = definition.TypedSpec().Type
		}
	}

	assert.Equal(t, resources.ServiceType, aliases["svc"])
	assert.Equal(t, resources.MachineStatusType, aliases["machinestatus"])
}

func TestLine(t *testing.T) {
	assert.Equal(t, "a b c", resources.Line("a\n\tb  c "))
	assert.Len(t, []rune(resources.Line(strings.Repeat("ä", 200))), 100)
}
