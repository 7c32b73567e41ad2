package show

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"k8s.io/client-go/util/jsonpath"
)

// longest is how much of a spec is shown in one cell, in characters.
const longest = 100

// unreadable is what a cell shows whose column asks for what the spec does not have in this form.
const unreadable = "?"

// Columns are what is shown of resources of a type in a table.
type Columns struct {
	titles []string
	paths  []*jsonpath.JSONPath
}

// NewColumns returns the columns of a definition. The error is that a path is none.
func NewColumns(columns []meta.PrintColumn) (*Columns, error) {
	c := &Columns{titles: []string{"NAMESPACE", "ID", "VERSION", "PHASE"}}

	for _, column := range columns {
		path := jsonpath.New(column.Name).AllowMissingKeys(true)
		if err := path.Parse(column.JSONPath); err != nil {
			return nil, fmt.Errorf("the column %q of the type is not understood: %w", column.Name, err)
		}

		c.titles = append(c.titles, strings.ToUpper(column.Name))
		c.paths = append(c.paths, path)
	}

	return c, nil
}

// Titles are the titles of the columns.
func (c *Columns) Titles() []string { return c.titles }

// Row is what the columns show of a resource.
func (c *Columns) Row(r resource.Resource) []string {
	md := r.Metadata()
	row := []string{md.Namespace(), md.ID(), md.Version().String(), md.Phase().String()}

	if len(c.paths) == 0 {
		return row
	}

	spec, err := plain(r)

	for _, path := range c.paths {
		if err != nil {
			row = append(row, unreadable)
		} else {
			row = append(row, cell(path, spec))
		}
	}

	return row
}

// cell is what a path finds in a spec. The library may panic where a path and a value do not go together.
func cell(path *jsonpath.JSONPath, spec any) (text string) {
	defer func() {
		if recover() != nil {
			text = unreadable
		}
	}()

	found, err := path.FindResults(spec)
	if err != nil {
		return unreadable
	}

	// There is a group for each part of the path, which is text or stands in braces.
	for _, group := range found {
		var values []string
		for _, value := range group {
			values = append(values, valueText(value))
		}

		text += strings.Join(values, ",")
	}

	text = strings.Join(strings.Fields(text), " ")

	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}

	return text
}

func valueText(value reflect.Value) string {
	for value.IsValid() && value.Kind() == reflect.Interface {
		value = value.Elem()
	}

	if !value.IsValid() {
		return ""
	}

	switch value.Kind() {
	case reflect.Map, reflect.Slice:
		text, err := json.Marshal(value.Interface())
		if err != nil {
			return unreadable
		}

		return string(text)
	default:
		return fmt.Sprint(value.Interface())
	}
}
