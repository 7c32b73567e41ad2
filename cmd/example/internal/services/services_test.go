package services_test

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/cmd/example/internal/services"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// start runs a sample until the test ends, and returns the address it prints.
func start(t *testing.T, name string, env map[string]string) string {
	t.Helper()

	env = maps.Clone(env) // the test goes on changing its own
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)

	go func() {
		done <- services.Run(ctx, name, func(key string) string { return env[key] }, in)

		in.Close()
	}()

	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())

	address, ok := strings.CutPrefix(lines.Text(), "listening at ")
	require.True(t, ok, lines.Text())

	go func() { _, _ = io.Copy(io.Discard, out) }()

	t.Cleanup(func() {
		cancel()

		assert.NoError(t, <-done)
		http.DefaultClient.CloseIdleConnections()
	})

	return address
}

func get(t require.TestingT, address, path string) (int, string) {
	response, err := http.Get("http://" + address + path)
	require.NoError(t, err)

	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, string(text)
}

func TestTheSamplesWorkTogether(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{"ROOT": root, "ADDR": "127.0.0.1:0", "GREETING": "hello"}
	getenv := func(key string) string { return env[key] }

	// web needs what prepare makes.
	require.ErrorContains(t, services.Run(t.Context(), "web", getenv, io.Discard), "not ready")
	require.NoError(t, services.Run(t.Context(), "prepare", getenv, io.Discard))

	web := start(t, "web", env)
	_, text := get(t, web, "/greeting")
	assert.Equal(t, "hello\n", text)

	_, text = get(t, web, "/")
	assert.Contains(t, text, "It works")

	env["WEB_ADDR"], env["CLOCK_ADDR"] = web, start(t, "clock", env)
	sidecar := start(t, "sidecar", env)

	require.EventuallyWithT(t, func(c *assert.CollectT) {
		code, text := get(c, sidecar, "/healthz")
		assert.Equal(c, http.StatusOK, code, text)
	}, 10*time.Second, 10*time.Millisecond)

	// It is no better than those it looks after.
	env["WEB_ADDR"] = "127.0.0.1:1"
	lonely := start(t, "sidecar", env)

	require.EventuallyWithT(t, func(c *assert.CollectT) {
		code, text := get(c, lonely, "/healthz")
		assert.Equal(c, http.StatusServiceUnavailable, code)
		assert.Contains(c, text, "127.0.0.1:1")
	}, 10*time.Second, 10*time.Millisecond)
}

func TestAnAddressThatIsTaken(t *testing.T) {
	env := map[string]string{"ADDR": "127.0.0.1:0"}
	env["ADDR"] = start(t, "clock", env)

	err := services.Run(t.Context(), "clock", func(key string) string { return env[key] }, os.Stderr)
	assert.ErrorContains(t, err, "address already in use")

}
