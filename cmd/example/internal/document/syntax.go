package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// SizeLimit is how long a document may be, in bytes.
const SizeLimit = 1 << 20

// syntax turns the text into a tree, or reports why it is none.
func (r *reader) syntax(text []byte) (value, bool) {
	if len(text) > SizeLimit {
		r.problems = append(r.problems, Problem{Message: "the document is longer than 1 MiB"})

		return value{}, false
	}

	decoder := yaml.NewDecoder(bytes.NewReader(text))

	var document, second yaml.Node

	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		r.problems = append(r.problems, Problem{Message: "the document is empty"})

		return value{}, false
	case err != nil:
		r.problems = append(r.problems, syntaxProblem(err, text))

		return value{}, false
	}

	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.problems = append(r.problems, syntaxProblem(err, text))

		return value{}, false
	default:
		r.problems = append(r.problems, Problem{Line: second.Line, Message: "a second document begins here; there may be only one"})

		return value{}, false
	}

	if len(document.Content) == 0 {
		r.problems = append(r.problems, Problem{Message: "the document is empty"})

		return value{}, false
	}

	budget := aliasLimit

	if alias := tooMuch(document.Content[0], false, &budget); alias != nil {
		r.value(alias, "").refuse("aliases repeat more than %d values", aliasLimit)

		return value{}, false
	}

	return r.value(document.Content[0], ""), true
}

// aliasLimit is how many values all aliases of a document together may stand for. A short text could stand for more
// than any memory holds otherwise.
const aliasLimit = 100_000

// tooMuch returns the node at which a budget for values that are repeated by aliases is used up, or nil if it never
// is. An alias inside of what it stands for uses up any budget.
func tooMuch(node *yaml.Node, repeated bool, budget *int) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return tooMuch(node.Alias, true, budget)
	}

	if repeated {
		*budget--
	}

	if *budget < 0 {
		return node
	}

	for _, part := range node.Content {
		if at := tooMuch(part, repeated, budget); at != nil {
			return at
		}
	}

	return nil
}

var (
	markPlace   = regexp.MustCompile(`line (\d+)(?:, column (\d+))?: `)
	offsetPlace = regexp.MustCompile(`offset (\d+): `)
)

// syntaxProblem finds the place in an error of the YAML package. The package keeps its marks to itself, so they are
// read from the message; the message that is left says what was wrong.
func syntaxProblem(err error, text []byte) Problem {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	lines := bytes.Count(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) + 1

	p := Problem{Message: "the text is not valid YAML: " + message}

	if places := markPlace.FindAllStringSubmatchIndex(message, -1); len(places) > 0 {
		last := places[len(places)-1]
		p.Line, _ = strconv.Atoi(message[last[2]:last[3]])

		if last[4] >= 0 {
			p.Column, _ = strconv.Atoi(message[last[4]:last[5]])
		}

		p.Message = "the text is not valid YAML: " + message[last[1]:]

		// The stages of the package count differently: the scanner lines from 1, the parser from 0, and the composer,
		// which is the one with pointers, has added 1 to the column already.
		switch fmt.Sprintf("%T", err) {
		case "libyaml.ParserError":
			p.Line++
		case "*libyaml.ParserError":
			p.Column = max(p.Column-1, 0)
		}
	} else if place := offsetPlace.FindStringSubmatchIndex(message); place != nil {
		offset, _ := strconv.Atoi(message[place[2]:place[3]])
		p.Line = 1 + bytes.Count(text[:min(offset, len(text))], []byte("\n"))
		p.Message = "the text is not valid YAML: " + message[place[1]:]
	}

	// Where something is missing at the end, the place is one past the last line.
	p.Line = min(p.Line, lines)

	return p
}
