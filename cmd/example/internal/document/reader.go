package document

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// reader walks the nodes of a document and collects what is wrong with them. Nothing it does stops at the first
// problem: a value that cannot be read is reported and left zero.
type reader struct {
	problems []Problem
}

// value is a node and the path that leads to it. The zero value, without a node, is a field that was not given.
type value struct {
	r     *reader
	node  *yaml.Node
	field string
}

// refuse reports a problem at the place of the value.
func (v value) refuse(format string, args ...any) {
	v.refuseAt(0, format, args...)
}

// refuseAt reports a problem some lines below the place of the value, 0 for the value itself.
func (v value) refuseAt(below int, format string, args ...any) {
	p := Problem{Field: v.field, Message: fmt.Sprintf(format, args...), Line: v.node.Line, Column: v.node.Column}

	if below > 0 {
		p.Line, p.Column = p.Line+below, 0
	}

	v.r.problems = append(v.r.problems, p)
}

// given tells whether the document has the field, with something in it.
func (v value) given() bool {
	return v.node != nil && !(v.node.Kind == yaml.ScalarNode && v.node.Tag == "!!null")
}

func (r *reader) value(node *yaml.Node, field string) value {
	// An alias stands for what its anchor marks; problems are reported where the anchor is. An alias of an alias
	// cannot be written, so one step is enough.
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}

	return value{r: r, node: node, field: field}
}

// what names the kind of a node for people who do not know YAML's own words.
func what(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a group of fields"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		switch node.Tag {
		case "!!int", "!!float":
			return "a number"
		case "!!bool":
			return "a yes or no"
		case "!!null":
			return "empty"
		case "!!timestamp":
			return "a date"
		case "!!str":
			return "a text"
		default:
			return "a value with the tag " + node.Tag
		}
	default:
		return "something else"
	}
}

// object is a mapping whose keys were checked against the fields that are known.
type object struct {
	value

	fields map[string]value
}

// object reads a mapping. It reports keys that are unknown or given twice, and returns false if v is no mapping.
func (v value) object(known ...string) (object, bool) {
	o := object{value: v, fields: make(map[string]value)}

	if v.node.Kind != yaml.MappingNode {
		v.refuse("must be a group of fields (%s), not %s", strings.Join(known, ", "), what(v.node))

		return o, false
	}

	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := v.r.value(v.node.Content[i], v.sub(v.node.Content[i].Value))

		if key.node.Kind != yaml.ScalarNode {
			key.field = v.field
			key.refuse("a field name must be a text, not %s", what(key.node))

			continue
		}

		if first, twice := o.fields[key.node.Value]; twice {
			key.refuse("given twice, first in line %d", first.node.Line)

			continue
		}

		if !slices.Contains(known, key.node.Value) {
			key.refuse("unknown field; known here: %s", strings.Join(known, ", "))

			continue
		}

		o.fields[key.node.Value] = v.r.value(v.node.Content[i+1], key.field)
	}

	return o, true
}

func (v value) sub(name string) string {
	if v.field == "" {
		return name
	}

	return v.field + "." + name
}

// field returns a field of the object, which may not be given.
func (o object) field(name string) value {
	return o.fields[name]
}

// required returns a field and reports when it is missing.
func (o object) required(name string) (value, bool) {
	v := o.fields[name]

	if v.node == nil {
		missing := o.value
		missing.field = o.sub(name)
		missing.refuse("is missing")

		return v, false
	}

	if !v.given() {
		v.refuse("is empty")

		return v, false
	}

	return v, true
}

// list reads a sequence; a field that is not given is an empty list.
func (v value) list() []value {
	if !v.given() {
		return nil
	}

	if v.node.Kind != yaml.SequenceNode {
		v.refuse("must be a list, not %s", what(v.node))

		return nil
	}

	items := make([]value, len(v.node.Content))

	for i, node := range v.node.Content {
		items[i] = v.r.value(node, fmt.Sprintf("%s[%d]", v.field, i))
	}

	return items
}

// text reads a string. Numbers and the like are refused: a hostname of 123 is more likely a slip than a wish.
func (v value) text() (string, bool) {
	switch {
	case v.node.Kind == yaml.ScalarNode && v.node.Tag == "!!str":
		return v.node.Value, true
	case v.node.Kind == yaml.ScalarNode && v.given() && v.node.Style&yaml.TaggedStyle == 0:
		v.refuse("must be a text, not %s; if it is meant, put it in quotes", what(v.node))
	default:
		v.refuse("must be a text, not %s", what(v.node))
	}

	return "", false
}

// scalar reads the characters of a plain value, whatever YAML takes it for.
func (v value) scalar(wanted string) (string, bool) {
	if v.node.Kind != yaml.ScalarNode || v.node.Tag == "!!null" {
		v.refuse("must be %s, not %s", wanted, what(v.node))

		return "", false
	}

	return v.node.Value, true
}

// texts reads strings, each accepted by check, which reports what it does not like.
func texts(items []value, check func(value, string) bool) []string {
	var texts []string

	for _, item := range items {
		if text, ok := item.text(); ok && check(item, text) {
			texts = append(texts, text)
		}
	}

	return texts
}

// duration reads a span of time between least and most, or returns fallback when the field is not given.
func (v value) duration(fallback, least, most time.Duration) time.Duration {
	if !v.given() {
		return fallback
	}

	text, ok := v.scalar("a duration such as 500ms, 3s or 1m30s")
	if !ok {
		return fallback
	}

	d, err := time.ParseDuration(text)

	switch {
	case err != nil:
		v.refuse("%q is no duration; write for example 500ms, 3s or 1m30s", text)
	case d < least || d > most:
		v.refuse("%s is out of range; from %s to %s", d, least, most)
	default:
		return d
	}

	return fallback
}
