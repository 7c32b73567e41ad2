package cache

import (
	"cmp"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// mostBeginnings is how many beginnings a regular expression may fix; one that fixes more is taken to fix none.
const mostBeginnings = 1024

// longest is how many bytes of a beginning are looked at: more would hardly leave out more, and costs time at each further
// part of the expression.
const longest = 1024

// beginning is the range of the strings with a prefix.
func beginning(prefix string) span {
	for end := []byte(prefix); len(end) > 0; end = end[:len(end)-1] {
		if last := len(end) - 1; end[last] < 0xff {
			end[last]++

			return span{prefix, string(end)}
		}
	}

	return span{from: prefix}
}

// beginnings returns ranges that have all strings of one line that the expression matches, in order, with nothing in
// common: not ok if those may be anywhere. Of strings with several lines it can not be told: whether "^" is the beginning
// of each line depends on how the expression was compiled, which it does not say.
func beginnings(re *regexp.Regexp) (spans []span, ok bool) {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil, false
	}

	all, ok := follow([]start{{reach: nowhere}}, tree)
	if !ok || slices.ContainsFunc(all, func(s start) bool { return s.reach == nowhere }) {
		return nil, false
	}

	for _, s := range all {
		if s.reach == closed {
			spans = append(spans, span{s.text, s.text + "\x00"})
		} else {
			spans = append(spans, beginning(s.text))
		}
	}

	return merged(spans), true
}

// merged returns the ranges in order, with those made one that have something in common.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })

	var apart []span

	for _, s := range spans {
		if last := len(apart) - 1; last < 0 || !apart[last].holds(s.from) {
			apart = append(apart, s)
		} else if apart[last].to != "" && (s.to == "" || s.to > apart[last].to) {
			apart[last].to = s.to
		}
	}

	return apart
}

// start is one way in which a string may begin that has matched a part of an expression.
type start struct {
	text  string
	reach reach
}

// reach is how far what is known of a string goes.
type reach int

const (
	nowhere reach = iota // the match may begin anywhere in the string
	exactly              // what was matched is the beginning of the string, and is the text
	openly               // the string begins with the text
	closed               // the string is the text
)

// follow returns the ways in which strings begin after a further part has matched: not ok if that is not known, or there
// are too many. Ways that no string begins in may be among them.
func follow(in []start, re *syntax.Regexp) (out []start, ok bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpBeginLine, syntax.OpEndLine:
		return in, true
	case syntax.OpNoMatch:
		return nil, true
	case syntax.OpBeginText:
		return turned(in, nowhere, exactly), true
	case syntax.OpEndText:
		return turned(in, exactly, closed), true
	case syntax.OpLiteral:
		return literal(in, re)
	case syntax.OpCharClass:
		return class(in, re)
	case syntax.OpCapture:
		return follow(in, re.Sub[0])
	case syntax.OpConcat:
		return concatenation(in, re.Sub)
	case syntax.OpAlternate:
		return alternation(in, re.Sub)
	case syntax.OpQuest:
		return alternation(in, []*syntax.Regexp{re.Sub[0], {Op: syntax.OpEmptyMatch}})
	case syntax.OpPlus, syntax.OpRepeat:
		// The POSIX syntax, which the expression may have been compiled as, takes "+?" for what may be missing.
		if re.Flags&syntax.NonGreedy == 0 && (re.Op == syntax.OpPlus || re.Min > 0) {
			return once(in, re.Sub[0])
		}
	}

	return anything(in)
}

// turned returns the ways with one reach made another.
func turned(in []start, from, to reach) []start {
	out := slices.Clone(in)

	for i := range out {
		if out[i].reach == from {
			out[i].reach = to
		}
	}

	return out
}

// anything is what follows when nothing is known of what matched.
func anything(in []start) ([]start, bool) {
	anywhere := slices.ContainsFunc(in, func(s start) bool { return s.reach == nowhere })

	return turned(in, exactly, openly), !anywhere
}

// once is what follows when a part has matched once and perhaps again.
func once(in []start, re *syntax.Regexp) ([]start, bool) {
	out, ok := follow(in, re)
	if !ok {
		return nil, false
	}

	return anything(out)
}

func concatenation(in []start, parts []*syntax.Regexp) (out []start, ok bool) {
	for _, part := range parts {
		if in, ok = follow(in, part); !ok {
			return nil, false
		}
	}

	return in, true
}

func alternation(in []start, parts []*syntax.Regexp) (out []start, ok bool) {
	for _, part := range parts {
		more, ok := follow(in, part)
		if !ok || len(out)+len(more) > mostBeginnings {
			return nil, false
		}

		out = append(out, more...)
	}

	return out, true
}

// literal appends the text of a literal, up to what it does not fix.
func literal(in []start, re *syntax.Regexp) ([]start, bool) {
	if re.Flags&syntax.FoldCase != 0 {
		return appended(in, []string{""}, false)
	}

	fixed := re.Rune[:min(len(re.Rune), longest+1)] // with one that is too many it is cut

	if loose := slices.IndexFunc(fixed, func(r rune) bool { return !fixes(r) }); loose >= 0 {
		return appended(in, []string{string(fixed[:loose])}, false)
	}

	return appended(in, []string{string(fixed)}, true)
}

// class appends each rune of a class, if there are few.
func class(in []start, re *syntax.Regexp) ([]start, bool) {
	const most = 64

	var texts []string

	for i := 0; i < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(texts) == most || !fixes(r) {
				return anything(in)
			}

			texts = append(texts, string(r))
		}
	}

	return appended(in, texts, true)
}

// fixes tells whether a rune in an expression matches one sequence of bytes only: the one that stands for what is not
// UTF-8 matches any of that.
func fixes(r rune) bool { return r != utf8.RuneError }

// appended returns the ways with each of the texts at their end; fixed tells whether that was all of what matched.
func appended(in []start, texts []string, fixed bool) (out []start, ok bool) {
	for _, s := range in {
		switch s.reach {
		case nowhere:
			return nil, false
		case openly, closed:
			out = append(out, s)

			continue
		}

		for _, text := range texts {
			if len(out) == mostBeginnings {
				return nil, false
			}

			next := start{text: s.text + text, reach: exactly}
			if len(next.text) > longest {
				next.text = next.text[:longest]
				next.reach = openly
			}

			if !fixed {
				next.reach = openly
			}

			out = append(out, next)
		}
	}

	return out, true
}
