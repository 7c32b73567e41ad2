package main

import (
	"fmt"
	"os"
	"strings"
)

// The page that the table is written into, and the lines between which it stands there.
const (
	page  = "docs/benchmarks.md"
	begin = "<!-- begin of the table that go run ./bench -write makes -->"
	end   = "<!-- end of the table -->"
)

// rewrite replaces what is between the markers of a page.
func rewrite(path, table string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("-write: %w: run it from the root of the repository", err)
	}

	before, rest, ok := strings.Cut(string(text), begin)
	if !ok {
		return fmt.Errorf("-write: %s has no line %q", path, begin)
	}

	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return fmt.Errorf("-write: %s has no line %q", path, end)
	}

	return os.WriteFile(path, []byte(before+begin+"\n\n"+table+"\n"+end+after), 0o644)
}
