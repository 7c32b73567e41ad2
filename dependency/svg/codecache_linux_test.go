package svg_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A process that links the package keeps Graphviz's compiled code among the caches of its user, where nobody else can
// write, and has its TMPDIR back afterwards.
func TestCompiledCodeIsKeptWhereOnlyTheUserCanWrite(t *testing.T) {
	if shown := os.Getenv("SHOW_TMPDIR"); shown != "" {
		require.NoError(t, os.WriteFile(shown, []byte(os.Getenv("TMPDIR")), 0o600))

		return
	}

	temp, cache := t.TempDir(), t.TempDir()
	shown := filepath.Join(t.TempDir(), "tmpdir")

	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	again.Env = append(os.Environ(), "TMPDIR="+temp, "XDG_CACHE_HOME="+cache, "SHOW_TMPDIR="+shown)

	output, err := again.CombinedOutput()
	require.NoError(t, err, string(output))

	assert.NoDirExists(t, filepath.Join(temp, "go-graphviz"))

	kept := filepath.Join(cache, "switchyard", "code", "go-graphviz")
	entries, err := os.ReadDir(kept)
	require.NoError(t, err)
	assert.NotEmpty(t, entries)

	info, err := os.Stat(filepath.Dir(kept))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	tmpdir, err := os.ReadFile(shown)
	require.NoError(t, err)
	assert.Equal(t, temp, string(tmpdir))
}
