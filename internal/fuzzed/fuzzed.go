// Package fuzzed reads the choices of a test out of the bytes of a fuzzer, so that a fuzzer, which knows of bytes alone,
// drives what takes operations and names. It owns nothing and starts no goroutine. Nothing but tests should import it.
package fuzzed

import "strings"

const (
	// Long is the length of the strings that are longer than most code expects.
	Long = 1 << 16
	// Huge is the length of the longest strings.
	Huge = 1 << 20

	// enough is how long the strings of one run are together, of which all that is too much is cut off.
	enough = 3 * Huge
)

// Odd returns strings that mean something to somebody on the way: that are empty, look like others, are not of UTF-8, or have
// characters in them that end a line, a path, a quotation or a string.
func Odd() []string {
	return []string{
		"", "a", "b", "ab", " ", " a", "/", "a/b", "(n/a)", "*", ".", "-1", "1k", "%s%n", `"quoted"`, "`", `\`, "|", "<b>&amp;",
		"\n", "new\nline", "\x00", "\x00\x01", "a\x00", "\x1b[31m", "\x7f", "\xff", "\xff\xfe", "a\xff", "\xed\xa0\x80", "\ufffd",
		"ключ", "é", "e\u0301", "🚂", "\u202e", "\ufeff", "\u2028", "\U0010ffff", "\u212a",
	}
}

// Bytes are the bytes of a fuzzer, from the first to the last. After those each choice is the first one. The same bytes make
// the same choices.
type Bytes struct {
	rest  []byte
	texts []string
	spent int // the length of all texts
}

// From returns the choices that the bytes make.
func From(data []byte) *Bytes { return &Bytes{rest: data} }

// More tells whether there are bytes left.
func (b *Bytes) More() bool { return len(b.rest) > 0 }

// Pick returns a number from 0 up to below n, which is at most 256.
func (b *Bytes) Pick(n int) int {
	if len(b.rest) == 0 {
		return 0
	}

	picked := int(b.rest[0]) % n
	b.rest = b.rest[1:]

	return picked
}

// Often tells yes, but one time in so many; after the end too.
func (b *Bytes) Often(n int) bool { return b.Pick(n) < n-1 }

// Text returns any string at all: mostly one that was returned before, so that they meet, or an odd one, one that has much
// in common with a former one, or some of the bytes as they are. One in a hundred is long or huge.
func (b *Bytes) Text() string {
	n := b.Pick(256)

	if n < 128 && len(b.texts) > 0 {
		return b.texts[n%len(b.texts)]
	}

	var text string

	switch odd := Odd(); {
	case n < 192:
		text = odd[n%len(odd)]
	case n < 224:
		text = b.literal()
	case n < 253:
		text = b.former() + b.literal()
	case n < 255:
		text = strings.Repeat("ab", Long/2) + b.literal()
	default:
		text = strings.Repeat("x", Huge) + b.literal()
	}

	if b.spent+len(text) > enough {
		text = text[:min(len(text), 8)]
	}

	b.spent += len(text)
	b.texts = append(b.texts, text)

	return text
}

// Texts returns one to so many strings, which are all different.
func (b *Bytes) Texts(most int) []string {
	var texts []string

	known := map[string]bool{}

	for range 1 + b.Pick(most) {
		if text := b.Text(); !known[text] {
			known[text] = true
			texts = append(texts, text)
		}
	}

	return texts
}

// former returns a string that was returned before, if there is one.
func (b *Bytes) former() string {
	if len(b.texts) == 0 {
		return ""
	}

	return b.texts[b.Pick(256)%len(b.texts)]
}

// literal returns some of the bytes as they are.
func (b *Bytes) literal() string {
	n := min(b.Pick(8), len(b.rest))
	text := string(b.rest[:n])
	b.rest = b.rest[n:]

	return text
}

// One returns one of a list.
func One[T any](b *Bytes, of []T) T { return of[b.Pick(256)%len(of)] }
