// Package show owns how resources are shown: as rows of a table, as YAML, and as JSON. Names and contents may be anything, and
// do nothing to a terminal in any of the three; what is not to be seen is shown in none.
//
// The package starts no goroutine.
package show
