package docs_test

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the directory of the repository.
const root = ".."

// page is one Markdown file.
type page struct {
	// path is relative to the root of the repository.
	path     string
	blocks   []block
	links    []link
	headings map[string]bool // by the anchors that they make
	text     string
}

// block is one fenced block.
type block struct {
	language string
	lines    []string
	line     int // of its fence
}

type link struct {
	target string
	line   int
}

var (
	linkPattern    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingPattern = regexp.MustCompile(`^#+\s+(.*)$`)
	notInAnchor    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// pages reads all Markdown files that are for readers: those at the root and those below docs.
func pages(t *testing.T) []page {
	t.Helper()

	paths, err := filepath.Glob(filepath.Join(root, "*.md"))
	require.NoError(t, err)

	below, err := filepath.Glob("*.md")
	require.NoError(t, err)
	require.NotEmpty(t, below)

	for _, path := range below {
		paths = append(paths, filepath.Join(root, "docs", path))
	}

	var all []page

	for _, path := range paths {
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)

		all = append(all, read(t, filepath.ToSlash(name)))
	}

	return all
}

// read reads the file with the path, which is relative to the root.
func read(t *testing.T, path string) page {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)

	var (
		p     = page{path: path, headings: map[string]bool{}, text: string(text)}
		lines = bufio.NewScanner(strings.NewReader(p.text))
		open  *block
	)

	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")

		switch {
		case fence && open == nil:
			open = &block{language: language, line: number}
		case fence:
			p.blocks, open = append(p.blocks, *open), nil
		case open != nil:
			open.lines = append(open.lines, line)
		default:
			p.take(line, number)
		}
	}

	require.NoError(t, lines.Err())
	require.Nil(t, open, "%s has a fence that is not closed", path)

	return p
}

// take takes in a line of prose.
func (p *page) take(line string, number int) {
	if heading := headingPattern.FindStringSubmatch(line); heading != nil {
		p.headings[anchor(heading[1])] = true
	}

	for _, found := range linkPattern.FindAllStringSubmatch(line, -1) {
		p.links = append(p.links, link{target: found[1], line: number})
	}
}

// anchor returns the fragment by which renderers make a heading reachable.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
