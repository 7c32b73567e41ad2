// Package selector owns the text form of label queries: what is written after -l, and what of it is a mistake and where.
//
// A selector is a list of terms with commas between them, all of which have to hold:
//
//	key              has the label            !key               has it not
//	key=value        is equal                 key!=value         is not, or there is no such label
//	key in (a, b)    is one of them           key notin (a, b)   is none of them, or there is no such label
//	key<value        is less                  key<=value         is less or equal
//	key>value        is more                  key>=value         is more or equal
//
// Where the value of a comparison is a number, with a unit or without, numbers are compared, otherwise texts. Keys and values
// with characters that mean something here stand in double quotes, with the escapes of Go; a value in quotes is a text.
//
// The package starts no goroutine.
package selector

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/cosi-project/runtime/pkg/resource"
)

// Error is a mistake in a selector.
type Error struct {
	// Text is the whole selector, and At the place of the mistake in it, in bytes.
	Text string
	At   int
	// Message says what is wrong there.
	Message string
}

// Error implements error. It says where, in characters from 1 on.
func (e *Error) Error() string {
	return fmt.Sprintf("%s, at character %d of %q", e.Message, utf8.RuneCountInString(e.Text[:e.At])+1, e.Text)
}

// Parse reads a selector. The error is an [*Error].
func Parse(text string) (resource.LabelQuery, error) {
	p := &parser{scanner: scanner{text: text}}
	p.advance()

	var query resource.LabelQuery

	for {
		term, err := p.term()
		if err != nil {
			return resource.LabelQuery{}, err
		}

		query.Terms = append(query.Terms, term)

		switch {
		case p.is(end):
			return query, nil
		case !p.is(","):
			return resource.LabelQuery{}, p.expected(`a comma, or an operator: = != < <= > >= in notin`)
		}

		p.advance()
	}
}

type parser struct {
	scanner

	now token
	// at is where the current token begins.
	at int
}

func (p *parser) advance() { p.at, p.now = p.next() }

func (p *parser) is(kind string) bool { return p.now.kind == kind }

func (p *parser) expected(what string) error {
	message := "here has to be " + what

	switch {
	case p.is(unended):
		message = "the quotes that begin here have no end, or hold a bad escape"
	case p.is(end):
		message = "at the end is missing " + what
	}

	return &Error{p.text, p.at, message}
}

func (p *parser) term() (resource.LabelTerm, error) {
	absent := p.is("!")
	if absent {
		p.advance()
	}

	if !p.is(word) {
		return resource.LabelTerm{}, p.expected("the key of a label")
	}

	term := resource.LabelTerm{Key: p.now.text, Op: resource.LabelOpExists, Invert: absent}
	p.advance()

	if absent || p.is(end) || p.is(",") {
		return term, nil
	}

	operator := p.now
	if operator.kind == word && !operator.quoted {
		operator.kind = operator.text // in and notin are words, too
	}

	switch operator.kind {
	case "=", "==", "!=":
		term.Op, term.Invert = resource.LabelOpEqual, operator.kind == "!="
	case "<", "<=", ">", ">=":
		return p.comparison(term, operator.kind)
	case "in", "notin":
		term.Op, term.Invert = resource.LabelOpIn, operator.kind == "notin"
		p.advance()

		return p.set(term)
	default:
		return term, p.expected("a comma, or an operator: = != < <= > >= in notin")
	}

	p.advance()

	// Labels may be empty: k= asks for those.
	term.Value = []string{""}

	if p.is(word) {
		term.Value = []string{p.now.text}
		p.advance()
	}

	return term, nil
}

// number is what the contract takes for one.
var number = regexp.MustCompile(`(?i)^-?[0-9]+\s*([kmgtp]i?b?)?$`)

// comparison reads what stands behind the operator. What is more is not less or equal: the contract knows only those.
func (p *parser) comparison(term resource.LabelTerm, operator string) (resource.LabelTerm, error) {
	p.advance()

	if !p.is(word) {
		return term, p.expected("what to compare with")
	}

	numeric := !p.now.quoted && number.MatchString(p.now.text)
	orEqual := operator == "<=" || operator == ">"

	switch {
	case numeric && orEqual:
		term.Op = resource.LabelOpLTENumeric
	case numeric:
		term.Op = resource.LabelOpLTNumeric
	case orEqual:
		term.Op = resource.LabelOpLTE
	default:
		term.Op = resource.LabelOpLT
	}

	term.Invert = strings.HasPrefix(operator, ">")
	term.Value = []string{p.now.text}
	p.advance()

	return term, nil
}

func (p *parser) set(term resource.LabelTerm) (resource.LabelTerm, error) {
	if !p.is("(") {
		return term, p.expected("values in parentheses, as (a, b)")
	}

	for {
		p.advance()

		if !p.is(word) {
			return term, p.expected("a value")
		}

		term.Value = append(term.Value, p.now.text)
		p.advance()

		switch {
		case p.is(")"):
			p.advance()

			return term, nil
		case !p.is(","):
			return term, p.expected("a comma or a closing parenthesis")
		}
	}
}
