package selector

import (
	"strconv"
	"strings"
	"unicode"
)

// Kinds of tokens; those of operators and brackets are what they look like.
const (
	end     = "end"
	word    = "word"
	unended = "unended"
)

// token is a piece of a selector.
type token struct {
	kind string
	// text is the word, without its quotes if it was quoted.
	text   string
	quoted bool
}

// scanner takes a selector apart.
type scanner struct {
	text string
	// off is where the rest begins.
	off int
}

// special are the characters that end a word.
const special = `,()=!<>"`

// next returns the next token and where it begins.
func (s *scanner) next() (at int, t token) {
	rest := strings.TrimLeftFunc(s.text[s.off:], unicode.IsSpace)
	at = len(s.text) - len(rest)

	switch {
	case rest == "":
		s.off = at

		return at, token{kind: end}
	case rest[0] == '"':
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return at, token{kind: unended}
		}

		s.off = at + len(quoted)
		text, _ := strconv.Unquote(quoted) // QuotedPrefix has looked at it

		return at, token{word, text, true}
	}

	for _, operator := range []string{"==", "!=", "<=", ">=", "=", "!", "<", ">", ",", "(", ")"} {
		if strings.HasPrefix(rest, operator) {
			s.off = at + len(operator)

			return at, token{kind: operator}
		}
	}

	length := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(special, r) })
	if length < 0 {
		length = len(rest)
	}

	s.off = at + length

	return at, token{word, rest[:length], false}
}
