//go:build linux

package main_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/client"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// inspector asks the engine of a control plane.
func (p *plane) inspector(token string) *client.Client {
	p.t.Helper()

	transport := &http.Transport{}
	p.t.Cleanup(transport.CloseIdleConnections)

	c, err := client.New(client.Config{Address: p.address("inspect"), Token: token, Transport: transport})
	require.NoError(p.t, err)

	return c
}

// What the engine does can be asked while it runs, and watched until it ends.
func TestTheEngineCanBeLookedInto(t *testing.T) {
	t.Parallel()

	p := launch(t, "")
	p.ready(1)

	c := p.inspector("")

	overview, err := c.Overview(t.Context())
	require.NoError(t, err)
	assert.True(t, overview.Running)
	assert.Greater(t, len(overview.Controllers), 10)

	// A file is there because of the document, which came from outside.
	file, ok := get[*resources.FileStatus](p, "etc/hostname")
	require.True(t, ok)

	why, err := c.WhyResource(t.Context(), api.Ref{Namespace: file.Metadata().Namespace(), Type: file.Metadata().Type(), ID: "etc/hostname"})
	require.NoError(t, err)
	assert.NotEmpty(t, why.Roots, why.Note)
	assert.NotEmpty(t, why.Trees)

	// Whoever watches sees a service fall and come back, and does not keep the control plane from ending.
	web := p.service("web", func(s serviceState) bool { return s.ready })
	require.Positive(t, web.PID)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	var (
		killed, seen bool
		last         error
	)

	for live, err := range c.Live(ctx) {
		switch {
		case err != nil:
			last = err
		case !killed:
			killed = true

			require.NoError(t, syscall.Kill(web.PID, syscall.SIGKILL))
		case len(live.Passes) > 0 && !seen:
			seen = true

			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		}
	}

	assert.True(t, seen)
	assert.ErrorAs(t, last, new(*client.UnreachableError))
	assert.Zero(t, p.wait())
}

// Others who can connect are asked for a token.
func TestOthersNeedAToken(t *testing.T) {
	t.Parallel()

	file := filepath.Join(shortDir(t), "token")
	require.NoError(t, os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600))

	p := launch(t, "hostname: box\n", "-http", "0.0.0.0:0", "-http-open", "-http-token-file", file)

	_, err := p.inspector("").Overview(t.Context())
	require.ErrorAs(t, err, new(*client.UnauthorizedError))

	_, err = p.inspector("0123456789abcdeF").Overview(t.Context())
	require.ErrorAs(t, err, new(*client.UnauthorizedError))

	overview, err := p.inspector("0123456789abcdef").Overview(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, overview.Controllers)

	status, text := p.page(http.MethodGet, "/healthz")
	assert.Equal(t, http.StatusUnauthorized, status)
	assert.NotContains(t, text, "ok\n")
}
