package show

import (
	"bufio"
	"io"
	"strings"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// widest is how wide a column is made, in columns of a terminal, for what it holds. What is longer sticks out.
const widest = 60

// Table writes rows in columns. Rows may come in several parts: columns grow, and never shrink. The zero value is a table
// without a column.
type Table struct {
	widths []int
}

// Write writes rows, of one line each. Cells may hold anything.
func (t *Table) Write(w io.Writer, rows [][]string) error {
	lines := make([][]string, 0, len(rows))

	for _, row := range rows {
		line := make([]string, len(row))

		for i, cell := range row {
			line[i] = api.Printable(cell)

			if i == len(t.widths) {
				t.widths = append(t.widths, 0)
			}

			t.widths[i] = max(t.widths[i], min(Width(line[i]), widest))
		}

		lines = append(lines, line)
	}

	out := bufio.NewWriter(w)

	for _, line := range lines {
		out.WriteString(strings.TrimRight(t.line(line), " "))
		out.WriteByte('\n')
	}

	return out.Flush()
}

func (t *Table) line(cells []string) string {
	var b strings.Builder

	for i, cell := range cells {
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", max(0, t.widths[i]-Width(cell))+3))
	}

	return b.String()
}
