package prom

import (
	"maps"
	"slices"
)

// Label is the label of a name.
func Label(name string) string { return label(name) }

// Counts are the names of the counts that are shown.
func Counts() []string { return slices.Sorted(maps.Keys(counts)) }
