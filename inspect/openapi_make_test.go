package inspect_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect"
	"github.com/switchyard-run/switchyard/inspect/api"
)

// documents are what the questions are answered with.
var documents = map[string]any{
	"overview":    api.Overview{},
	"controllers": api.Controllers{},
	"controller":  api.ControllerDetail{},
	"passes":      api.Passes{},
	"pass":        api.Pass{},
	"resource":    api.ResourceDetail{},
	"resources":   api.ResourceList{},
	"why":         api.Why{},
	"blocked":     api.Blocked{},
	"findings":    api.Findings{},
}

// object is a part of a description.
type object = map[string]any

// parameters are what is to be said of each parameter.
var parameters = map[string]struct {
	about  string
	schema object
}{
	"name":       {"the name of a controller", object{"type": "string"}},
	"controller": {"the name of a controller", object{"type": "string"}},
	"number":     {"the number of a pass of the controller", object{"type": "integer", "minimum": 1}},
	"namespace":  {"the namespace of resources", object{"type": "string"}},
	"type":       {"the type of resources", object{"type": "string"}},
	"id":         {"the id of a resource", object{"type": "string"}},
	"limit":      {"how many to answer with at most", object{"type": "integer", "minimum": 1, "maximum": 10_000}},
	"format":     {"how to write it", object{"type": "string", "enum": []string{"json", "mermaid", "dot", "svg"}, "default": "json"}},
}

const intro = "What a running engine does, and why. All of it is read, nothing can be changed. Names may be anything, and are " +
	"found again as they are. Fields may be added. Whoever asks has to ask for localhost, an address, or a name that the host has " +
	"allowed; a page of another origin gets no answer."

// describe makes the description of the API.
func describe(t *testing.T) object {
	t.Helper()

	s := schemas{comments: readComments(t, "api"), all: object{}}
	paths := object{}

	for _, q := range inspect.Questions() {
		require.Contains(t, documents, q.Path, "say in documents what this question is answered with")

		paths["/"+q.Path] = get(q.About, append(used(q.Needs, true), used(q.Takes, false)...),
			object{"application/json": object{"schema": s.of(reflect.TypeOf(documents[q.Path]))}})
	}

	paths["/graph"] = get("the declarations of all controllers", used([]string{"format"}, false), object{
		"application/json":  object{"schema": object{"type": "object"}},
		"text/plain":        object{"schema": object{"type": "string"}},
		"text/vnd.graphviz": object{"schema": object{"type": "string"}},
		"image/svg+xml":     object{"schema": object{"type": "string"}},
	})
	paths["/openapi.json"] = get("this description", []any{}, object{"application/json": object{"schema": object{"type": "object"}}})

	for _, document := range []any{api.Change{}, api.Dropped{}} {
		s.of(reflect.TypeOf(document))
	}

	stream := object{"text/event-stream": object{"schema": object{"type": "string"}}}
	paths["/live"] = get("the engine as it is, in an event overview with an Overview, and then what changes, once a second at most, in "+
		"events change, each with a Change. Who is too slow for some of them gets one for all he has missed", []any{}, stream)
	paths["/follow"] = get("the passes of a controller, or of all, that end from now on, in events pass, each with a Pass, and how many are "+
		"not told, in events dropped, each with a Dropped", used([]string{"controller"}, false), stream)

	problem := s.of(reflect.TypeFor[api.Problem]())

	return object{
		"openapi": "3.0.3",
		"info":    object{"title": "Switchyard inspection", "version": "1", "description": intro},
		"servers": []any{object{"url": ".", "description": "next to this description"}},
		"paths":   paths,
		"components": object{
			"schemas": s.all,
			"responses": object{"Problem": object{
				"description": "why there is no answer, and what to do", "content": object{"application/json": object{"schema": problem}},
			}},
		},
	}
}

