package controllers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/controllers"
	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// Wherever the machine loses its power while a file is written, changes and goes, state and disk end as if it had not.
func TestFilesSurviveCrashes(t *testing.T) {
	file := func(name, content string) *resources.File {
		f := resources.NewFile(name)
		f.TypedSpec().Set(content, 0o644)

		return f
	}

	script := func(w *controllertest.World) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(w, err)

		root, err := os.OpenRoot(dir)
		require.NoError(w, err)

		t.Cleanup(func() { assert.NoError(t, root.Close()) }) // files are looked at beyond the end of the script

		on := func(name, want string) {
			text, _ := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			require.Equal(w, want, string(text), name)
		}

		stamped(w)
		w.Start(func(engine controller.Engine) error {
			tree, err := files.Open(root, "ledger.json")
			require.NoError(w, err)

			return operator.Register(engine, controllers.NewFileController(tree))
		})
		require.NoError(w, os.WriteFile(filepath.Join(dir, "taken"), nil, 0o644))
		w.Create(file("a/one", "1"), file("two", "2"), file("taken/three", "3"))
		w.Settle()
		on("a/one", "1")

		// One that is in the way goes without a sign.
		require.NoError(w, os.Remove(filepath.Join(dir, "taken")))
		controllertest.Update(w, file("two", "").Metadata(), func(f *resources.File) { f.TypedSpec().Set("3", 0o600) })
		w.Destroy(file("a/one", "").Metadata())
		w.Settle()
		on("a/one", "")
		on("two", "3")
		on("taken/three", "3")
		require.NoDirExists(w, filepath.Join(dir, "a"))

		for _, status := range controllertest.List[*resources.FileStatus](w, resources.NewFileStatus("").Metadata()) {
			require.Zero(w, status.TypedSpec().Data.Repairs, "what was asked for is no repair")
		}
	}

	controllertest.CrashSweep(t, script)
	controllertest.AssertIdempotent(t, script)
	controllertest.Explore(t, controllertest.Plan{Faults: controllertest.Storm()}, script)
}
