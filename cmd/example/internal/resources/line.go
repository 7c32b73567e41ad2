package resources

import "strings"

// Line cuts a text to one line for a table: line breaks become spaces, and what is too long is left out.
func Line(text string) string {
	const limit = 100

	text = strings.Join(strings.Fields(text), " ")

	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}

	return text
}
