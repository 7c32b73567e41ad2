//go:build linux

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/recording"

	"github.com/switchyard-run/switchyard/cmd/example/internal/controllers"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// TestARunIsReplayed records the life of an appliance, and replays it a hundred times without the appliance: the controllers
// get neither a tree nor a supervisor nor a clock, so that one that would touch a file or a process breaks off.
func TestARunIsReplayed(t *testing.T) {
	t.Parallel()

	const document = `
hostname: %s
files:
  - path: a/settings
    mode: 0640
    content: |
      {{ .Hostname }} on {{ .OS }}
services:
  - name: web
    command: [$SELF, service, clock]
    port: auto
    health: {path: /healthz, interval: 100ms}
    restart: {delay: 50ms}
    stop: 1s
  - name: behind
    command: [sleep, '1000']
    needs: [web]
`

	file := filepath.Join(shortDir(t), "recording")

	p := launch(t, fmt.Sprintf(document, "one"), "-record", file)
	p.ready(1)

	p.write(fmt.Sprintf(document, "two"))
	p.ready(2)

	require.NoError(t, os.WriteFile(p.path("a/settings"), []byte("mine\n"), 0o640))
	p.eventually(func() error {
		status, ok := get[*resources.FileStatus](p, "a/settings")

		return must(ok && status.TypedSpec().Data.Repairs == 1, "not repaired")
	})

	ready := func(s serviceState) bool { return s.ready }
	first := p.service("web", ready)

	require.Positive(t, first.PID)
	require.NoError(t, syscall.Kill(first.PID, syscall.SIGKILL))
	p.service("web", func(s serviceState) bool { return s.ready && s.PID != first.PID })
	p.ready(2)

	require.Zero(t, p.stop(syscall.SIGTERM))

	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(p.root))

	register := func(engine controller.Engine) error {
		return controllers.Register(engine, controllers.World{
			Document: p.config, Dir: p.address("root"), Self: example, Wake: &controllers.Wake{},
		})
	}

	var before *recording.Result

	for range 100 {
		result, err := recording.Replay(t.Context(), bytes.NewReader(kept), register)
		require.NoError(t, err)
		require.True(t, result.Complete)

		if before != nil {
			require.Equal(t, before, result)
		}

		before = result
	}

	var controllers []string

	for _, pass := range before.Passes {
		controllers = append(controllers, pass.Controller)
	}

	for _, name := range []string{"DocumentController", "FileController", "ProcessController", "HealthController", "MachineStatusController"} {
		assert.Contains(t, controllers, name)
	}

	assert.NoDirExists(t, p.root)
	assert.Empty(t, left(t, filepath.Dir(p.root)))
}
