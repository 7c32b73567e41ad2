package houserules

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// libraries are what the engine may import beside the standard library and the contract. What they link themselves is
// linked as well.
var libraries = []string{
	"github.com/jonboulle/clockwork",
	"github.com/siderolabs/gen",
	"go.uber.org/multierr",
	"go.uber.org/zap",
	"golang.org/x/sync/errgroup",
	"golang.org/x/time/rate",
}

// linked is a package as go list shows it.
type linked struct {
	ImportPath string
	Standard   bool
	Imports    []string
}

// links returns what a program links that imports the packages, by import path.
func links(t *testing.T, packages ...string) map[string]linked {
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-json=ImportPath,Standard,Imports"}, packages...)...)
	cmd.Dir = root

	out, err := cmd.Output()

	var failed *exec.ExitError
	if errors.As(err, &failed) {
		require.NoError(t, err, "%s", failed.Stderr)
	}

	require.NoError(t, err)

	all := map[string]linked{}

	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p linked

		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}

		require.NoError(t, err)

		all[p.ImportPath] = p
	}
}

func under(pkg, prefix string) bool { return pkg == prefix || strings.HasPrefix(pkg, prefix+"/") }

func isLibrary(pkg string) bool {
	for _, library := range libraries {
		if under(pkg, library) {
			return true
		}
	}

	return false
}

// Whoever embeds the engine links the standard library, the contract, a few libraries, and what these link themselves:
// no web page, no database, no picture.
func TestEngineLinksOnlyWhatItMay(t *testing.T) {
	assertLinks(t, links(t, "./runtime", "./runtime/options"), func(dir string) {
		assert.Contains(t, engine, dir, "the engine links package %s, which is not among the engine's packages", dir)
	})
}

// Whoever has a loop without the engine links neither the engine nor anything that would speak to a cluster or a database: what
// runs it is in the process.
func TestLoopLinksOnlyWhatItMay(t *testing.T) {
	assertLinks(t, links(t, "./reconcile"), func(dir string) {
		assert.Contains(t, []string{"reconcile", "queue", "backoff", "contain", "internal/index"}, dir, "the loop links package %s", dir)
	})
}

// assertLinks asserts that of what is linked, all that is neither of the standard library nor of the module is the contract, one
// of the libraries, or what these link themselves, and that of the module, own accepts each package.
func assertLinks(t *testing.T, all map[string]linked, own func(dir string)) {
	var (
		direct  []string
		allowed = map[string]linked{}
	)

	for _, p := range all {
		if !under(p.ImportPath, module) {
			continue
		}

		dir := strings.TrimPrefix(p.ImportPath, module+"/")
		own(dir)

		for _, imported := range p.Imports {
			switch {
			case all[imported].Standard || under(imported, module):
			case under(imported, contract) || isLibrary(imported):
				direct = append(direct, imported)
			default:
				assert.Fail(t, "not allowed", "package %s imports %s", dir, imported)
			}
		}
	}

	if len(direct) > 0 {
		allowed = links(t, direct...)
	}

	for _, p := range all {
		if !p.Standard && !under(p.ImportPath, module) {
			assert.Contains(t, allowed, p.ImportPath, "linked, and not allowed: %s", p.ImportPath)
		}
	}
}

// A live host links the recorder: nothing that is for tests comes with it.
func TestRecordingLinksNothingOfTests(t *testing.T) {
	for pkg := range links(t, "./recording") {
		assert.False(t, under(pkg, "testing") || under(pkg, "github.com/stretchr/testify"), "package recording links %s", pkg)
	}
}

// Packages of the engine import only packages of the engine that are below them, so that each can be read, and tested,
// with what is below it and nothing else.
func TestEngineImportsDownwards(t *testing.T) {
	loadSource(t).eachEngineFile(func(f file) {
		dir := path.Dir(f.path)

		for imported := range f.imports() {
			if !under(imported, module) {
				continue
			}

			below := strings.TrimPrefix(imported, module+"/")

			height, ok := engine[below]
			if !ok {
				assert.Fail(t, "not a package of the engine", "%s imports %s: if it is to be one, give it its height in the list", f.path, below)

				continue
			}

			assert.Less(t, height, engine[dir], "%s imports %s, which is not below %s", f.path, below, dir)
		}
	})
}

// Nothing but tests, and the benchmark that runs both engines, imports the engine that ships with the contract; its
// options and its metrics are part of the contract.
func TestNobodyImportsTheContractsEngine(t *testing.T) {
	s := loadSource(t)
	other := contract + "/pkg/controller/runtime"

	for _, dir := range s.dirs() {
		if dir == "bench" {
			continue
		}

		for _, f := range s.packages[dir] {
			for imported := range f.imports() {
				if under(imported, other) && imported != other+"/options" && imported != other+"/metrics" {
					assert.Fail(t, "the contract's engine is for tests only", "%s imports %s", f.path, imported)
				}
			}
		}
	}
}
