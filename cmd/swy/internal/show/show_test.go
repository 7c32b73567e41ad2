package show_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/show"
)

// received is a resource as it comes from the state API.
func received(t *testing.T, id, spec string) resource.Resource {
	t.Helper()

	r, err := protobuf.Unmarshal(&v1alpha1.Resource{
		Metadata: &v1alpha1.Metadata{
			Namespace: "ns", Type: "T.test", Id: id, Version: "3", Phase: "running", Finalizers: []string{"F"},
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": "n"},
		},
		Spec: &v1alpha1.Spec{YamlSpec: spec},
	})
	require.NoError(t, err)

	r.Metadata().SetCreated(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	r.Metadata().SetUpdated(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))

	return r
}

const spec = `
name: web
on: true
size: 3
ratio: .nan
at: 2020-01-02T03:04:05Z
list: [a, b]
map: {b: 1, a: {c: null}}
items: [{type: X, status: one}, {type: Y, status: two}]
1: number
long: ` + "\"" + `line one\nline two` + "\"\n"

func TestCells(t *testing.T) {
	for path, want := range map[string]string{
		"{.name}":                              "web",
		"{.on}":                                "true",
		"{.size}":                              "3",
		"{.ratio}":                             "NaN",
		"{.at}":                                "2020-01-02T03:04:05Z",
		"{.list}":                              `["a","b"]`,
		"{.list[:]}":                           "a,b",
		"{.list[0]}":                           "a",
		"{.list[9]}":                           "?",
		"{.map}":                               `{"a":{"c":null},"b":1}`,
		"{.map.a.c}":                           "",
		`{.items[?(@.type=="Y")].status}`:      "two",
		`{.items[?(@.type=="Z")].status}`:      "",
		"{.missing}":                           "",
		"{.missing.more}":                      "",
		"{.name.more}":                         "",
		"{.long}":                              "line one line two",
		"{.name} and {.size}":                  "web and 3",
		"{range .items[*]}{.status} {end}":     "one two",
		"{.items[?(@.type>1)].status}":         "?",
		"{.items[*]['type','status']}":         "X,Y,one,two",
		"{.size[0]}":                           "?",
		"{..status}":                           "one,two",
		"{.list[-1:]}":                         "b",
		`{.items[?(@.status=~"o")].status}`:    "?",
		"{.items[?(@.missing==1)].status}":     "",
		"{.map.b}{.map.a}{.map.c}{.map.d.e.f}": `1{"c":null}`,
	} {
		columns, err := show.NewColumns([]meta.PrintColumn{{Name: "it", JSONPath: path}})
		if err != nil {
			assert.Equal(t, "?", want, path)

			continue
		}

		assert.Equal(t, []string{"NAMESPACE", "ID", "VERSION", "PHASE", "IT"}, columns.Titles())
		assert.Equal(t, []string{"ns", "a", "3", "running", want}, columns.Row(received(t, "a", spec)), path)
	}

	_, err := show.NewColumns([]meta.PrintColumn{{Name: "bad", JSONPath: "{.a"}})
	assert.ErrorContains(t, err, `the column "bad" of the type is not understood`)

	columns, err := show.NewColumns([]meta.PrintColumn{{Name: "it", JSONPath: "{.a}"}})
	require.NoError(t, err)
	assert.Equal(t, "?", columns.Row(received(t, "a", ""))[4], "a spec that is not there")
	assert.Len(t, []rune(columns.Row(received(t, "a", "a: "+strings.Repeat("ä", 500)))[4]), 100)
}

func TestTable(t *testing.T) {
	var (
		out   strings.Builder
		table show.Table
	)

	require.NoError(t, table.Write(&out, [][]string{{"ID", "B"}, {"äöü", "x"}, {"", "a\x1b[31m\nb\u202e"}}))
	require.NoError(t, table.Write(&out, [][]string{{"a", "later"}, {strings.Repeat("y", 80), "sticks out"}, {"b", "c"}}))

	pad := strings.Repeat(" ", 60)
	assert.Equal(t, "ID    B\näöü   x\n      a\\x1b[31m\\nb\\u202e\n"+
		"a"+pad[1:]+"   later\n"+strings.Repeat("y", 80)+"   sticks out\nb"+pad[1:]+"   c\n", out.String())
}

