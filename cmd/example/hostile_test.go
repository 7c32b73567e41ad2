//go:build linux

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// The tests in this file are about surroundings that are not as the control plane would like them.

// TestADocumentThatIsALink keeps the document outside of the root, behind links that are swapped, as it is mounted
// into containers.
func TestADocumentThatIsALink(t *testing.T) {
	t.Parallel()

	dir := shortDir(t)
	mounted := filepath.Join(dir, "mounted")

	release := func(name, text string) {
		t.Helper()

		require.NoError(t, os.MkdirAll(filepath.Join(mounted, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(mounted, name, "machine.yaml"), []byte(text), 0o644))
		require.NoError(t, os.Symlink(name, filepath.Join(mounted, "..new")))
		require.NoError(t, os.Rename(filepath.Join(mounted, "..new"), filepath.Join(mounted, "..data")))
	}

	release("..v1", "hostname: one\n")
	require.NoError(t, os.Symlink("..data/machine.yaml", filepath.Join(mounted, "machine.yaml")))

	p := &plane{t: t, root: filepath.Join(dir, "root"), config: filepath.Join(dir, "root", "machine.yaml")}
	require.NoError(t, os.Mkdir(p.root, 0o755))
	require.NoError(t, os.Symlink(filepath.Join(mounted, "machine.yaml"), p.config))

	p.start()
	p.ready(1)
	assert.Equal(t, "one\n", p.read(p.path("etc/hostname")))

	release("..v2", "hostname: two\n")
	p.ready(2)
	assert.Equal(t, "two\n", p.read(p.path("etc/hostname")))
}

// TestADocumentThatIsAPipe has a document that nobody ever writes to.
func TestADocumentThatIsAPipe(t *testing.T) {
	t.Parallel()

	p := launch(t, "hostname: box\n")
	p.ready(1)

	require.NoError(t, os.Remove(p.config))
	require.NoError(t, syscall.Mkfifo(p.config, 0o600))

	p.eventually(func() error {
		status, ok := get[*resources.ConfigStatus](p, resources.TheMachine)

		return must(ok && len(status.TypedSpec().Problems) == 1 &&
			strings.HasSuffix(status.TypedSpec().Problems[0].Message, "is no plain file"), "%+v", status.TypedSpec())
	})

	p.write("hostname: better\n")
	p.ready(2)
	assert.Equal(t, 0, p.stop(syscall.SIGTERM))

	code, _, stderr := run(t, "-root", p.root, "-config", p.root)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "-config: "+p.root+" is a directory")
}
