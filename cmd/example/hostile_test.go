//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"os/signal"
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

// TestATerminalThatIsClosed sends what the system sends then.
func TestATerminalThatIsClosed(t *testing.T) {
	t.Parallel()

	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("whoever has started the tests ignores SIGHUP, as nohup does, and what is started inherits that")
	}

	p := launch(t, "hostname: box\nservices: [{name: polite, command: "+obedient+"}]\n")
	p.ready(1)

	assert.Equal(t, 0, p.stop(syscall.SIGHUP), p.read(p.log))
	assert.Equal(t, "polite\n", p.read(p.path("order")))
}

// TestNobodyReadsTheLog goes on without its readers.
func TestNobodyReadsTheLog(t *testing.T) {
	t.Parallel()

	r, w, err := os.Pipe()
	require.NoError(t, err)

	dir := shortDir(t)
	config := filepath.Join(dir, "machine.yaml")
	require.NoError(t, os.WriteFile(config, []byte("hostname: box\nservices: [{name: polite, command: "+obedient+"}]\n"), 0o644))

	cmd := exec.Command(example, "-root", filepath.Join(dir, "root"), "-config", config, "-http", "")
	cmd.Stdout, cmd.Stderr = w, w
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	require.NoError(t, r.Close())

	p := &plane{t: t, root: filepath.Join(dir, "root"), cmd: cmd}
	p.eventually(func() error {
		return must(len(glob(t, p.path("run/appliance/polite.pid.json"))) == 1, "no process yet")
	})

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
	assert.Empty(t, left(t, p.root))
}

// TestCompiledCodeIsKeptPrivate sees that a directory that everybody may write to is not where code comes from, and
// that services do not notice.
func TestCompiledCodeIsKeptPrivate(t *testing.T) {
	t.Parallel()

	dir := shortDir(t)
	caches, shared, root := filepath.Join(dir, "caches"), filepath.Join(dir, "shared"), filepath.Join(dir, "root")
	config := filepath.Join(dir, "machine.yaml")

	require.NoError(t, os.Mkdir(shared, 0o777))
	require.NoError(t, os.WriteFile(config, []byte(`
hostname: box
services: [{name: one, kind: oneshot, command: [sh, -c, 'echo $$TMPDIR']}]
`), 0o644))

	cmd := exec.Command(example, "-once", "-root", root, "-config", config)
	cmd.Env = append(os.Environ(), "TMPDIR="+shared, "XDG_CACHE_HOME="+caches)

	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)

	assert.Empty(t, glob(t, filepath.Join(shared, "*")))
	assert.NotEmpty(t, glob(t, filepath.Join(caches, "switchyard", "code", "go-graphviz", "*")))

	info, err := os.Stat(filepath.Join(caches, "switchyard", "code"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	text, err := os.ReadFile(filepath.Join(root, "var/log/services/one.log"))
	require.NoError(t, err)
	assert.Equal(t, shared+"\n", string(text))
}
