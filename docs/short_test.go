package docs_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostColumns is how wide a line of a definition may be, with tabs of four.
const mostColumns = 140

// The definitions of the examples are short, and their lines are not long: from the line that begins one to the one that returns it
// there are at most so many with code. That is one and a half times of what the same takes as decorated functions of Python.
func TestDefinitionsAreShort(t *testing.T) {
	for _, definition := range []struct {
		file, function string
		most           int
	}{
		{"examples/settings/controllers.go", "scope", 25},
		{"examples/settings/controllers.go", "stages", 18},
		{"examples/settings/controllers.go", "cases", 12},
		{"examples/externalrecord/controller.go", "records", 13},
	} {
		t.Run(definition.function, func(t *testing.T) {
			text, err := os.ReadFile(filepath.FromSlash(definition.file))
			require.NoError(t, err)

			formatted, err := format.Source(text)
			require.NoError(t, err)
			require.Equal(t, string(formatted), string(text), "gofmt would write it otherwise")

			begin, end := linesOf(t, text, definition.function)
			code := codeLines(t, text, begin, end)
			assert.LessOrEqual(t, code, definition.most, "%s in %s has %d lines of code", definition.function, definition.file, code)
			t.Logf("%s: %d lines, at most %d", definition.function, code, definition.most)

			for number, line := range strings.Split(string(text), "\n") {
				assert.LessOrEqual(t, len(strings.ReplaceAll(line, "\t", "    ")), mostColumns, "%s:%d is too long", definition.file, number+1)
			}
		})
	}
}

// linesOf returns the lines from the one that begins a definition to the one that returns it: all of the function that makes it,
// which has one return of its own.
func linesOf(t *testing.T, text []byte, function string) (begin, end int) {
	t.Helper()

	files := token.NewFileSet()

	parsed, err := parser.ParseFile(files, "", text, 0)
	require.NoError(t, err)

	for _, decl := range parsed.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Name.Name != function {
			continue
		}

		first, last := fn.Body.List[0], fn.Body.List[len(fn.Body.List)-1]
		require.IsType(t, &ast.ReturnStmt{}, last)

		begin, end = files.Position(first.Pos()).Line, files.Position(last.End()).Line
		require.Contains(t, strings.Split(string(text), "\n")[begin-1], "operator.For[", "it does not begin with the definition")

		return begin, end
	}

	require.Fail(t, "no such function", function)

	return 0, 0
}

// codeLines counts the lines on which a token stands.
func codeLines(t *testing.T, text []byte, begin, end int) int {
	t.Helper()

	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	lines := map[int]bool{}

	var s scanner.Scanner

	s.Init(file, text, nil, 0)

	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}

		// A semicolon that nobody wrote stands at the end of each line.
		if line := files.Position(pos).Line; line >= begin && line <= end && !(tok == token.SEMICOLON && literal == "\n") {
			lines[line] = true
		}
	}

	require.Zero(t, s.ErrorCount)

	return len(lines)
}
