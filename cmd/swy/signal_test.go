//go:build linux

package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who ends a question before it has an answer, or a write before it is known to be done, must not take it for done.
func TestEndedBeforeItWasDone(t *testing.T) {
	t.Parallel()

	asked := make(chan struct{})
	h := &host{t: t, dir: t.TempDir()}

	h.pages(httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // until then the end of the connection is not seen
		asked <- struct{}{}
		<-r.Context().Done()
	})))

	file := filepath.Join(h.dir, "x.yaml")
	require.NoError(t, os.WriteFile(file, []byte("metadata: {}\n"), 0o600))

	for _, args := range [][]string{{"controllers"}, {"why", "Controller"}, {"apply", "-f", file}, {"top"}, {"passes", "-f"}} {
		r := h.begin(args...)
		<-asked
		r.end(1)
		assert.Equal(t, "swy: ended by a signal before it was done\n", r.stderr.String(), args)
		assert.Empty(t, r.stdout.String(), args)
	}
}
