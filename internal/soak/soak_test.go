package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// program is the program under test, built once.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}
	defer os.RemoveAll(dir)

	program = filepath.Join(dir, "soak")

	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n%s", err, out)

		return 1
	}

	code := m.Run()

	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}

	return code
}

// start returns the program with arguments for a small world, and with the others.
func start(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, program, small(args...)...)
}

func small(args ...string) []string {
	return append([]string{"-controllers", "20", "-resources", "800", "-rate", "400"}, args...)
}

// lastLine returns the last line of the table by the names of its columns.
func lastLine(t *testing.T, out string) map[string]string {
	t.Helper()

	var rows [][]string

	for line := range strings.Lines(out) {
		if cells, ok := strings.CutPrefix(strings.TrimSpace(line), "| "); ok {
			rows = append(rows, strings.Split(strings.TrimSuffix(cells, " |"), " | "))
		}
	}

	require.Greater(t, len(rows), 1, out)

	head, last := rows[0], rows[len(rows)-1]
	require.Len(t, last, len(head))

	cells := map[string]string{}
	for i, name := range head {
		cells[name] = last[i]
	}

	return cells
}

// A small world runs through its faults without a loss, and nothing of it is left.
func TestNothingIsLost(t *testing.T) {
	var out bytes.Buffer

	err := command(t.Context(), small("-for", "5s"), &out, io.Discard)
	require.NoError(t, err, out.String())

	cells := lastLine(t, out.String())
	assert.Equal(t, "0", cells["lost"])
	assert.Contains(t, out.String(), "No update was lost.")

	for _, name := range []string{"passes", "writes", "before", "after", "conflict", "slow", "checked"} {
		assert.NotEqual(t, "0", cells[name], "%s\n%s", name, out.String())
	}
}

// Without faults there are none, but for watches that the short history cuts off.
func TestFaultsCanBeSwitchedOff(t *testing.T) {
	var out bytes.Buffer

	require.NoError(t, command(t.Context(), small("-for", "1s", "-faults=false"), &out, io.Discard), out.String())

	cells := lastLine(t, out.String())
	for kind, name := range faultNames {
		if fault(kind) != overrun {
			assert.Equal(t, "0", cells[name], name)
		}
	}
}

// The program finds updates that are lost, since it loses some itself: it says which, and what the engine knows.
func TestLostUpdatesAreFound(t *testing.T) {
	var trouble bytes.Buffer

	run := start(t.Context(), "-for", "10m", "-faults=false", "-lose", "0.3", "-patience", "1s")
	run.Stderr = &trouble

	out, err := run.Output()

	var exit *exec.ExitError

	require.ErrorAs(t, err, &exit, string(out))
	assert.Equal(t, 1, exit.ExitCode(), trouble.String())
	assert.Contains(t, trouble.String(), "lost update: group-00")
	assert.Contains(t, trouble.String(), "and is to be")
	assert.Contains(t, trouble.String(), "copy-00")
	assert.Equal(t, "1", lastLine(t, string(out))["lost"])
}

// A signal ends the program in order.
func TestSignalEndsIt(t *testing.T) {
	run := start(t.Context(), "-for", "1h")

	pipe, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())

	out := bufio.NewReader(pipe)

	head, err := out.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, head, "20 controllers")

	require.NoError(t, run.Process.Signal(os.Interrupt))

	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	assert.Contains(t, lastLine(t, string(rest))["time"], "end")

	var exit *exec.ExitError

	require.ErrorAs(t, run.Wait(), &exit)
	assert.Equal(t, 130, exit.ExitCode())
}

func TestFlags(t *testing.T) {
	for text, args := range map[string][]string{
		"above 0":          {"-for", "0s"},
		"a multiple of 5":  {"-controllers", "7"},
		"at least 50":      {"-controllers", "10", "-resources", "60"},
		"-rate":            {"-rate", "NaN"},
		"-lose":            {"-lose", "2"},
		"unknown argument": {"now"},
		"provided but not": {"-nosuch"},
	} {
		assert.ErrorContains(t, command(t.Context(), args, io.Discard, io.Discard), text)
	}

	var help bytes.Buffer

	assert.ErrorIs(t, command(t.Context(), []string{"-h"}, io.Discard, &help), flag.ErrHelp)
	assert.Contains(t, help.String(), "-patience")
}

func TestGrowthIsAnError(t *testing.T) {
	begin := sample{time: time.Minute, heap: 400e6, goroutines: 1000}

	assert.NoError(t, flat([]sample{begin, {heap: 419e6, goroutines: 1016}, {heap: 381e6, goroutines: 984}}))
	assert.NoError(t, flat([]sample{{heap: 10e6}, {heap: 18e6}}))

	for text, s := range map[string]sample{
		"400.0 MB after 1m0s, 421.0 MB after 2m0s": {heap: 421e6, goroutines: 1000},
		"400.0 MB after 1m0s, 379.0 MB after 2m0s": {heap: 379e6, goroutines: 1000},
		"1000 after 1m0s, 1017 after 2m0s":         {heap: 400e6, goroutines: 1017},
		"1000 after 1m0s, 983 after 2m0s":          {heap: 400e6, goroutines: 983},
	} {
		s.time = 2 * time.Minute
		assert.ErrorContains(t, flat([]sample{begin, s, begin}), text)
	}
}

func TestDifferences(t *testing.T) {
	want := picture{"a/1": "x", "a/2": "y", "a/3": "z"}

	assert.Empty(t, want.differences(picture{"a/1": "x", "a/2": "y", "a/3": "z"}))
	assert.Equal(t, []string{
		"a/2 is n, and is to be y",
		"a/3 is not there, and is to be z",
		"b/1 is o, and is not to be there",
	}, want.differences(picture{"a/1": "x", "a/2": "n", "b/1": "o"}))
}

// What an error tells of is bounded.
func TestLostUpdatesAreToldInShort(t *testing.T) {
	err := &lostError{group: &group{number: 7}, patience: time.Minute, health: []string{"all is well"}}
	for range 2 * mostDifferences {
		err.differences = append(err.differences, "differs")
	}

	assert.Equal(t, mostDifferences, strings.Count(err.Error(), "  differs"))
	assert.Contains(t, err.Error(), "group-007")
	assert.Contains(t, err.Error(), "\n  all is well")
	assert.False(t, errors.Is(err, context.Canceled))
}
