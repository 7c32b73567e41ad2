package incidents_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// update has the transcripts written anew.
var update = flag.Bool("update", false, "write the transcripts in testdata anew")

// screen is how many lines are seen without scrolling.
const screen = 24

// incident is something that goes wrong.
type incident struct {
	name string
	// root is what is the matter, as whoever wrote the incident knows: a line of the first screen has to match it.
	root string
	// circles tells that who runs how often is chance.
	circles bool
	// happens has it happen, and returns what is answered to whoever asks then.
	happens func(w *world) string
}

// What goes wrong is named on the first screen of the answer to the question that comes to mind.
func TestIncidents(t *testing.T) {
	t.Parallel()

	for _, in := range slices.Concat(teardowns, waits, disabled, loops, changes) {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				text := in.happens(newWorld(t))
				lines := strings.Split(text, "\n")

				assert.True(t, slices.ContainsFunc(lines[:min(screen, len(lines))], regexp.MustCompile(in.root).MatchString),
					"the first screen does not say %q:\n%s", in.root, text)
				compare(t, in, text)
			})
		})
	}
}

// compare compares a transcript with the one that is kept. Numbers of passes, versions and times may be others, since controllers
// run at the same time; and of what goes round in circles, only what is said of it in the end is the same.
func compare(t *testing.T, in incident, text string) {
	t.Helper()

	path := filepath.Join("testdata", strings.ReplaceAll(in.name, " ", "-")+".txt")

	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))

		return
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, in.steady(string(want)), in.steady(text), "if it is better than it was, write it anew with -update")
}

var numbers = regexp.MustCompile(`\d+(\.\d+)?(h\d+m\d+(\.\d+)?s|m\d+(\.\d+)?s|s|ms)?`)

// steady is what of a transcript is always the same.
func (in *incident) steady(text string) string {
	if in.circles {
		text, _, _ = strings.Cut(text, "\nhow it ")
	}

	return numbers.ReplaceAllString(text, "N")
}
