package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/reconcile"
)

// clientOf returns a client of a service that is only this handler.
func clientOf(t *testing.T, handle http.HandlerFunc) *client {
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)

	c := newClient(server.URL)
	t.Cleanup(c.close)

	return c
}

func TestClientAndService(t *testing.T) {
	elsewhere := newService()
	c := clientOf(t, elsewhere.ServeHTTP)

	require.NoError(t, c.Put(t.Context(), "a/b ?", "one"))
	require.NoError(t, c.Put(t.Context(), "a/b ?", "two"))
	require.Equal(t, map[string]string{"a/b ?": "two"}, elsewhere.records())
	require.NoError(t, c.Delete(t.Context(), "a/b ?"))
	require.NoError(t, c.Delete(t.Context(), "a/b ?"))
	require.Empty(t, elsewhere.records())
}

// What the service says of a failure is told in the log, and not in the status.
func TestAnswersThatSayNo(t *testing.T) {
	for code, want := range map[int]struct {
		class  reconcile.Class
		reason string
	}{
		http.StatusFound:                 {reconcile.ClassTransient, "ServiceFails"},
		http.StatusBadRequest:            {reconcile.ClassTerminal, "ValueRefused"},
		http.StatusForbidden:             {reconcile.ClassTransient, "ServiceFails"},
		http.StatusNotFound:              {reconcile.ClassTransient, "ServiceFails"},
		http.StatusRequestEntityTooLarge: {reconcile.ClassTerminal, "ValueRefused"},
		http.StatusTooManyRequests:       {reconcile.ClassTransient, "ServiceFails"},
		http.StatusInternalServerError:   {reconcile.ClassTransient, "ServiceFails"},
	} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(code)
				_, _ = io.WriteString(w, "secret"+strings.Repeat(".", 1<<20))
			})

			err := c.Put(t.Context(), "uid", "value")

			var failed *ServiceError

			require.ErrorAs(t, err, &failed)
			assert.Equal(t, want.class, reconcile.ClassOf(err))
			assert.Equal(t, want.reason, failed.Reason())
			assert.NotContains(t, failed.Public(), "secret")
			assert.Contains(t, err.Error(), "secret")
			assert.Less(t, len(err.Error()), 2*mostText)
		})
	}
}

func TestDeletingWhatIsNotThere(t *testing.T) {
	c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "never heard of it", http.StatusNotFound) })

	require.NoError(t, c.Delete(t.Context(), "uid"))
	require.Error(t, c.Put(t.Context(), "uid", "value"))
}

// A service that does not answer is given up with the pass, and tried again.
func TestNoAnswer(t *testing.T) {
	t.Run("hangs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := clientOf(t, func(_ http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(io.Discard, req.Body) // the server notices that the client has gone once it has read all
			cancel()
			<-req.Context().Done()
		})

		requireUnreachable(t, c.Put(ctx, "uid", "value"))
	})

	t.Run("ends in the middle of an answer", func(t *testing.T) {
		c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "begins")
		})

		requireUnreachable(t, c.Put(t.Context(), "uid", "value"))
	})

	t.Run("is not there", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		c := newClient(server.URL)
		server.Close()

		requireUnreachable(t, c.Delete(t.Context(), "uid"))
	})
}

func requireUnreachable(t *testing.T, err error) {
	t.Helper()

	var unreachable *UnreachableError

	require.ErrorAs(t, err, &unreachable)
	require.Equal(t, reconcile.ClassTransient, reconcile.ClassOf(err))
	require.NotContains(t, unreachable.Public(), "127.0.0.1")
}