func get(about string, params []any, content object) object {
	return object{"get": object{
		"summary": about, "parameters": params,
		"responses": object{
			"200": object{"description": about, "content": content}, "default": object{"$ref": "#/components/responses/Problem"},
		},
	}}
}

func used(names []string, required bool) []any {
	all := []any{}
	for _, name := range names {
		all = append(all, object{
			"allowEmptyValue": parameters[name].schema["type"] == "string" && parameters[name].schema["enum"] == nil,
			"name":            name, "in": "query", "required": required, "description": parameters[name].about, "schema": parameters[name].schema,
		})
	}

	return all
}

// schemas are the schemas of Go types, with what the comments say of them.
type schemas struct {
	comments comments
	all      object
}

func (s *schemas) of(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return s.of(t.Elem())
	case t.Kind() == reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case t.Name() == "" || t.PkgPath() == "":
		return plain(t)
	}

	if _, known := s.all[t.Name()]; !known {
		s.all[t.Name()] = nil // it may hold itself
		s.all[t.Name()] = s.named(t)
	}

	return object{"$ref": "#/components/schemas/" + t.Name()}
}

func plain(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	default:
		panic("documents hold no " + t.String())
	}
}

func (s *schemas) named(t reflect.Type) object {
	schema := object{"description": s.comments.texts[t.Name()]}

	if t.Kind() != reflect.Struct {
		maps.Copy(schema, plain(t))

		if values := s.comments.values[t.Name()]; len(values) > 0 {
			schema["enum"] = values
		}

		return schema
	}

	properties, required := object{}, []string{}
	s.fields(t, properties, &required)
	maps.Copy(schema, object{"type": "object", "properties": properties, "required": required})

	return schema
}

func (s *schemas) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		field := t.Field(i)

		if field.Anonymous {
			s.fields(field.Type, properties, required)

			continue
		}

		name, rest, _ := strings.Cut(field.Tag.Get("json"), ",")
		schema := s.of(field.Type)

		if text := s.comments.texts[t.Name()+"."+field.Name]; text != "" && schema["$ref"] != nil {
			schema = object{"allOf": []any{schema}, "description": text}
		} else if text != "" {
			schema["description"] = text
		}

		properties[name] = schema

		if !strings.Contains(rest, "omitempty") {
			*required = append(*required, name)
		}
	}
}

// comments are what the sources of a package say of its types.
type comments struct {
	// texts are the comments by type, and by type and field.
	texts map[string]string
	// values are the constants of types of strings.
	values map[string][]string
}

func readComments(t *testing.T, dir string) comments {
	t.Helper()

	c := comments{map[string]string{}, map[string][]string{}}

	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)

	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)

		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				c.read(d)
			}
		}
	}

	return c
}

func (c comments) read(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			c.texts[spec.Name.Name] = line(d.Doc)

			if s, ok := spec.Type.(*ast.StructType); ok {
				c.readFields(spec.Name.Name, s)
			}
		case *ast.ValueSpec:
			typ, named := spec.Type.(*ast.Ident)
			if d.Tok != token.CONST || !named {
				continue
			}

			for _, v := range spec.Values {
				if v, ok := v.(*ast.BasicLit); ok && v.Kind == token.STRING {
					text, _ := strconv.Unquote(v.Value)
					c.values[typ.Name] = append(c.values[typ.Name], text)
				}
			}
		}
	}
}

func (c comments) readFields(typ string, s *ast.StructType) {
	for _, field := range s.Fields.List {
		for _, name := range field.Names {
			c.texts[typ+"."+name.Name] = line(field.Doc)
		}
	}
}

func line(text *ast.CommentGroup) string { return strings.Join(strings.Fields(text.Text()), " ") }

func writeDescription(t *testing.T, description object) []byte {
	t.Helper()

	text, err := json.MarshalIndent(description, "", "  ")
	require.NoError(t, err)

	if text = append(text, '\n'); *update {
		require.NoError(t, os.WriteFile("openapi.json", text, 0o600))
	}

	return text
}
