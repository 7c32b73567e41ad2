package show

import (
	"unicode"

	"golang.org/x/text/width"
)

// Width returns how many columns of a terminal a text takes that has neither control characters nor line breaks.
func Width(text string) (columns int) {
	for _, r := range text {
		columns += columnsOf(r)
	}

	return columns
}

// Cut shortens such a text to a number of columns, if it takes more.
func Cut(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}

	left := columns - 1

	for i, r := range text {
		if left -= columnsOf(r); left < 0 {
			return text[:i] + "…"
		}
	}

	return text
}

func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}

	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
