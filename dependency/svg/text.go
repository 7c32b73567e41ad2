package svg

import (
	"strings"
	"unicode"

	"github.com/switchyard-run/switchyard/dependency/render"
)

// fontStack names typefaces that systems have; nothing is fetched.
const fontStack = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"

// Sizes of text, in pixels.
const (
	titleFont     = 18
	nodeFont      = 13
	namespaceFont = 11
	edgeFont      = 10
	legendFont    = 12
)

// textWidth estimates how wide a text is at a font size, both in pixels. It errs on the wide side, since the typeface
// is the reader's.
func textWidth(text string, font float64) float64 {
	var em float64

	for _, r := range text {
		em += runeWidth(r)
	}

	return em * font
}

// runeWidth is in units of the font size.
func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("ijl.,:;'|!I ", r):
		return 0.36
	case strings.ContainsRune("frt()[]{}/\\-\"`", r):
		return 0.46
	case strings.ContainsRune("mwMW@%", r):
		return 1
	case r < 0x80 && unicode.IsUpper(r):
		return 0.76
	case r < 0x80:
		return 0.64
	case unicode.Is(unicode.Mn, r):
		return 0
	case r < 0x1100:
		return 0.8
	default:
		return 1.1
	}
}

// capHeight is how far the ends of a cylinder reach into it.
const capHeight = 6

// nodeSize returns the width and height that a node takes, in pixels.
func nodeSize(node render.Node) (width, height float64) {
	const (
		padding  = 14
		smallest = 70
	)

	height = 34

	for i, line := range node.Lines() {
		font := float64(nodeFont)

		if i > 0 {
			font = namespaceFont
			height += namespaceFont + 3
		}

		width = max(width, textWidth(line, font))
	}

	if node.Kind == render.Resource {
		height += capHeight
	}

	return max(width+2*padding, smallest), height
}
