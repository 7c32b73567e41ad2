package inspect_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect"
	"github.com/switchyard-run/switchyard/inspect/client"
	"github.com/switchyard-run/switchyard/inspect/live"
)

// pipes is a listener whose connections are made in memory, so that their deadlines are those of the bubble.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accept:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)

	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()

	select {
	case p.accept <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve serves a handler with a server that has no patience, until the test ends.
func (w *world) serve(handler http.Handler) *pipes {
	w.Helper()

	p := &pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	done := make(chan error, 1)

	go func() { done <- server.Serve(p) }()

	w.Cleanup(func() {
		w.handler.Close() // streams end before the server waits for them
		assert.NoError(w, server.Shutdown(context.Background()))
		assert.ErrorIs(w, <-done, http.ErrServerClosed)
	})

	return p
}

func (w *world) client(p *pipes) *client.Client {
	w.Helper()

	transport := &http.Transport{DialContext: p.dial}
	w.Cleanup(transport.CloseIdleConnections)

	c, err := client.New(client.Config{Address: "http://localhost/", Transport: transport})
	require.NoError(w, err)

	return c
}

// after creates a number after a while.
func (w *world) after(d time.Duration, id string) {
	time.AfterFunc(d, func() { assert.NoError(w, w.Create(context.Background(), conformance.NewIntResource("source", id, 1))) })
}

// A stream outlives what the server allows for answers, whether or not anything happens, and ends with the handler.
func TestAStreamIsNotCut(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.client(w.serve(w.handler))

		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()

		began := time.Now()

		for i := range 4 {
			w.after(time.Duration(i+1)*time.Minute, fmt.Sprint(i))
		}

		closed := false

		for l, err := range c.Live(ctx) {
			if closed {
				require.ErrorAs(w, err, new(*client.UnreachableError))

				break
			}

			require.NoError(w, err)
			require.Len(w, l.Controllers, 2)

			if time.Since(began) > 4*time.Minute {
				w.handler.Close()

				closed = true
			}
		}

		assert.True(w, closed)

		for _, err := range c.Live(ctx) {
			var problem *client.Problem

			require.ErrorAs(w, err, &problem)
			assert.Equal(w, http.StatusServiceUnavailable, problem.Status)
		}
	})
}

func TestFollowing(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.client(w.serve(w.handler))

		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()

		w.after(time.Minute, hostile)

		for followed, err := range c.Follow(ctx, "QIntToStrController") {
			require.NoError(w, err)
			assert.Equal(w, hostile, followed.Pass.Item.ID)
			cancel() // it ends without an error
		}

		for _, err := range c.Follow(context.Background(), "nobody") {
			var problem *client.Problem

			require.ErrorAs(w, err, &problem)
			assert.True(w, problem.NotFound())
		}
	})
}

// Who does not read what is sent is given up, and his place is free again.
func TestAClientThatDoesNotRead(t *testing.T) {
	inWorld(t, func(w *world) {
		handler := inspect.New(inspect.Config{Engine: w.engine, State: w.State, Streams: 1})
		defer handler.Close()

		p := w.serve(handler)

		conn, err := p.dial(w.Context(), "", "")
		require.NoError(w, err)

		defer conn.Close()

		_, err = io.WriteString(conn, "GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(w, err)

		answer := bufio.NewReader(conn)
		line, err := answer.ReadString('\n')
		require.NoError(w, err)
		require.Contains(w, line, "200")
		synctest.Wait()

		c := w.client(p)

		for _, err := range c.Live(w.Context()) {
			assert.ErrorContains(w, err, live.ErrCrowded.Error())
			assert.ErrorContains(w, err, "close pages")
		}

		time.Sleep(time.Minute)

		for l, err := range c.Live(w.Context()) {
			require.NoError(w, err)
			require.NotEmpty(w, l.Controllers)

			break
		}
	})
}

// A stream says at once that it is one, and to whoever only wants to know that, nothing more.
func TestHeadOfAStream(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, path := range []string{"/api/v1/live", "/api/v1/follow"} {
			answer := ask(w.handler, http.MethodHead, "localhost", path)
			assert.Equal(w, http.StatusOK, answer.Code)
			assert.Equal(w, "text/event-stream", answer.Header().Get("Content-Type"))
			assert.Empty(w, answer.Body.String())
		}

		assert.Equal(w, http.StatusBadRequest, w.get("/api/v1/live?controller=a").Code)
	})
}
