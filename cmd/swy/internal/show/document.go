package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.yaml.in/yaml/v4"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// notShown stands where something is not to be seen.
const notShown = "(not shown)"

// Secret is the reason not to show contents; empty is that there is none.
type Secret string

// conceal returns a resource without what is not to be shown: its spec, and what its labels and annotations hold.
func (s Secret) conceal(r resource.Resource) (md resource.Metadata, spec any) {
	md = r.Metadata().Copy()
	if s == "" {
		return md, r.Spec()
	}

	for key := range md.Labels().Raw() {
		md.Labels().Set(key, notShown)
	}

	for key := range md.Annotations().Raw() {
		md.Annotations().Set(key, notShown)
	}

	return md, notShown
}

// YAML renders a resource as a document, with what has happened to it if event is not empty.
func YAML(r resource.Resource, secret Secret, event string) ([]byte, error) {
	md, spec := secret.conceal(r)

	document := struct {
		Event    string             `yaml:"event,omitempty"`
		Metadata *resource.Metadata `yaml:"metadata"`
		Spec     any                `yaml:"spec"`
	}{event, &md, spec}

	text, err := yaml.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("%s can not be rendered: %w", resource.String(r), err)
	}

	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); api.Printable(line) != line {
			return yaml.Dump(document, yaml.WithUnicode(false)) // the same with escapes
		}
	}

	return text, nil
}

// JSON renders a resource as a line, with what has happened to it if event is not empty.
func JSON(r resource.Resource, secret Secret, event string) ([]byte, error) {
	md, spec := secret.conceal(r)

	if secret == "" {
		var err error
		if spec, err = plain(r); err != nil {
			return nil, err
		}
	}

	text, err := json.Marshal(struct {
		Event    string   `json:"event,omitempty"`
		Metadata metadata `json:"metadata"`
		Spec     any      `json:"spec"`
	}{event, metadataOf(&md), spec})
	if err != nil {
		return nil, fmt.Errorf("%s can not be rendered: %w", resource.String(r), err)
	}

	return append(Inert(text), '\n'), nil
}

// Inert escapes in JSON what would do something to a terminal. It means the same afterwards: such characters are only in strings.
func Inert(text []byte) []byte {
	var out bytes.Buffer

	for _, r := range string(text) {
		if r < ' ' || api.Printable(string(r)) == string(r) {
			out.WriteRune(r) // control characters in strings are escaped already: what is left is between them

			continue
		}

		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}

	return out.Bytes()
}

// metadata is metadata as JSON: the same as in YAML, and an id that looks like a number is still a text.
type metadata struct {
	Namespace   string            `json:"namespace"`
	Type        string            `json:"type"`
	ID          string            `json:"id"`
	Version     string            `json:"version"`
	Owner       string            `json:"owner"`
	Phase       string            `json:"phase"`
	Created     time.Time         `json:"created"`
	Updated     time.Time         `json:"updated"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Finalizers  []string          `json:"finalizers,omitempty"`
}

func metadataOf(md *resource.Metadata) metadata {
	return metadata{
		Namespace: md.Namespace(), Type: md.Type(), ID: md.ID(), Version: md.Version().String(), Owner: md.Owner(),
		Phase: md.Phase().String(), Created: md.Created(), Updated: md.Updated(),
		Labels: md.Labels().Raw(), Annotations: md.Annotations().Raw(), Finalizers: *md.Finalizers(),
	}
}

// plain is the spec of a resource as maps, lists, texts and numbers.
func plain(r resource.Resource) (spec any, err error) {
	text, err := yaml.Marshal(r.Spec())
	if err == nil {
		err = yaml.Unmarshal(text, &spec)
	}

	if err != nil {
		return nil, fmt.Errorf("the spec of %s can not be read: %w", resource.String(r), err)
	}

	return plainOf(spec), nil
}

// plainOf turns into texts what JSON does not know: keys of other kinds, times, and numbers that are none.
func plainOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plainOf(v[key])
		}

		return v
	case map[any]any:
		m := make(map[string]any, len(v))
		for key := range v {
			m[fmt.Sprint(key)] = plainOf(v[key])
		}

		return m
	case []any:
		for i := range v {
			v[i] = plainOf(v[i])
		}

		return v
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	}

	return value
}