func TestDocuments(t *testing.T) {
	r := received(t, "1", spec)

	text, err := show.YAML(r, "", "")
	require.NoError(t, err)
	assert.Contains(t, string(text), "metadata:\n    namespace: ns\n")
	assert.Contains(t, string(text), "labels:\n        app: web\n")
	assert.Contains(t, string(text), "name: web\n")
	assert.NotContains(t, string(text), "event")

	text, err = show.JSON(r, "", "created")
	require.NoError(t, err)
	assert.Equal(t, `{"event":"created","metadata":{"namespace":"ns","type":"T.test","id":"1","version":"3","owner":"","phase":"running",`+
		`"created":"2020-01-01T00:00:00Z","updated":"2020-01-01T00:00:00Z","labels":{"app":"web"},"annotations":{"note":"n"},"finalizers":["F"]},`+
		`"spec":{"1":"number","at":"2020-01-02T03:04:05Z","items":[{"status":"one","type":"X"},{"status":"two","type":"Y"}],"list":["a","b"],`+
		`"long":"line one\nline two","map":{"a":{"c":null},"b":1},"name":"web","on":true,"ratio":"NaN","size":3}}`+"\n", string(text))
}

// Nothing of what is not to be shown is shown.
func TestSecrets(t *testing.T) {
	r := received(t, "a", "password: hunter2")
	r.Metadata().Labels().Set("l", "hunter2")
	r.Metadata().Annotations().Set("a", "hunter2")

	for _, render := range []func(resource.Resource, show.Secret, string) ([]byte, error){show.YAML, show.JSON} {
		text, err := render(r, "its type is sensitive", "")
		require.NoError(t, err)
		assert.NotContains(t, string(text), "hunter2")
		assert.NotContains(t, string(text), "password")
		assert.Contains(t, string(text), "(not shown)")
	}

	assert.Equal(t, map[string]string{"app": "web", "l": "hunter2"}, r.Metadata().Labels().Raw(), "the resource itself stays as it is")
}

// Names and contents do nothing to a terminal, and mean the same when they are read again.
func TestDocumentsAreInert(t *testing.T) {
	for _, hostile := range []string{"\x1b]0;x\a", "\u202egnp\u2066", "a\u0085b\u2028c\u007f", "\U000e0001", "'\"\n- x", "<b>", "\ufeff", "..", "~", "true", "{{"} {
		value, err := yaml.Marshal(map[string]string{"v": hostile})
		require.NoError(t, err)

		r := received(t, hostile, string(value))

		text, err := show.YAML(r, "", "")
		require.NoError(t, err)
		assertInert(t, string(text))

		again := &struct {
			Metadata resource.Metadata
			Spec     map[string]string
		}{}
		require.NoError(t, yaml.Unmarshal(text, again), string(text))
		assert.Equal(t, hostile, again.Metadata.ID(), "%s", text)
		assert.Equal(t, hostile, again.Spec["v"], "%s", text)

		text, err = show.JSON(r, "", "")
		require.NoError(t, err)
		assertInert(t, string(text))
		assert.Equal(t, 1, strings.Count(string(text), "\n"))

		read := struct {
			Metadata struct{ ID string }
			Spec     map[string]string
		}{}
		require.NoError(t, json.Unmarshal(text, &read), string(text))
		assert.Equal(t, hostile, read.Metadata.ID)
		assert.Equal(t, hostile, read.Spec["v"])
	}
}

func assertInert(t *testing.T, text string) {
	t.Helper()

	for _, bad := range []string{"\x1b", "\a", "\u202e", "\u2066", "\u0085", "\u2028", "\u007f", "\U000e0001", "\ufeff"} {
		assert.NotContains(t, text, bad)
	}
}
