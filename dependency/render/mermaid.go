package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
)

// Mermaid writes the graph as a Mermaid flowchart with a legend. Controllers are rounded boxes, resources are
// cylinders, and data flows from left to right, or as [WithTopDown] has it.
//
// Mermaid itself refuses, in its default settings, texts above 50,000 characters and diagrams above 500 edges; its
// maxTextSize and maxEdges settings, which only the page that embeds it can set, raise that.
//
// The error is that of the writer.
func Mermaid(w io.Writer, g *controller.DependencyGraph, opts ...Option) error {
	m := mermaid{graph: Build(g, opts...), links: map[EdgeKind][]string{}}
	m.write()

	_, err := w.Write(m.out.Bytes())

	return err
}

// mermaid is one flowchart being written.
type mermaid struct {
	graph *Graph
	out   bytes.Buffer

	// links has the positions of the edges written so far, which is how Mermaid refers to them; count is how many.
	links map[EdgeKind][]string
	count int
}

func (m *mermaid) write() {
	if heading := m.graph.Heading(); heading != "" {
		title, err := json.Marshal(Printable(heading, titleRunes))
		if err == nil {
			m.linef("---\ntitle: %s\n---", title)
		}
	}

	m.linef("flowchart %s", m.graph.direction)

	for _, kind := range []NodeKind{Controller, Resource} {
		m.linef("  classDef %s fill:%s,stroke:%s,color:#1b1b1b", kind, kind.Fill(), kind.Stroke())
	}

	for _, node := range m.graph.Nodes {
		m.node("  ", node.ID, node.Kind, node.Lines())
	}

	for _, edge := range m.graph.Edges {
		m.edge("  ", edge.From, edge.To, edge.Kind, edge.Lines())
	}

	m.legend()

	for _, kind := range EdgeKinds() {
		if links := m.links[kind]; links != nil {
			colour := kind.Style().Colour
			m.linef("  linkStyle %s stroke:%s,color:%s", strings.Join(links, ","), colour, colour)
		}
	}
}

// legend shows a controller between what it reads and what it writes, with one edge for each kind that is in use.
func (m *mermaid) legend() {
	used := m.graph.Legend()
	if len(used) == 0 {
		return
	}

	m.linef(`  subgraph legend["Legend"]`)
	m.linef("    direction LR")

	for _, node := range legendNodes(used) {
		m.node("    ", node.ID, node.Kind, node.Lines())
	}

	for _, kind := range used {
		from, to := legendEnds(kind)
		m.edge("    ", from, to, kind, legendLines(kind))
	}

	m.linef("  end")
}

func (m *mermaid) node(indent, id string, kind NodeKind, lines []string) {
	opening, closing := `("`, `")`
	if kind == Resource {
		opening, closing = `[("`, `")]`
	}

	m.linef("%s%s%s%s%s:::%s", indent, id, opening, mermaidText(lines), closing, kind)
}

func (m *mermaid) edge(indent, from, to string, kind EdgeKind, lines []string) {
	m.linef(`%s%s %s|"%s"| %s`, indent, from, mermaidArrow(kind.Style()), mermaidText(lines), to)

	m.links[kind] = append(m.links[kind], strconv.Itoa(m.count))
	m.count++
}

func (m *mermaid) linef(format string, args ...any) {
	fmt.Fprintf(&m.out, format+"\n", args...)
}

func mermaidArrow(s Style) string {
	line := map[Line]string{Solid: "--", Dashed: "-.-", Thick: "=="}[s.Line]
	head := map[Head]string{Arrow: ">", Circle: "o", Cross: "x"}[s.Head]

	return line + head
}

func mermaidText(lines []string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = mermaidEscape(line)
	}

	return strings.Join(escaped, "<br/>")
}

const wordJoiner = '\u2060'

// mermaidEscape returns text that a Mermaid label shows as it is. Labels are first searched for directives and
// entities, then read as Markdown and then as HTML, by versions that differ. So a label keeps its characters only if
// it looks like the dotted names that types and controllers usually have; in any other all that is neither an ASCII
// letter nor a digit is written as a numeric entity, of which all of these make the same.
//
// Three pairs of characters act even so: \n breaks the line, $$ begins a formula, and "ﬂ°" is how entities look while
// Mermaid is at work. An invisible word joiner keeps these pairs apart.
func mermaidEscape(text string) string {
	if mermaidPlain(text) {
		return text
	}

	var b strings.Builder

	var former rune

	for i, r := range text {
		switch string([]rune{former, r}) {
		case `\n`, "$$", "ﬂ°":
			fmt.Fprintf(&b, "#%d;", wordJoiner)
		}

		former = r

		switch {
		case isASCIIWord(r):
			b.WriteRune(r)
		case r == ' ' && i > 0 && isASCIIWord(rune(text[i-1])):
			b.WriteByte(' ')
		case r == ' ':
			b.WriteString("#160;")
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}

	return b.String()
}

// mermaidPlain tells whether the text is made of words of ASCII letters and digits, each two with one of ".", "/", "_",
// "-", a space, or a comma or colon and a space between them, begins with a letter, and has nothing that could be taken
// for a web address.
func mermaidPlain(text string) bool {
	if text == "" || isDigit(rune(text[0])) || strings.Contains(strings.ToLower(text), "www.") {
		return false
	}

	gap := "start"

	for _, r := range text {
		switch {
		case isASCIIWord(r) && gap != "," && gap != ":":
			gap = ""
		case gap == "" && strings.ContainsRune("./_- ,:", r):
			gap = string(r)
		case r == ' ' && (gap == "," || gap == ":"):
			gap = ", "
		default:
			return false
		}
	}

	return gap == ""
}

func isASCIIWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || isDigit(r)
}

func isDigit(r rune) bool {
	return r >= '0' && r <= '9'
}
