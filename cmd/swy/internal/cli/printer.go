package cli

import (
	"fmt"
	"io"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/show"
)

// printer prints resources in one of the formats.
type printer struct {
	out    io.Writer
	format string
	// watch tells that what has happened to each is shown as well.
	watch   bool
	columns *show.Columns
	secret  show.Secret

	table show.Table
	begun bool
}

// print prints resources to which the same has happened.
func (p *printer) print(event string, all ...resource.Resource) error {
	events := make([]happened, 0, len(all))
	for _, r := range all {
		events = append(events, happened{event, r})
	}

	return p.printAll(events)
}

// happened is a resource, and what has happened to it.
type happened struct {
	event    string
	resource resource.Resource
}

func (p *printer) printAll(events []happened) error {
	first := !p.begun
	p.begun = true

	if p.format == "table" {
		return p.printTable(first, events)
	}

	for i, e := range events {
		render := show.JSON
		if p.format == "yaml" {
			render = show.YAML
		}

		text, err := render(e.resource, p.secret, e.event)
		if err != nil {
			return &refusedError{what: err.Error()}
		}

		if p.format == "yaml" && (!first || i > 0) {
			text = append([]byte("---\n"), text...)
		}

		if _, err := p.out.Write(text); err != nil {
			return err
		}
	}

	p.begun = p.begun && (len(events) > 0 || !first)

	return nil
}

func (p *printer) printTable(first bool, events []happened) error {
	var rows [][]string

	if first {
		rows = append(rows, p.row("EVENT", p.columns.Titles()))
	}

	for _, e := range events {
		rows = append(rows, p.row(e.event, p.columns.Row(e.resource)))
	}

	return p.table.Write(p.out, rows)
}

func (p *printer) row(event string, cells []string) []string {
	if !p.watch {
		return cells
	}

	return append([]string{fmt.Sprintf("%-*s", len("destroyed"), event)}, cells...)
}
