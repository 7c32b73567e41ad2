package render

import (
	"net/url"
	"strings"
	"unicode"
)

// WithLinks makes a picture one to work with, in a page of the host: each node leads to where the host has it lead, and what the
// picture consists of is named for the style sheets and scripts of the page. SVG does so, and JSON carries the links; Mermaid and
// DOT know nothing of it.
//
// The function is called once for each node. A node for which it returns "" leads nowhere, and so do all where the function is
// nil. It has to escape names as URLs need it. What it returns is taken if it is relative, or begins with http:// or https://; anything
// else could act when it is followed, and counts as "".
func WithLinks(link func(Node) string) Option {
	return Option{func(g *Graph) {
		g.Marked = true

		for i := range g.Nodes {
			g.Nodes[i].Link = ""

			if link != nil {
				g.Nodes[i].Link = followable(link(g.Nodes[i]))
			}
		}
	}}
}

// followable returns a link if nothing can happen when it is followed but that a page is loaded.
func followable(link string) string {
	// A browser skips some of these before it looks for the scheme.
	odd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar }
	if strings.ContainsFunc(link, odd) {
		return ""
	}

	parsed, err := url.Parse(link)
	if err != nil {
		return ""
	}

	switch parsed.Scheme {
	case "", "http", "https":
		return link
	default:
		return ""
	}
}
