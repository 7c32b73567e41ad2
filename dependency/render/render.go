// Package render owns how a dependency graph is written down: as Mermaid, as DOT and as JSON.
//
// All formats are made from one model, [Graph], which [Build] derives from the contract's
// [controller.DependencyGraph]: one node for each controller and for each namespace and type of resources, and edges
// in the direction in which data flows. Other pictures, such as the one of package svg, are made from the same model
// and the same [EdgeKind.Style].
//
// The same graph gives the same bytes, whatever the order of its edges. Names may be anything: what they contain is
// shown and never acts, in none of the formats. In pictures control characters are shown by their escapes, and long
// names are shortened; JSON carries every name in full.
//
// The package keeps no state and starts no goroutine. It links nothing but the standard library, the contract and
// sibling packages without dependencies. All functions only read the graph and are safe to call concurrently.
package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/analysis"
)

// Option changes what is written; see the functions that return one.
type Option struct {
	apply func(*Graph)
}

// WithTitle sets a title, which every format carries in its own way. Without one pictures have no title, apart from
// SVG, which has a general one.
func WithTitle(title string) Option {
	return Option{func(g *Graph) { g.Title = valid(title) }}
}

// WithFindings adds the findings of an analysis to the JSON document. Pictures do not show them.
func WithFindings(report analysis.Report) Option {
	return Option{func(g *Graph) { g.Findings = validReport(report) }}
}

// WithTopDown makes data flow from top to bottom in Mermaid and DOT, instead of from left to right. It suits long chains,
// left to right suits broad graphs. JSON has no direction, and SVG chooses by itself.
func WithTopDown() Option {
	return Option{func(g *Graph) { g.direction = "TB" }}
}

// WithoutFrame leaves out what stands around a picture, its title and its legend, for a page that has its own. JSON keeps the
// title.
func WithoutFrame() Option {
	return Option{func(g *Graph) { g.Unframed = true }}
}

// Format is the name of a format, as flags and query parameters spell it. It implements [encoding.TextMarshaler] and
// [encoding.TextUnmarshaler], so [flag.TextVar] takes it.
type Format string

// The formats of this package.
const (
	FormatMermaid Format = "mermaid"
	FormatDOT     Format = "dot"
	FormatJSON    Format = "json"
)

// Formats returns all formats of this package, the default one, Mermaid, first.
func Formats() []Format {
	return []Format{FormatMermaid, FormatDOT, FormatJSON}
}

// ParseFormat returns the format of that name; letter case does not matter. The error for any other name lists the
// formats there are.
func ParseFormat(name string) (Format, error) {
	names := make([]string, 0, len(Formats()))

	for _, f := range Formats() {
		if strings.EqualFold(name, string(f)) {
			return f, nil
		}

		names = append(names, string(f))
	}

	return "", fmt.Errorf("render: there is no format %q, only %s", name, strings.Join(names, ", "))
}

// MarshalText returns the name of the format. It never fails.
func (f Format) MarshalText() ([]byte, error) {
	return []byte(f), nil
}

// UnmarshalText sets the format by its name, like [ParseFormat]; after an error it is unchanged.
func (f *Format) UnmarshalText(text []byte) error {
	parsed, err := ParseFormat(string(text))
	if err == nil {
		*f = parsed
	}

	return err
}

// Write writes the graph in the given format. The error is that of the writer, or that the format is none of
// [Formats], in which case nothing is written.
func Write(w io.Writer, f Format, g *controller.DependencyGraph, opts ...Option) error {
	parsed, err := ParseFormat(string(f))
	if err != nil {
		return err
	}

	switch parsed {
	case FormatDOT:
		return DOT(w, g, opts...)
	case FormatJSON:
		return JSON(w, g, opts...)
	default:
		return Mermaid(w, g, opts...)
	}
}
