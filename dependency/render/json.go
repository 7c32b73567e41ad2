package render

import (
	"encoding/json"
	"io"

	"github.com/cosi-project/runtime/pkg/controller"
)

// JSON writes the graph as one indented JSON document, which decodes into [Graph]. Names are whole.
// Characters that HTML or a script would take for markup are written as escapes, so the document may be embedded in
// a page.
//
// The error is that of the writer.
func JSON(w io.Writer, g *controller.DependencyGraph, opts ...Option) error {
	text, err := json.MarshalIndent(Build(g, opts...), "", "  ")
	if err != nil {
		return err
	}

	_, err = w.Write(append(text, '\n'))

	return err
}
