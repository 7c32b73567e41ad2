// Package docs_test checks that the pages say what is: that their code compiles, their links lead somewhere, their
// commands exist, their tables are complete, and their picture is current.
package docs_test

import (
	"context"
	"expvar"
	"go/build/constraint"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/runtime"
)

//go:generate sh -c "go run ../cmd/example graph -format svg > images/appliance.svg"

// sources returns the Go files that every build or test of the repository compiles, by path, each as its lines without
// indentation.
func sources(t *testing.T) map[string]string {
	t.Helper()

	all := map[string]string{}

	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		name := entry.Name()

		if entry.IsDir() {
			if name == "testdata" || len(name) > 2 && (name[0] == '.' || name[0] == '_') {
				return filepath.SkipDir
			}

			return nil
		}

		if filepath.Ext(name) != ".go" {
			return nil
		}

		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		lines := strings.Split(string(text), "\n")
		if !slices.ContainsFunc(lines, constraint.IsGoBuild) {
			all[path] = flat(lines)
		}

		return nil
	}))

	return all
}

// flat joins lines without their indentation.
func flat(lines []string) string {
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.TrimSpace(line)
	}

	return "\n" + strings.Join(trimmed, "\n") + "\n"
}

// Go code in the pages is, word for word, part of a file that compiles, most of them tests that run.
func TestCodeCompiles(t *testing.T) {
	code := sources(t)
	blocks := 0

	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.language != "go" {
				continue
			}

			blocks++

			found := false
			for _, file := range code {
				found = found || strings.Contains(file, flat(b.lines))
			}

			assert.True(t, found, "%s:%d: the code is in no Go file of the repository; put it into docs/examples", p.path, b.line)
		}
	}

	assert.Positive(t, blocks)
}

// Links within the repository lead to a file that is there, and to a heading that it has.
func TestLinksResolve(t *testing.T) {
	all := map[string]page{}
	for _, p := range pages(t) {
		all[p.path] = p
	}

	for _, p := range all {
		for _, l := range p.links {
			target, err := url.Parse(l.target)
			if !assert.NoError(t, err, "%s:%d", p.path, l.line) || target.IsAbs() {
				continue
			}

			file := p.path
			if target.Path != "" {
				file = path.Join(path.Dir(p.path), target.Path)
			}

			_, err = os.Stat(filepath.Join(root, file))
			assert.NoError(t, err, "%s:%d: %s leads nowhere", p.path, l.line, l.target)

			if target.Fragment != "" {
				assert.True(t, all[file].headings[target.Fragment], "%s:%d: %s has no such heading", p.path, l.line, l.target)
			}
		}
	}
}

// Every page of docs can be found from the README.
func TestPagesAreLinked(t *testing.T) {
	readme := read(t, "README.md")

	for _, p := range pages(t) {
		if path.Dir(p.path) != "docs" {
			continue
		}

		assert.True(t, slices.ContainsFunc(readme.links, func(l link) bool { return l.target == p.path }), "the README does not link %s", p.path)
	}
}

// workspace is where the appliance is built.
var workspace string

// example builds the appliance once for all tests that call it.
var example = sync.OnceValues(func() (string, error) {
	name := filepath.Join(workspace, "example")

	build := exec.Command("go", "build", "-o", name, "./cmd/example")
	build.Dir = root
	build.Stderr = os.Stderr

	return name, build.Run()
})

func TestMain(m *testing.M) {
	var err error

	if workspace, err = os.MkdirTemp("", "switchyard-docs-"); err != nil {
		panic(err)
	}

	code := m.Run()

	os.RemoveAll(workspace)
	os.Exit(code)
}

// output runs the appliance and returns what it prints.
func output(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()

	name, err := example()
	require.NoError(t, err)

	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)

	return string(out)
}

// Commands in the pages exist, and so do their flags, packages and files.
func TestCommandsExist(t *testing.T) {
	commands := 0

	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.language != "sh" {
				continue
			}

			for i, line := range b.lines {
				line, _, _ = strings.Cut(line, " #")

				if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
					commands++

					checkCommand(t, fields, p.path, b.line+1+i)
				}
			}
		}
	}

	assert.Positive(t, commands)
}

