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
