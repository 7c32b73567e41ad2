package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one reason to refuse a document.
type Problem struct {
	// Line counts from 1; 0 where the problem is about the document as a whole.
	Line int `yaml:"line" protobuf:"1"`
	// Column counts from 1; 0 where only the line is known.
	Column int `yaml:"column,omitempty" protobuf:"2"`
	// Field is the path to the value, such as services[2].needs[0]; empty where the text is no YAML at all.
	Field string `yaml:"field,omitempty" protobuf:"3"`
	// Message says what is wrong and what would be right.
	Message string `yaml:"message" protobuf:"4"`
}

// String renders the problem as "line:column: field: message", without the parts that are not known.
func (p Problem) String() string {
	var b strings.Builder

	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:", p.Line)

		if p.Column > 0 {
			fmt.Fprintf(&b, "%d:", p.Column)
		}

		b.WriteByte(' ')
	}

	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}

	b.WriteString(p.Message)

	return b.String()
}

// In renders the problem after the name of the file that it is in, as compilers do.
func (p Problem) In(file string) string {
	if p.Line > 0 {
		return file + ":" + p.String()
	}

	return file + ": " + p.String()
}

// Error is why a document was refused.
type Error struct {
	// File is where the document came from, or empty.
	File string
	// Problems are all there are, in the order of the text.
	Problems []Problem
}

// Error renders one problem a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))

	for i, p := range e.Problems {
		if lines[i] = p.String(); e.File != "" {
			lines[i] = p.In(e.File)
		}
	}

	return strings.Join(lines, "\n")
}

func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
