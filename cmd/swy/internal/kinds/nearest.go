package kinds

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// mostNear is how many names are told that come near another.
const mostNear = 5

// Nearest returns names that come near another, the nearest first: those that hold it, and those that differ by a few letters.
// Of the names of one thing, which come together, the nearest stands for it.
func Nearest(name string, things iter.Seq[[]string]) []string {
	type candidate struct {
		name string
		far  int
	}

	var near []candidate

	for names := range things {
		best := candidate{far: -1}

		for _, known := range names {
			far, ok := distance(strings.ToLower(name), strings.ToLower(known))
			if ok && (best.far < 0 || far < best.far) {
				best = candidate{known, far}
			}
		}

		if best.far >= 0 {
			near = append(near, best)
		}
	}

	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.name, b.name)) })

	var all []string
	for _, c := range near[:min(len(near), mostNear)] {
		all = append(all, c.name)
	}

	return all
}

// longest is how long a name may be, in bytes, to be compared letter by letter.
const longest = 64

// distance is how far two names are apart, and whether that is near enough to tell of.
func distance(name, known string) (far int, near bool) {
	switch {
	case name == "":
		return 0, false
	case strings.Contains(known, name):
		return 1, true
	case len(name) > longest || len(known) > longest:
		return 0, false
	}

	far = edits([]rune(name), []rune(known))

	return far, far <= max(1, len(name)/3)
}

// edits is how many letters have to be put in, taken out or replaced to make one name of the other.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}

	for i := range a {
		diagonal := row[0]
		row[0] = i + 1

		for j := range b {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}

			diagonal = row[j+1]
			row[j+1] = min(replace, row[j+1]+1, row[j]+1)
		}
	}

	return row[len(b)]
}
