package recording

import (
	"fmt"
	"strings"
)

// around is how many lines that are the same a diff shows before and after those that are not.
const around = 3

// edit is a line of one or both of two texts: ' ' for both, '-' for the first, '+' for the second.
type edit struct {
	sign byte
	text string
}

// unified returns the difference of two texts as a unified diff.
func unified(fromName, from, toName, to string) string {
	edits := compare(split(from), split(to))

	var b strings.Builder

	fmt.Fprintf(&b, "--- %s\n+++ %s\n", fromName, toName)

	// a and c count the lines of either text before a hunk.
	a, c := 0, 0

	for i := 0; i < len(edits); {
		end := hunk(edits, i)
		if end == i { // a line that nobody wants to see
			a, c, i = a+1, c+1, i+1

			continue
		}

		inA, inC := 0, 0

		for _, e := range edits[i:end] {
			if e.sign != '+' {
				inA++
			}

			if e.sign != '-' {
				inC++
			}
		}

		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", a+1, inA, c+1, inC)

		for _, e := range edits[i:end] {
			fmt.Fprintf(&b, "%c%s\n", e.sign, e.text)
		}

		a, c, i = a+inA, c+inC, end
	}

	return b.String()
}

// hunk returns where the hunk ends that begins at a line; where none begins, it ends there.
func hunk(edits []edit, begin int) (end int) {
	end = begin

	for i := begin; i < len(edits) && i <= end+2*around; i++ {
		if edits[i].sign == ' ' {
			continue
		}

		if end == begin && i > begin+around {
			return begin
		}

		end = i + 1
	}

	if end == begin {
		return begin
	}

	return min(end+around, len(edits))
}

func split(text string) []string {
	if text == "" {
		return nil
	}

	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// compare finds the longest lines in common. What passes ask for is short, so that a table does.
func compare(a, b []string) (edits []edit) {
	// common[i][j] is how many lines a[i:] and b[j:] have in common.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}

	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}

	i, j := 0, 0

	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			edits = append(edits, edit{' ', a[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			edits = append(edits, edit{'-', a[i]})
			i++
		default:
			edits = append(edits, edit{'+', b[j]})
			j++
		}
	}

	for ; i < len(a); i++ {
		edits = append(edits, edit{'-', a[i]})
	}

	for ; j < len(b); j++ {
		edits = append(edits, edit{'+', b[j]})
	}

	return edits
}
