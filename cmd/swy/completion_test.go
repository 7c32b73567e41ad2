//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// complete has bash complete a line, as it does when TAB is pressed behind it, and returns what is offered.
func (h *host) complete(words ...string) []string {
	h.t.Helper()

	script := `
source <(swy completion bash)
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
COMP_TYPE=63
COMP_KEY=9
compopt() { :; }
__start_swy
printf '%s\n' "${COMPREPLY[@]}"
`

	cmd := exec.Command("bash", append([]string{"--norc", "-c", script, "bash", "swy"}, words...)...)
	cmd.Env = h.env()

	out, err := cmd.CombinedOutput()
	require.NoError(h.t, err, "%s", out)

	offered := strings.Fields(string(out))
	assert.NotContains(h.t, string(out), "command not found")

	return offered
}

func TestCompletion(t *testing.T) {
	t.Parallel()

	h := launch(t)

	assert.Equal(t, []string{"controllers"}, h.complete("con"))
	assert.Equal(t, []string{"hostname", "hostnames", "hostnames.appliance", "hostnames.appliance.switchyard", "hostnames.appliance.switchyard.run"},
		h.complete("get", "hostn"))
	assert.Equal(t, []string{"base", "web"}, h.complete("get", "process", ""))
	assert.Equal(t, []string{"web"}, h.complete("get", "process", "w"))
	assert.Equal(t, []string{"web"}, h.complete("teardown", "process", "w"))
	assert.Equal(t, []string{"json"}, h.complete("get", "process", "-o", "j"))
	assert.Contains(t, h.complete("why", ""), "ProcessController")
	assert.Contains(t, h.complete("blocked", "proc"), "process")
	assert.Equal(t, []string{"ProcessController"}, h.complete("passes", "Proc"))
	assert.Equal(t, []string{"base", "web"}, h.complete("why", "process", ""))
	assert.Contains(t, h.complete("get", "--tok"), "--token-file")

	// Where nobody answers, nothing is offered, and nothing is said.
	gone := *h
	gone.grpc, gone.http = "unix:/does/not/exist", "http://127.0.0.1:1/"
	assert.Empty(t, gone.complete("get", "pro"))
	assert.Empty(t, gone.complete("why", "Pro"))
}

// Names that a shell would take for something else are not offered.
func TestCompletionOffersPlainNames(t *testing.T) {
	t.Parallel()

	h, st := desk(t, open)

	for _, id := range append([]string{"plain", "-dash"}, hostile...) {
		require.NoError(t, st.Create(t.Context(), newNote(id, "")))
	}

	assert.ElementsMatch(t, []string{"..", "12", "plain", strings.Repeat("long", 2500)}, h.complete("get", "note", ""))
}

// The scripts are what their shells take for scripts, where these shells are there.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()

	h := newHost(t)

	for shell, args := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}} {
		script := h.ok("completion", shell)
		assert.Contains(t, script, "swy")

		program, err := exec.LookPath(shell)
		if err != nil {
			continue
		}

		path := filepath.Join(h.dir, shell)
		require.NoError(t, os.WriteFile(path, []byte(script), 0o600))

		out, err := exec.Command(program, append(args, path)...).CombinedOutput()
		assert.NoError(t, err, "%s: %s", shell, out)
	}
}