func checkCommand(t *testing.T, fields []string, file string, line int) {
	t.Helper()

	if len(fields) > 2 && fields[0] == "go" && fields[1] == "run" && fields[2] == "./cmd/example" {
		checkFlags(t, fields[3:], file, line)
	}

	switch {
	case fields[0] == "git" || fields[0] == "cd" || fields[0] == "gofmt":
	case strings.HasPrefix(fields[0], "."):
		info, err := os.Stat(filepath.Join(root, fields[0]))
		if assert.NoError(t, err, "%s:%d", file, line) {
			assert.NotZero(t, info.Mode()&0o111, "%s:%d: %s can not be executed", file, line, fields[0])
		}
	case fields[0] == "go" && fields[1] == "tool":
		mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
		require.NoError(t, err)
		assert.Regexp(t, `(?m)^tool .*/`+fields[2]+`$`, string(mod), "%s:%d: not a tool of go.mod", file, line)
	case fields[0] == "go" && slices.Contains([]string{"run", "test", "vet", "build", "generate", "mod"}, fields[1]):
		for _, field := range fields[2:] {
			if strings.HasPrefix(field, "./") {
				_, err := os.Stat(filepath.Join(root, strings.TrimSuffix(field, "...")))
				assert.NoError(t, err, "%s:%d: no such package", file, line)
			}
		}
	default:
		assert.Fail(t, "unknown command", "%s:%d: %s; teach checkCommand how to check it", file, line, fields[0])
	}
}

// checkFlags checks the flags of a call of the appliance against its own help.
func checkFlags(t *testing.T, args []string, file string, line int) {
	t.Helper()

	help := []string{"-h"}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		help = []string{args[0], "-h"}
	}

	known := strings.Fields(output(t.Context(), t, help...))

	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			assert.Contains(t, known, arg, "%s:%d", file, line)
		}
	}
}

var namedTest = regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z0-9]+)`")

// Tests that the pages name are there. The page of promises has a test of its own.
func TestNamedTestsExist(t *testing.T) {
	code := sources(t)

	for _, p := range pages(t) {
		if p.path == "docs/promises.md" {
			continue
		}

		for _, named := range namedTest.FindAllStringSubmatch(p.text, -1) {
			found := false

			for file, text := range code {
				found = found || filepath.Dir(file) == filepath.Join(root, named[1]) && strings.Contains(text, "func "+named[2]+"(")
			}

			assert.True(t, found, "%s names %s", p.path, named[0])
		}
	}
}

// The picture in the README is the one that the program makes; if not, run go generate ./docs.
func TestPictureIsCurrent(t *testing.T) {
	picture, err := os.ReadFile("images/appliance.svg")
	require.NoError(t, err)

	assert.True(t, output(t.Context(), t, "graph", "-format", "svg") == string(picture), "the picture is out of date: run go generate ./docs")
}

// The page for operators tells of every setting, every field that says how a controller or a kind is, and every metric.
func TestOperationsIsComplete(t *testing.T) {
	operations := read(t, "docs/operations.md").text

	for _, typ := range []reflect.Type{
		reflect.TypeFor[runtime.Config](), reflect.TypeFor[runtime.Health](),
		reflect.TypeFor[runtime.KindHealth](), reflect.TypeFor[runtime.ControllerHealth](),
	} {
		for _, field := range reflect.VisibleFields(typ) {
			if !field.Anonymous {
				assert.True(t, strings.Contains(operations, "`"+field.Name+"`"),
					"docs/operations.md does not tell of %s.%s: add a row to the table of the type", typ, field.Name)
			}
		}
	}

	expvar.Do(func(v expvar.KeyValue) {
		if v.Key != "cmdline" && v.Key != "memstats" {
			assert.True(t, strings.Contains(operations, "`"+v.Key+"`"),
				"docs/operations.md does not tell of the metric %s: add a row to the table of metrics", v.Key)
		}
	})
}

// The page on the architecture names every package that hosts may import.
func TestArchitectureIsComplete(t *testing.T) {
	architecture := read(t, "docs/architecture.md").text

	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./...")
	list.Dir = root

	packages, err := list.Output()
	require.NoError(t, err)

	for name := range strings.FieldsSeq(string(packages)) {
		name = strings.TrimPrefix(name, "github.com/switchyard-run/switchyard/")

		if first, _, _ := strings.Cut(name, "/"); !slices.Contains([]string{"cmd", "docs", "internal"}, first) {
			assert.True(t, strings.Contains(architecture, "`"+name+"`"),
				"docs/architecture.md has no row for package %s: add it to the table of packages", name)
		}
	}
}
