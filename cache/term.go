package cache

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
)

// known tells whether the contract knows an operation.
func known(op resource.LabelOp) bool {
	switch op {
	case resource.LabelOpExists, resource.LabelOpEqual, resource.LabelOpIn:
		return true
	default:
		return compares(op)
	}
}

// compares tells whether an operation compares values. A resource without the label matches no such term, inverted or
// not.
func compares(op resource.LabelOp) bool {
	switch op {
	case resource.LabelOpLT, resource.LabelOpLTE, resource.LabelOpLTNumeric, resource.LabelOpLTENumeric:
		return true
	default:
		return false
	}
}

// precise tells whether a term is one that probably few resources match.
func precise(term resource.LabelTerm) bool {
	return term.Op == resource.LabelOpEqual || term.Op == resource.LabelOpIn
}

// indexable tells whether only resources that have the label match the term, and it has no more than so many values.
func indexable(term resource.LabelTerm, most int) bool {
	if term.Invert && !compares(term.Op) {
		return false
	}

	return term.Op == resource.LabelOpExists || len(term.Value) > 0 && len(term.Value) <= max(1, most)
}

// matching returns the ranges of the index in which all resources are that match an indexable term, in order, with
// nothing in common.
func (x indexed) matching(term resource.LabelTerm) []span {
	switch term.Op {
	case resource.LabelOpEqual:
		return []span{valued(term.Value[0])}
	case resource.LabelOpIn:
		values := slices.Clone(term.Value)
		slices.Sort(values)

		spans := make([]span, 0, len(values))

		for _, value := range slices.Compact(values) {
			spans = append(spans, valued(value))
		}

		return spans
	case resource.LabelOpLT:
		return []span{upTo(valued(term.Value[0]).from, term.Invert)}
	case resource.LabelOpLTE:
		return []span{upTo(valued(term.Value[0]).to, term.Invert)}
	case resource.LabelOpLTNumeric, resource.LabelOpLTENumeric:
		return x.numeric(term)
	default:
		return []span{{}}
	}
}

// valued is the range of a value.
func valued(value string) span {
	value = escaped(value)

	return span{value + ending, value + beyond}
}

// upTo is the range before a key, or from it on.
func upTo(key string, invert bool) span {
	if invert {
		return span{from: key}
	}

	return span{to: key}
}

// numeric returns the ranges of the values that match the term, or everything if there are too many to try.
func (x indexed) numeric(term resource.LabelTerm) []span {
	var spans []span

	for at, tries := "", 0; ; tries++ {
		value, there := x.next(at)

		switch {
		case !there:
			return spans
		case tries == mostValues:
			return []span{{}}
		}

		s := valued(value)
		at = s.to

		var labels resource.Labels

		labels.Set(term.Key, value)

		if labels.Matches(term) {
			spans = append(spans, s)
		}
	}
}

// next returns the first value whose keys are not before this one.
func (x indexed) next(key string) (value string, there bool) {
	x.set.scan(span{from: key}, func(key string, _ struct{}) bool {
		value, _ = valueOf(key)
		there = true

		return false
	})

	return value, there
}
