package houserules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// promisesPage is the page that maps promises to tests.
	promisesPage = "docs/promises.md"
	// promised is the number of promises that the table is to have at least, E-1 and on.
	promised = 19
)

// promise is one row of the table.
type promise struct {
	name  string // "E-1"
	what  string
	tests []testName
	line  int
}

// testName is a test as the table writes it.
type testName struct{ dir, name string }

func (n testName) String() string { return n.dir + "." + n.name }

var (
	header  = []string{"promise", "what", "tests"}
	naming  = regexp.MustCompile(`^E-[1-9][0-9]*$`)
	written = regexp.MustCompile("^`([a-z0-9/]+)\\.((?:Test|Example|Fuzz)[A-Za-z0-9_]*)`$")
)

// parsePromises reads the rows of the table with the header of promises. Whatever is not as it should be in it is an
// error that names the line.
func parsePromises(page string) ([]promise, error) {
	var promises []promise

	lines := strings.Split(page, "\n")

	begin := -1

	for i, line := range lines {
		if cells, ok := row(line); ok && equal(cells, header) {
			begin = i

			break
		}
	}

	if begin < 0 {
		return nil, fmt.Errorf("no table with the header | %s |", strings.Join(header, " | "))
	}

	for i := begin + 2; i < len(lines); i++ {
		cells, ok := row(lines[i])
		if !ok {
			break
		}

		p, err := parsePromise(cells)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}

		p.line = i + 1
		promises = append(promises, p)
	}

	return promises, nil
}

func parsePromise(cells []string) (promise, error) {
	if len(cells) != len(header) {
		return promise{}, fmt.Errorf("%d cells, not %d", len(cells), len(header))
	}

	p := promise{name: cells[0], what: cells[1]}

	if !naming.MatchString(p.name) {
		return p, fmt.Errorf("%q is not the name of a promise", p.name)
	}

	if p.what == "" {
		return p, fmt.Errorf("%s does not say what is promised", p.name)
	}

	for cell := range strings.SplitSeq(cells[2], ",") {
		cell = strings.TrimSpace(cell)

		match := written.FindStringSubmatch(cell)
		if match == nil {
			return p, fmt.Errorf("%s: %q is not a test: write `package/dir.TestName`, separated by commas", p.name, cell)
		}

		p.tests = append(p.tests, testName{match[1], match[2]})
	}

	return p, nil
}

// row splits a line of a table into its cells.
func row(line string) ([]string, bool) {
	line = strings.TrimSpace(line)
	if len(line) < 2 || line[0] != '|' || line[len(line)-1] != '|' {
		return nil, false
	}

	cells := strings.Split(line[1:len(line)-1], "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}

	return cells, true
}

func equal(a, b []string) bool { return strings.Join(a, "|") == strings.Join(b, "|") }

// testsOf returns the names of the tests in a directory from the root.
func testsOf(t *testing.T, dir string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_test.go"))
	require.NoError(t, err)

	names := map[string]bool{}

	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)

		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		require.NoError(t, err)

		for _, decl := range parsed.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}

	return names
}

// Every promise has tests, all of which exist.
func TestPromisesAreTested(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(promisesPage)))
	require.NoError(t, err)

	promises, err := parsePromises(string(page))
	require.NoError(t, err, promisesPage)

	existing := map[string]map[string]bool{}
	lines := map[string]int{}

	for _, p := range promises {
		if first, twice := lines[p.name]; twice {
			assert.Fail(t, "twice", "%s:%d: %s is in line %d already", promisesPage, p.line, p.name, first)
		}

		lines[p.name] = p.line
		named := map[testName]bool{}

		for _, test := range p.tests {
			if existing[test.dir] == nil {
				existing[test.dir] = testsOf(t, test.dir)
			}

			assert.True(t, existing[test.dir][test.name], "%s:%d: %s names %s, and there is no such test", promisesPage, p.line, p.name, test)
			assert.False(t, named[test], "%s:%d: %s names %s twice", promisesPage, p.line, p.name, test)

			named[test] = true
		}
	}

	for i := 1; i <= promised; i++ {
		name := fmt.Sprintf("E-%d", i)
		assert.Contains(t, lines, name, "%s: %s has no row in the table", promisesPage, name)
	}
}

func TestPromisesAreParsed(t *testing.T) {
	const head = "# Title\n\n| promise | what | tests |\n|---|---|---|\n"

	promises, err := parsePromises("| a | b | c |\n|---|---|---|\n| E-1 | no | no |\n\n" + head +
		"| E-1 | One. | `runtime.TestOne`, `adapter/qruntime.ExampleTwo_three` |\n| E-20 | Two. | `queue.FuzzIt` |\n\n| E-3 | after the table | |\n")
	require.NoError(t, err)
	require.Equal(t, []promise{
		{"E-1", "One.", []testName{{"runtime", "TestOne"}, {"adapter/qruntime", "ExampleTwo_three"}}, 9},
		{"E-20", "Two.", []testName{{"queue", "FuzzIt"}}, 10},
	}, promises)

	for text, problem := range map[string]string{
		"# Title\n":                                     "no table",
		head + "| E-1 | One. |\n":                       "line 5: 2 cells",
		head + "| E-0 | None. | `a.TestB` |\n":          `line 5: "E-0" is not the name`,
		head + "| E-1 |  | `a.TestB` |\n":               "line 5: E-1 does not say",
		head + "| E-1 | One. |  |\n":                    `line 5: E-1: "" is not a test`,
		head + "| E-1 | One. | a.TestB |\n":             `line 5: E-1: "a.TestB" is not a test`,
		head + "| E-1 | One. | `a.TestB` `a.TestC` |\n": "is not a test",
		head + "| E-1 | One. | `a.BenchmarkB` |\n":      "is not a test",
	} {
		_, err := parsePromises(text)
		require.ErrorContains(t, err, problem)
	}
}
