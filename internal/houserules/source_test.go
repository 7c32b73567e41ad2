package houserules

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	// root is the root of the module, seen from here.
	root = "../.."

	module   = "github.com/switchyard-run/switchyard"
	contract = "github.com/cosi-project/runtime"
)

// engine lists the packages of the engine with their height: each imports only packages of the engine that are lower.
var engine = map[string]int{
	"backoff":             0,
	"contain":             0,
	"internal/index":      0,
	"reduced":             0,
	"runtime/options":     0,
	"cache":               1,
	"cause":               1,
	"dependency":          1,
	"dependency/analysis": 1,
	"metrics":             1,
	"origin":              1,
	"queue":               1,
	"rivalry":             1,
	"stateadapter":        2,
	"adapter":             3,
	"adapter/qruntime":    4,
	"adapter/rruntime":    4,
	"runtime":             5,
	"recording":           6, // hosts that record link it with the engine, which knows nothing of it
}

// file is one Go file that a build compiles.
type file struct {
	path string // from the root, with slashes
	ast  *ast.File
}

// imports returns the imported paths, and the name by which the file calls each.
func (f *file) imports() map[string]string {
	imports := map[string]string{}

	for _, spec := range f.ast.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(imported)

		if name == "v2" {
			name = path.Base(path.Dir(imported))
		}

		if spec.Name != nil {
			name = spec.Name.Name
		}

		imports[imported] = name
	}

	return imports
}

// source is the source of the module, without tests.
type source struct {
	files    *token.FileSet
	packages map[string][]file // by directory from the root
}

// dirs returns the directories that hold a package, in order.
func (s *source) dirs() []string {
	dirs := make([]string, 0, len(s.packages))

	for dir := range s.packages {
		dirs = append(dirs, dir)
	}

	slices.Sort(dirs)

	return dirs
}

// at renders a position from the root.
func (s *source) at(pos token.Pos) string {
	position := s.files.Position(pos)

	rel, err := filepath.Rel(root, position.Filename)
	if err != nil {
		rel = position.Filename
	}

	return filepath.ToSlash(rel) + ":" + strconv.Itoa(position.Line)
}

// load parses the module once.
var load = sync.OnceValues(func() (*source, error) {
	s := &source{files: token.NewFileSet(), packages: map[string][]file{}}

	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		base := entry.Name()

		if entry.IsDir() {
			if base == "testdata" || base != filepath.Base(root) && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return filepath.SkipDir
			}

			return nil
		}

		if filepath.Ext(base) != ".go" || strings.HasSuffix(base, "_test.go") {
			return nil
		}

		dir := filepath.Dir(name)

		if compiled, err := build.Default.MatchFile(dir, base); err != nil || !compiled {
			return err
		}

		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}

		parsed, err := parser.ParseFile(s.files, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}

		at := filepath.ToSlash(rel)
		s.packages[path.Dir(at)] = append(s.packages[path.Dir(at)], file{at, parsed})

		return nil
	})

	return s, err
})

func loadSource(t *testing.T) *source {
	s, err := load()
	require.NoError(t, err)
	require.NotEmpty(t, s.packages)

	return s
}

// eachEngineFile calls visit for each file of the engine.
func (s *source) eachEngineFile(visit func(file)) {
	for _, dir := range s.dirs() {
		if _, ok := engine[dir]; !ok {
			continue
		}

		for _, f := range s.packages[dir] {
			visit(f)
		}
	}
}

func TestEngineIsWhereItIsLookedFor(t *testing.T) {
	s := loadSource(t)

	for dir := range engine {
		require.Contains(t, s.packages, dir, "a package of the engine has gone: take it out of the list")
	}
}
