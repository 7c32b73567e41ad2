package operator

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// object is a spec that is whatever object JSON can say.
type object map[string]any

func (o object) DeepCopy() object { return maps.Clone(o) }

type objectExtension struct{}

func (objectExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Objects"}
}

func objectOf(t require.TestingT, text string) *typed.Resource[object, objectExtension] {
	res := typed.NewResource[object, objectExtension](resource.NewMetadata("ns", "Objects", "o", resource.VersionUndefined), object{})
	require.NoError(t, json.Unmarshal([]byte(text), res.TypedSpec()))

	return res
}

// The examples of RFC 7386, appendix A. What is no object there stands in a field of one here, since a spec is one; a whole patch
// that is none is refused.
func TestPatchesMergeAsTheRFCSays(t *testing.T) {
	t.Parallel()

	for _, test := range []struct{ spec, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"in":["a","b"]}`, `{"in":["c","d"]}`, `{"in":["c","d"]}`},
		{`{"in":{"a":"b"}}`, `{"in":["c"]}`, `{"in":["c"]}`},
		{`{"in":{"a":"foo"}}`, `{"in":null}`, `{}`},
		{`{"in":{"a":"foo"}}`, `{"in":"bar"}`, `{"in":"bar"}`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`{"in":[1,2]}`, `{"in":{"a":"b","c":null}}`, `{"in":{"a":"b"}}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		res := objectOf(t, test.spec)
		require.NoError(t, merge(res, []byte(test.patch)), test.patch)

		got, err := json.Marshal(res.Spec())
		require.NoError(t, err)
		require.JSONEq(t, test.want, string(got), "%s with %s", test.spec, test.patch)
	}

	for _, patch := range []string{`["c"]`, `null`, `"bar"`, `1`, ``, `{`, `{} {}`} {
		_, err := patchText(patch)
		require.Error(t, err, patch)
	}
}

// merged is what the RFC says a patch makes of a target, word for word.
func merged(target, patch any) any {
	fields, ok := patch.(map[string]any)
	if !ok {
		return patch
	}

	result := map[string]any{}
	if object, ok := target.(map[string]any); ok {
		maps.Copy(result, object)
	}

	for name, value := range fields {
		if value == nil {
			delete(result, name)
		} else {
			result[name] = merged(result[name], value)
		}
	}

	return result
}

// anyJSON draws a value that is at most so deep.
func anyJSON(depth int) *rapid.Generator[any] {
	plain := rapid.OneOf(
		rapid.Just(any(nil)), rapid.Map(rapid.Bool(), asAny[bool]), rapid.Map(rapid.StringN(0, 3, -1), asAny[string]),
		rapid.Map(rapid.Float64Range(-1e6, 1e6), asAny[float64]),
	)
	if depth == 0 {
		return plain
	}

	return rapid.OneOf(plain,
		rapid.Map(rapid.SliceOfN(anyJSON(depth-1), 0, 3), asAny[[]any]),
		rapid.Map(anyObject(depth-1), asAny[map[string]any]))
}

func anyObject(depth int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "a/b", "~", "ü"}), anyJSON(depth), 0, 4)
}

func asAny[T any](value T) any { return value }

func TestPatchesMergeAsTheRFCsProgram(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		spec, err := json.Marshal(anyObject(3).Draw(t, "spec"))
		require.NoError(t, err)

		patch, err := json.Marshal(anyObject(3).Draw(t, "patch"))
		require.NoError(t, err)

		var before, change any

		require.NoError(t, json.Unmarshal(spec, &before))
		require.NoError(t, json.Unmarshal(patch, &change))

		want, err := json.Marshal(merged(before, change))
		require.NoError(t, err)

		res := objectOf(t, string(spec))
		require.NoError(t, merge(res, patch))

		got, err := json.Marshal(res.Spec())
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got))

		again := res.DeepCopy()
		require.NoError(t, merge(again, patch))
		require.True(t, resource.Equal(res, again), "what is merged twice is merged")
	})
}

// fixed is a spec with fields of its own.
type fixed struct {
	Name  string            `json:"name,omitempty"`
	Port  *int              `json:"port,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
	Lists []string          `json:"lists,omitempty"`
	Deep  struct {
		N int64 `json:"n"`
	} `json:"deep"`
	Hidden  string `json:"-"`
	private int
}

func (f fixed) DeepCopy() fixed {
	f.Tags = maps.Clone(f.Tags)

	return f
}

func fixedOf(spec fixed) *typed.Resource[fixed, objectExtension] {
	return typed.NewResource[fixed, objectExtension](resource.NewMetadata("ns", "Objects", "o", resource.VersionUndefined), spec)
}

func TestPatchesOfSpecsWithFields(t *testing.T) {
	t.Parallel()

	port := 80
	res := fixedOf(fixed{Name: "a", Port: &port, Tags: map[string]string{"x": "1", "y": "2"}, Lists: []string{"p", "q"}})
	res.TypedSpec().Deep.N = 1<<62 + 1

	require.NoError(t, merge(res, []byte(`{"tags":{"x":null,"z":"3"},"lists":["r"],"port":null}`)))

	want := fixed{Name: "a", Tags: map[string]string{"y": "2", "z": "3"}, Lists: []string{"r"}}
	want.Deep.N = 1<<62 + 1 // what the patch leaves alone is not rounded on its way
	require.Equal(t, want, *res.TypedSpec())

	for patch, says := range map[string]string{
		`{"nam":"b"}`:      `unknown field "nam"`,
		`{"name":1}`:       "cannot unmarshal number",
		`{"deep":"x"}`:     "cannot unmarshal string",
		`{"Hidden":"x"}`:   `unknown field "Hidden"`,
		`{"deep":{"m":1}}`: `unknown field "m"`,
		`{"tags":["a"]}`:   "cannot unmarshal array",
	} {
		err := merge(res, []byte(patch))

		var refused *RefusedError

		require.ErrorAs(t, err, &refused, patch)
		require.ErrorContains(t, err, says, patch)
		require.Equal(t, want, *res.TypedSpec(), "what is refused changes nothing")
	}

	for _, spec := range []fixed{{Hidden: "x"}, {private: 1}} {
		require.ErrorContains(t, merge(fixedOf(spec), []byte(`{}`)), "is not carried whole by JSON: use Ensure")
	}
}

// FuzzPatch has no patch, whatever it is, do anything but merge, or be refused and leave the spec alone.
func FuzzPatch(f *testing.F) {
	for _, patch := range []string{`{"name":"b"}`, `{"tags":{"a":null}}`, `{"deep":{"n":1e3}}`, `{"port":{}}`, `{"a":1}`, `[]`, `{`, `{"name":"\ud800"}`, `{"name":1,"name":"x"}`} {
		f.Add([]byte(patch))
	}

	f.Fuzz(func(t *testing.T, patch []byte) {
		text, err := patchText(patch)
		if err != nil {
			return
		}

		res := fixedOf(fixed{Name: "a", Tags: map[string]string{"x": "1"}})
		before := res.DeepCopy()

		if err := merge(res, text); err != nil {
			require.True(t, resource.Equal(before, res), fmt.Sprint(err))

			return
		}

		again := res.DeepCopy()
		require.NoError(t, merge(again, text))
		require.True(t, resource.Equal(res, again))
	})
}
