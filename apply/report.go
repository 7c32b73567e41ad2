package apply

import (
	"fmt"
	"strings"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// ContentType is what documents are sent as.
const ContentType = "application/yaml"

// Outcome is what has become of a document.
type Outcome string

// Outcomes.
const (
	// Created is that the resource was not there, and is now.
	Created Outcome = "created"
	// Configured is that the resource was changed.
	Configured Outcome = "configured"
	// Unchanged is that the resource is like that already.
	Unchanged Outcome = "unchanged"
	// Refused is that the resource can not be written. Nothing of it was.
	Refused Outcome = "refused"
	// NotTried is that others could not be written, and this one was left alone because of it.
	NotTried Outcome = "not tried"
)

// Fault is something in the documents that is wrong.
type Fault struct {
	// Document is the number of the document, from 1 on.
	Document int `json:"document"`
	// Field is where in the document, as "spec.size", or empty.
	Field string `json:"field,omitempty"`
	// Line and Column are where in all of the text, from 1 on; 0 is not known.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Message says what is wrong there.
	Message string `json:"message"`
}

// String is the fault in a line.
func (f Fault) String() string {
	text := fmt.Sprintf("document %d", f.Document)

	if f.Line > 0 {
		text += fmt.Sprintf(", line %d", f.Line)
	}

	if f.Field != "" {
		text += ", " + f.Field
	}

	return text + ": " + f.Message
}

// Result is what has become of one document.
type Result struct {
	Document int     `json:"document"`
	Resource api.Ref `json:"resource"`
	Outcome  Outcome `json:"outcome"`
	// Version is the one of the resource now, if it is there and known.
	Version string `json:"version,omitempty"`
	// Reason is why it was refused, and Do what to do about it.
	Reason string `json:"reason,omitempty"`
	Do     string `json:"do,omitempty"`
}

// Report is the answer to a request.
type Report struct {
	// Status is the status of HTTP: 200 if every document was applied.
	Status int `json:"status"`
	// Error says in a sentence why not all is well, and Do what to do about it. Both are empty if all is.
	Error string `json:"error,omitempty"`
	Do    string `json:"do,omitempty"`
	// Faults are what is wrong in the documents. If there are any, nothing was looked at in the state, or written.
	Faults []Fault `json:"faults,omitempty"`
	// Results are what has become of the documents, one for each.
	Results []Result `json:"results,omitempty"`
}

// String is the report for people. Names in it do nothing to a terminal.
func (r *Report) String() string {
	var b strings.Builder

	line := func(indent, text string) { fmt.Fprintf(&b, "%s%s\n", indent, api.Printable(text)) }

	for _, result := range r.Results {
		text := fmt.Sprintf("%s %s", result.Resource, result.Outcome)
		if result.Reason != "" {
			text += ": " + result.Reason
		}

		line("", text)

		if result.Do != "" {
			line("  → ", result.Do)
		}
	}

	for _, fault := range r.Faults {
		line("", fault.String())
	}

	return b.String()
}
