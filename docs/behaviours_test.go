package docs_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// behavioursPage is the page that maps behaviours to tests.
const behavioursPage = "docs/behaviours.md"

// behaviours is how many there are in each section that the page may have.
var behaviours = map[string]int{"000": 74, "001": 90, "002": 49}

// ruledOut begins the last cell of a behaviour that is not to be, and is followed by why.
const ruledOut = "ruled out:"

var (
	behavioursHeader = []string{"#", "behaviour", "held by"}
	sectionHeading   = regexp.MustCompile(`^## ([0-9]{3})\b`)
	testInCell       = regexp.MustCompile("^`([a-z0-9/]+\\.(?:Test|Example|Fuzz)[A-Za-z0-9_]*)`$")
	testFunction     = regexp.MustCompile(`\nfunc ((?:Test|Example|Fuzz)[A-Za-z0-9_]*)\(`)
)

// behaviour is one row.
type behaviour struct {
	number string // "002-01"
	tests  []string
	reason string // why it is ruled out, if it is
	line   int
}

// parseBehaviours reads the rows of each section. Whatever is not as it should be in one is an error that names the line.
func parseBehaviours(text string) (map[string][]behaviour, error) {
	sections := map[string][]behaviour{}
	section, inTable := "", false

	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "## ") {
			section, inTable = "", false

			if found := sectionHeading.FindStringSubmatch(line); found != nil {
				section = found[1]

				if _, twice := sections[section]; twice {
					return nil, fmt.Errorf("line %d: section %s is there already", i+1, section)
				}

				sections[section] = nil
			}

			continue
		}

		cells, ok := cellsOf(line)

		switch {
		case !ok || section == "":
			inTable = false
		case slices.Equal(cells, behavioursHeader):
			inTable = true
		case inTable && !strings.HasPrefix(cells[0], "---"):
			row, err := parseBehaviour(cells)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}

			row.line = i + 1
			sections[section] = append(sections[section], row)
		}
	}

	return sections, nil
}

// cellsOf splits a line of a table.
func cellsOf(line string) ([]string, bool) {
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

func parseBehaviour(cells []string) (behaviour, error) {
	if len(cells) != len(behavioursHeader) {
		return behaviour{}, fmt.Errorf("%d cells, not %d", len(cells), len(behavioursHeader))
	}

	row := behaviour{number: cells[0]}

	if cells[1] == "" {
		return row, fmt.Errorf("%s does not say what is done", row.number)
	}

	if reason, out := strings.CutPrefix(cells[2], ruledOut); out {
		if row.reason = strings.TrimSpace(reason); row.reason == "" {
			return row, fmt.Errorf("%s is ruled out without a reason", row.number)
		}

		return row, nil
	}

	for cell := range strings.SplitSeq(cells[2], ",") {
		found := testInCell.FindStringSubmatch(strings.TrimSpace(cell))
		if found == nil {
			return row, fmt.Errorf("%s: %q is not a test: write `package/dir.TestName`, separated by commas, or \"%s\" and why",
				row.number, strings.TrimSpace(cell), ruledOut)
		}

		row.tests = append(row.tests, found[1])
	}

	return row, nil
}

// testsOfRepository returns all tests, as pages name them.
func testsOfRepository(t *testing.T) map[string]bool {
	t.Helper()

	names := map[string]bool{}

	for file, text := range sources(t) {
		dir, err := filepath.Rel(root, filepath.Dir(file))
		require.NoError(t, err)

		if !strings.HasSuffix(file, "_test.go") {
			continue
		}

		for _, found := range testFunction.FindAllStringSubmatch(text, -1) {
			names[filepath.ToSlash(dir)+"."+found[1]] = true
		}
	}

	return names
}

// In each section that the page has, every behaviour is there, in order, and is held by tests that exist or is ruled out for a
// reason.
func TestBehavioursAreHeld(t *testing.T) {
	sections, err := parseBehaviours(read(t, behavioursPage).text)
	require.NoError(t, err, behavioursPage)
	require.NotEmpty(t, sections)

	existing := testsOfRepository(t)

	for section, rows := range sections {
		count, known := behaviours[section]
		if !assert.True(t, known, "%s: there is no section %s", behavioursPage, section) {
			continue
		}

		for i, row := range rows {
			want := section + "-" + fmt.Sprintf("%02d", i+1)
			if !assert.Equal(t, want, row.number, "%s:%d: the rows are not in order, or one is missing", behavioursPage, row.line) {
				break
			}

			for j, test := range row.tests {
				assert.True(t, existing[test], "%s:%d: %s names %s, and there is no such test", behavioursPage, row.line, row.number, test)
				assert.NotContains(t, row.tests[:j], test, "%s:%d: %s names %s twice", behavioursPage, row.line, row.number, test)
			}
		}

		assert.Equal(t, count, len(rows), "%s: section %s has not as many rows as there are behaviours", behavioursPage, section)
	}
}

func TestBehavioursAreParsed(t *testing.T) {
	const head = "# Title\n\n## 002: loop\n\n| # | behaviour | held by |\n|---|---|---|\n"

	sections, err := parseBehaviours("| # | behaviour | held by |\n|---|---|---|\n| 1 | none |\n\n" + head +
		"| 002-01 | One. | `queue.TestOne`, `docs/examples.Example_two` |\n| 002-02 | Two. | ruled out: `Len` is enough |\n\nText.\n" +
		"| other | table |\n\n## Notes\n\n| 002-03 | no | row |\n\n## 001\n")
	require.NoError(t, err)
	require.Equal(t, map[string][]behaviour{
		"001": nil,
		"002": {
			{"002-01", []string{"queue.TestOne", "docs/examples.Example_two"}, "", 11},
			{"002-02", nil, "`Len` is enough", 12},
		},
	}, sections)

	for text, problem := range map[string]string{
		head + "| 002-01 | One. |\n":                           "line 7: 2 cells",
		head + "| 002-01 |  | `a.TestB` |\n":                   "line 7: 002-01 does not say",
		head + "| 002-01 | One. |  |\n":                        `line 7: 002-01: "" is not a test`,
		head + "| 002-01 | One. | a.TestB |\n":                 `line 7: 002-01: "a.TestB" is not a test`,
		head + "| 002-01 | One. | `a.TestB` and `a.TestC` |\n": "is not a test",
		head + "| 002-01 | One. | `a.BenchmarkB` |\n":          "is not a test",
		head + "| 002-01 | One. | ruled out |\n":               "is not a test",
		head + "| 002-01 | One. | ruled out: |\n":              "line 7: 002-01 is ruled out without a reason",
		head + "\n## 002\n":                                    "line 8: section 002 is there already",
	} {
		_, err := parseBehaviours(text)
		require.ErrorContains(t, err, problem, text)
	}
}
