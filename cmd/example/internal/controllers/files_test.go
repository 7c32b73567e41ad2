package controllers_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/runtime"

	"github.com/switchyard-run/switchyard/cmd/example/internal/controllers"
	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// registerRenderers registers what makes files of a document.
func registerRenderers(engine controller.Engine) error {
	for _, ctrl := range []controller.Controller{
		controllers.NewHostnameController(),
		controllers.NewResolverController(),
		controllers.NewTimeServerController(),
		&controllers.FactsController{},
		&controllers.EtcFilesController{},
		controllers.NewTemplateController(),
	} {
		if err := engine.RegisterController(ctrl); err != nil {
			return err
		}
	}

	return engine.RegisterQController(controllers.NewRenderController())
}

// TestFromTheDocumentToTheDisk runs the controllers of the files together, from the text of the document on.
func TestFromTheDocumentToTheDisk(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(t.TempDir(), "machine.yaml")

	write := func(text string) {
		t.Helper()

		require.NoError(t, os.WriteFile(config+"~", []byte(text), 0o644))
		require.NoError(t, os.Rename(config+"~", config))
	}

	write("hostname: box\nmotd: \"{{ .FQDN }}\\n\"\nfiles: [{path: a/b, content: \"{{ .Hostname }}\"}]\n")

	root, err := os.OpenRoot(dir)
	require.NoError(t, err)

	tree, err := files.Open(root, "ledger.json")
	require.NoError(t, err)

	b := run(t, func(engine controller.Engine) error {
		return errors.Join(
			engine.RegisterController(&controllers.DocumentController{Path: config, Clock: clockwork.NewRealClock()}),
			engine.RegisterController(&controllers.DiskController{Tree: tree, Dir: dir}),
			operator.Register(engine, controllers.NewFileController(tree)),
			registerRenderers(engine),
		)
	})

	t.Cleanup(func() { assert.NoError(t, root.Close()) })

	content := func(path, want string) {
		t.Helper()

		file := await(b, path, func(f *resources.File) bool { return f.TypedSpec().Content == want })
		await(b, path, func(st *resources.FileStatus) bool {
			return inPlace(st) && !operator.Joined(file, st).Stale
		})

		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}

	content("etc/motd", "box\n")
	content("a/b", "box")
	content("etc/hosts", "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 box\n")

	// A fact that changes renders the templates again.
	write("hostname: box\ndomain: example.net\nmotd: \"{{ .FQDN }}\\n\"\nfiles: [{path: a/b, content: \"{{ .Hostname }}\"}]\n")
	content("etc/motd", "box.example.net\n")
	content("etc/hosts", "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 box.example.net box\n")

	// A file that leaves the document leaves the disk before its resources go.
	write("hostname: box\nmotd: hi\n")
	b.awaitGone(resources.NewTemplate("a/b"))
	b.awaitGone(resources.NewFile("a/b"))
	assert.NoDirExists(t, filepath.Join(dir, "a"))
	content(document.PathMOTD, "hi")

	// A bad document changes nothing but the status, and says where.
	write("hostname: box\nmotd: 7\n")

	status := await(b, resources.TheMachine, func(c *resources.ConfigStatus) bool { return c.TypedSpec().Refused })
	assert.Equal(t, 3, status.TypedSpec().Generation)
	assert.Equal(t, []document.Problem{{Line: 2, Column: 7, Field: "motd", Message: "must be a text, not a number; if it is meant, put it in quotes"}},
		status.TypedSpec().Problems)
	content(document.PathMOTD, "hi")

	// The good one again is not a new generation. This time the file is written over, not replaced.
	require.NoError(t, os.WriteFile(config, []byte("hostname: box\nmotd: hi\n"), 0o644))

	status = await(b, resources.TheMachine, func(c *resources.ConfigStatus) bool { return !c.TypedSpec().Refused })
	assert.Equal(t, 3, status.TypedSpec().Generation)
}

// keepFiles runs the controllers of the files alone over some of them, in a new directory that was made ready.
func keepFiles(t *testing.T, clock clockwork.Clock, ready func(dir string) error, names ...string) (*bench, string) {
	t.Helper()

	dir := t.TempDir()
	require.NoError(t, ready(dir))

	root, err := os.OpenRoot(dir)
	require.NoError(t, err)

	tree, err := files.Open(root, "ledger.json")
	require.NoError(t, err)

	b := runWith(t, runtime.Config{Clock: clock}, func(engine controller.Engine) error {
		return errors.Join(
			engine.RegisterController(&controllers.DiskController{Tree: tree, Dir: dir}),
			operator.Register(engine, controllers.NewFileController(tree)),
		)
	})

	t.Cleanup(func() {
		b.end()

		assert.NoError(t, root.Close())
	})

	for _, name := range names {
		file := resources.NewFile(name)
		file.TypedSpec().Set("hello", 0o644)
		b.put(file)
	}

	return b, dir
}

func inPlace(st *resources.FileStatus) bool { return st.TypedSpec().Conditions.Holds(operator.Ready) }

func inTrouble(st *resources.FileStatus) bool {
	ready, _ := st.TypedSpec().Conditions.Get(operator.Ready)

	return ready.Reason == "Obstructed" && ready.Message != ""
}

func repairedOnce(st *resources.FileStatus) bool { return st.TypedSpec().Data.Repairs == 1 }

// TestAFileThatCannotBeWritten is tried again when its time has come, and keeps no other one waiting until then.
func TestAFileThatCannotBeWritten(t *testing.T) {
	clock := clockwork.NewFakeClock()

	// The place where the file is written, before it is moved, is taken. Nobody is told when that changes.
	b, dir := keepFiles(t, clock, func(dir string) error {
		return os.MkdirAll(filepath.Join(dir, "a", ".new-file", "full"), 0o755)
	}, "a/file", "a/other")

	await(b, "a/file", inTrouble)
	await(b, "a/other", inPlace)

	require.NoError(t, os.Remove(filepath.Join(dir, "a", "other")))
	await(b, "a/other", repairedOnce)

	// In one step: the controller may come for the place at any time.
	require.NoError(t, os.Rename(filepath.Join(dir, "a", ".new-file"), filepath.Join(t.TempDir(), "moved")))

	require.Eventually(t, func() bool {
		clock.Advance(time.Minute)

		st, err := safe.StateGetByID[*resources.FileStatus](t.Context(), b.state, "a/file")

		return err == nil && inPlace(st)
	}, patience, 10*time.Millisecond)
}

// TestAFileInTheWayOfADirectory keeps one file from its place, and no other.
func TestAFileInTheWayOfADirectory(t *testing.T) {
	b, dir := keepFiles(t, clockwork.NewFakeClock(), func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "a"), nil, 0o644)
	}, "a/b/c/file", "other")

	await(b, "a/b/c/file", inTrouble)
	await(b, "other", inPlace)

	require.NoError(t, os.Remove(filepath.Join(dir, "other")))
	await(b, "other", repairedOnce)

	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	await(b, "a/b/c/file", inPlace)
}
