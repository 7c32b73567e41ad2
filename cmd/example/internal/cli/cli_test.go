package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/cmd/example/internal/cli"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func run(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder

	code = cli.Program{
		Args: args, Sample: []byte("hostname: box\n"), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" },
	}.Main()

	return code, out.String(), errs.String()
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-nonsense"}, "not defined: -nonsense"},
		{[]string{"stray"}, `unexpected argument "stray"`},
		{[]string{"-grpc", "tcp:0.0.0.0:1"}, "-grpc: \"tcp:0.0.0.0:1\" is not on the loopback interface"},
		{[]string{"-http", "8080"}, "-http: address 8080: missing port in address"},
		{[]string{"-http", "", "-apply"}, "-apply: there are no pages"},
		{[]string{"-timeout", "-1s"}, "-timeout: -1s is not above 0"},
		{[]string{"-log-level", "loud"}, "loud"},
		{[]string{"graph", "-format", "png"}, `-format: "png" is none of mermaid, dot, svg, json`},
		{[]string{"service"}, "clock, prepare, sidecar, web"},
	} {
		code, stdout, stderr := run(c.args...)
		assert.Equal(t, 2, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Empty(t, stdout, c.args)
	}
}

// Pages for others than the users of this machine are for who means it, and has a token.
func TestPagesForOthers(t *testing.T) {
	dir := t.TempDir()

	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		assert.NoError(t, os.WriteFile(path, []byte(text), mode))

		return path
	}

	good := write("good", "0123456789abcdef\n", 0o600)

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-http", ":8080"}, "-http-open"},
		{[]string{"-http", "0.0.0.0:8080"}, "use an address of this machine alone"},
		{[]string{"-http", "[::]:8080"}, "-http-token-file"},
		{[]string{"-http", "box.example.net:8080"}, "-http-open"},
		{[]string{"-http", "192.0.2.7:8080", "-http-token-file", good}, "-http-open"},
		{[]string{"-http", "192.0.2.7:8080", "-http-open"}, "openssl rand -hex 32"},
		{[]string{"-http-token-file", write("open", "0123456789abcdef", 0o644)}, "chmod 600"},
		{[]string{"-http-token-file", write("short", "0123", 0o600)}, "has 4 bytes"},
		{[]string{"-http-token-file", filepath.Join(dir, "missing")}, "no such file"},
	} {
		code, stdout, stderr := run(c.args...)
		assert.Equal(t, 2, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Contains(t, stderr, "-http", c.args)
		assert.Empty(t, stdout, c.args)
	}
}

func TestFailure(t *testing.T) {
	code, _, stderr := run("service", "nothing")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `there is no sample service "nothing"`)

	file := filepath.Join(t.TempDir(), "file")
	assert.NoError(t, os.WriteFile(file, nil, 0o600))

	code, _, stderr = run("-once", "-root", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "-root "+file)
}

// TestOnceInProcess runs a whole control plane without a process of its own, and sees that no goroutine is left.
func TestOnceInProcess(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")

	code, stdout, stderr := run("-once", "-root", root)
	assert.Equal(t, 0, code, stderr)
	assert.Contains(t, stdout, "the machine is ready")
	assert.FileExists(t, filepath.Join(root, "etc", "hostname"))

	// Levels decide what is logged, and fields that say nothing are left out.
	assert.Contains(t, stderr, "file written")
	assert.NotContains(t, stderr, `"namespace"`)
	assert.NotContains(t, stderr, `""`)

	code, _, stderr = run("-once", "-root", root, "-log-level", "error")
	assert.Equal(t, 0, code)
	assert.Empty(t, stderr)
}
