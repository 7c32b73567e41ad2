package prom

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

const (
	// Others is the label of all that have none of their own.
	Others = "(others)"

	// longest is how many bytes of a name make a label.
	longest = 128
	// cut marks names that are not what they are labelled.
	cut = "…"
)

// label returns the label of a name, which is the name itself if that is short and valid. Different names have different labels.
func label(name string) string {
	if len(name) <= longest && utf8.ValidString(name) && name != Others && !strings.Contains(name, cut) {
		return name
	}

	hash := sha256.Sum256([]byte(name))
	short := name

	if len(short) > longest {
		short = short[:longest]
		for len(short) > 0 && !utf8.RuneStart(name[len(short)]) {
			short = short[:len(short)-1]
		}
	}

	return strings.ToValidUTF8(short, "\uFFFD") + cut + hex.EncodeToString(hash[:8])
}

// labels says who has a label of his own. Whoever has come first has one for as long as he is there, and whoever has come when
// there was none left has none for as long.
type labels[K comparable] struct {
	most int
	own  map[K]bool // of all who were there at the last look
}

func newLabels[K comparable](most int) *labels[K] {
	return &labels[K]{most: most, own: map[K]bool{}}
}

// look takes in who is there now, in the order in which they have come.
func (l *labels[K]) look(names []K) {
	own := make(map[K]bool, len(names))
	used := 0

	for _, name := range names {
		if l.own[name] {
			own[name] = true
			used++
		}
	}

	for _, name := range names {
		if _, known := l.own[name]; !known && !own[name] && used < l.most {
			own[name] = true
			used++
		} else if !own[name] {
			own[name] = false
		}
	}

	l.own = own
}

// has tells whether somebody has a label of his own.
func (l *labels[K]) has(name K) bool { return l.own[name] }
