package houserules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const reliabilityPage = "docs/reliability.md"

// known are the numbers of the faults that the page has a row for.
var known = []int{
	1, 3, 6, 7, 8, 9, 10, 13, 14, 16, 18, 19, 21, 24, 25, 26, 27, 29, 30, 32, 34, 36, 37, 38, 40, 42, 43, 44, 46, 47, 48, 49, 51, 52,
	53, 54, 56,
}

var (
	namedTest  = regexp.MustCompile("`([a-z/]+)\\.((?:Test|Fuzz|Example)\\w*)`")
	faultRow   = regexp.MustCompile(`(?m)^\| (F\d\d) \| [^|]+ \| (.*) \|$`)
	plantedRow = regexp.MustCompile(`(?m)^\| ([a-z][a-z ,]+) \| (\d+|` + "`\\w+`" + `) \|$`)
	// plantedName is the name of a planted fault, in the table or the map of a test.
	plantedName = regexp.MustCompile(`(?m)^\t\tname: "([^"]+)"|^\t"([a-z ,]+)": \{$`)
)

// Whoever reads what is tested finds the tests: each fault has some, and all that are named exist.
func TestReliabilityIsTested(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(reliabilityPage)))
	require.NoError(t, err)

	existing := map[string]map[string]bool{}

	for _, name := range namedTest.FindAllStringSubmatch(string(page), -1) {
		if existing[name[1]] == nil {
			existing[name[1]] = testsOf(t, name[1])
		}

		assert.True(t, existing[name[1]][name[2]], "%s names %s.%s, and there is no such test", reliabilityPage, name[1], name[2])
	}

	rows := map[string]string{}
	for _, row := range faultRow.FindAllStringSubmatch(string(page), -1) {
		rows[row[1]] = row[2]
	}

	for _, number := range known {
		fault := fmt.Sprintf("F%02d", number)
		assert.Regexp(t, namedTest, rows[fault], "%s: %s has no row, or no test", reliabilityPage, fault)
	}

	assert.Len(t, rows, len(known), "%s has rows for faults that nobody knows", reliabilityPage)
}

// The tables of planted faults are those that are planted.
func TestPlantedFaultsAreListed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(reliabilityPage)))
	require.NoError(t, err)

	var listed, planted []string

	for _, row := range plantedRow.FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row[1])
	}

	for _, file := range []string{"internal/simulation/planted_test.go", "controllertest/bugs_test.go"} {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		require.NoError(t, err)

		for _, name := range plantedName.FindAllStringSubmatch(string(source), -1) {
			planted = append(planted, name[1]+name[2])
		}
	}

	assert.NotEmpty(t, planted)
	assert.ElementsMatch(t, planted, listed, "%s lists other faults than are planted", reliabilityPage)
}
