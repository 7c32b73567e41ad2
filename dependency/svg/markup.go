package svg

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/switchyard-run/switchyard/dependency/render"
)

// Classes of the parts of a marked picture; see the comment of the package.
const (
	classPicture    = "dependency-graph"
	classBackground = "background"
	classTitle      = "title"
	classEmpty      = "empty"
	classShape      = "shape"
	classLid        = "lid"
	className       = "name"
	classNamespace  = "namespace"
	classLine       = "line"
	classHead       = "head"
	classCross      = "cross"
	classHeading    = "heading"
	classText       = "text"
)

// class is the attribute that names a part of a marked picture, with a space before it, and nothing in any other.
func (d *drawing) class(names ...string) string {
	if !d.graph.Marked {
		return ""
	}

	return ` class="` + strings.Join(names, " ") + `"`
}

// paint is the colour of a part of an edge. In a marked picture it is that of what the part belongs to, so that one rule of a style
// sheet changes all parts.
func (d *drawing) paint(style render.Style) string {
	if d.graph.Marked {
		return "currentColor"
	}

	return style.Colour
}

// belongs is what a part of an edge that has no group of its own, or the group, needs in a marked picture.
func (d *drawing) belongs(kind render.EdgeKind, role string) string {
	if !d.graph.Marked {
		return ""
	}

	return d.class(role, string(kind)) + ` color="` + kind.Style().Colour + `"`
}

// openGroup begins a part of a marked picture that a screen reader can tell of as a whole, and skip.
func (d *drawing) openGroup(class, label string) {
	if d.graph.Marked {
		d.linef(`<g class="%s" role="group" aria-label="%s">`, class, label)
	}
}

// openSample begins a sample of the legend in a marked picture, with the attributes that what it shows has.
func (d *drawing) openSample(attributes string) {
	if d.graph.Marked {
		d.linef(`<g%s>`, attributes)
	}
}

func (d *drawing) closeGroup() {
	if d.graph.Marked {
		d.linef(`</g>`)
	}
}

// openEdge begins what belongs to an edge, and names it.
func (d *drawing) openEdge(edge render.Edge, name string) {
	data := ""

	if d.graph.Marked {
		data = d.belongs(edge.Kind, "edge") +
			attribute("data-kind", string(edge.Kind)) + attribute("data-from", edge.From) + attribute("data-to", edge.To)
	}

	d.linef(`<g%s role="graphics-symbol img"><title>%s</title>`, data, escape(name))
}

// openNode begins what belongs to a node, and names it; it returns the tag that ends it. A link keeps its role, and hides the text in
// it from screen readers, which have its label.
func (d *drawing) openNode(node render.Node, name string) (closing string) {
	data := ""

	if d.graph.Marked {
		data = d.class("node", classOf(node.Kind)) + attribute("data-node", node.ID)

		if node.Kind == render.Controller {
			data += attribute("data-controller", node.Name)
		} else {
			data += attribute("data-namespace", node.Namespace) + attribute("data-type", node.Type)
		}
	}

	if !d.graph.Marked || node.Link == "" {
		d.linef(`<g%s role="graphics-symbol img"><title>%s</title>`, data, escape(name))

		return "</g>"
	}

	d.linef(`<a%s%s%s><title>%s</title>`, data, attribute("href", node.Link), attribute("aria-label", name), escape(name))

	return "</a>"
}

// classOf is the class of nodes of a kind, which their samples in the legend have as well.
func classOf(kind render.NodeKind) string {
	if kind == render.Controller {
		return "controller"
	}

	return "resources"
}

// attribute is an attribute with a space before it. What does not show, or changes the direction of text, is written as a
// reference, so that nobody who looks at the document is misled; to a browser it is the same. References below U+00A0 are not
// the same to all of them.
func attribute(name, value string) string {
	var b strings.Builder

	for _, r := range escape(value) {
		if r > 0xa0 && !unicode.IsPrint(r) {
			fmt.Fprintf(&b, "&#x%x;", r)
		} else {
			b.WriteRune(r)
		}
	}

	return " " + name + `="` + b.String() + `"`
}
