package runtime_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// The namespace of what is watched over a connection.
const far = "far"

// patience bounds the waiting for what happens in real time.
const patience = 30 * time.Second

// link is a state behind a gRPC connection that can be cut and restored; the state itself lives on.
type link struct {
	t     *testing.T
	state state.State // behind the connection
	conn  *grpc.ClientConn

	// mu guards the fields below, which are nil while the connection is cut.
	mu       sync.Mutex
	listener *bufconn.Listener
	srv      *grpc.Server
	served   chan error
}

func newLink(t *testing.T) *link {
	l := &link{t: t, state: state.WrapCore(namespaced.NewState(inmem.Build))}
	l.restore()

	conn, err := grpc.NewClient("passthrough:///state",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(l.dial),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           grpcbackoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.5, MaxDelay: 100 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}),
	)
	require.NoError(t, err)

	l.conn = conn

	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		l.cut()
	})

	return l
}

func (l *link) dial(ctx context.Context, _ string) (net.Conn, error) {
	l.mu.Lock()
	listener := l.listener
	l.mu.Unlock()

	if listener == nil {
		return nil, net.ErrClosed
	}

	return listener.DialContext(ctx)
}

// cut ends all connections and refuses new ones.
func (l *link) cut() {
	l.mu.Lock()
	srv, served := l.srv, l.served
	l.listener, l.srv, l.served = nil, nil, nil
	l.mu.Unlock()

	if srv == nil {
		return
	}

	srv.Stop()
	require.NoError(l.t, <-served)
}

// restore accepts connections again.
func (l *link) restore() {
	l.mu.Lock()
	defer l.mu.Unlock()

	listener, srv, served := bufconn.Listen(1<<20), grpc.NewServer(), make(chan error, 1)
	v1alpha1.RegisterStateServer(srv, server.NewState(l.state))

	go func() { served <- srv.Serve(listener) }()

	l.listener, l.srv, l.served = listener, srv, served
}

// flicker cuts the connection once it is there, waits until the client has noticed, and restores it.
func (l *link) flicker() {
	require.Eventually(l.t, func() bool { return l.conn.GetState() == connectivity.Ready }, patience, time.Millisecond)
	l.cut()
	require.Eventually(l.t, func() bool { return l.conn.GetState() != connectivity.Ready }, patience, time.Millisecond)
	l.restore()
}

func (l *link) remote(opts ...client.AdapterOption) state.State {
	return state.WrapCore(client.NewAdapter(v1alpha1.NewStateClient(l.conn), opts...))
}

func far1(value int) *conformance.IntResource { return conformance.NewIntResource(far, "one", value) }

// A controller that is registered while the engine runs, with nothing written in between, sees what is written after
// its connection to the state was lost and came back: it is woken, not restarted, whether the client resumes the watch
// or leaves that to the engine.
func TestConnectionLossIsSurvived(t *testing.T) {
	var (
		weak    = controller.Input{Namespace: far, Type: conformance.IntResourceType, Kind: controller.InputWeak}
		primary = controller.Input{Namespace: far, Type: conformance.IntResourceType, Kind: controller.InputQPrimary}
	)

	for clientName, clientOpts := range map[string][]client.AdapterOption{
		"client retries": nil, "engine retries": {client.WithDisableWatchRetry()},
	} {
		for cacheName, opts := range map[string][]options.Option{
			"plain": nil, "cached": {options.WithCachedResource(far, conformance.IntResourceType)},
		} {
			t.Run(clientName+"/"+cacheName, func(t *testing.T) {
				t.Parallel()

				l := newLink(t)
				w := newWorld(t, l.remote(clientOpts...), runtime.Config{Options: opts}, zaptest.NewLogger(t))
				w.start()
				require.Eventually(t, func() bool { return w.Health().Running }, patience, time.Millisecond)

				var runs, classicSaw, queueSaw atomic.Int64

				classicSaw.Store(-1)

				value := func(ctx context.Context, r controller.Reader) (int64, error) {
					if len(opts) == 0 {
						r = l.state // a read over the connection may fail with it, and a restart would hide a lost wakeup
					}

					res, err := safe.ReaderGet[*conformance.IntResource](ctx, r, far1(0).Metadata())
					if state.IsNotFoundError(err) {
						return 0, nil
					}

					if err != nil {
						return 0, err
					}

					return int64(res.Value()), nil
				}

				w.register(&classic{name: "classic", inputs: []controller.Input{weak}, run: func(ctx context.Context, r controller.Runtime) error {
					runs.Add(1)

					for {
						select {
						case <-ctx.Done():
							return nil
						case <-r.EventCh():
						}

						got, err := value(ctx, r)
						if err != nil {
							return err
						}

						classicSaw.Store(got)
					}
				}})
				w.register(&queued{
					name: "queue", settings: controller.QSettings{Inputs: []controller.Input{primary}},
					reconcile: func(ctx context.Context, r controller.QRuntime, _ resource.Pointer) error {
						got, err := value(ctx, r)
						queueSaw.Store(got)

						return err
					},
				})

				// The first wakeup is not the one that is waited for.
				require.Eventually(t, func() bool { return classicSaw.Load() == 0 }, patience, time.Millisecond)

				for round := int64(1); round <= 3; round++ {
					l.flicker()

					if round == 1 {
						require.NoError(t, l.state.Create(t.Context(), far1(int(round))))
					} else {
						_, err := safe.StateUpdateWithConflicts(t.Context(), l.state, far1(0).Metadata(), func(res *conformance.IntResource) error {
							res.SetValue(int(round))

							return nil
						})
						require.NoError(t, err)
					}

					require.Eventually(t, func() bool { return classicSaw.Load() == round && queueSaw.Load() == round }, patience, time.Millisecond)
				}

				require.EqualValues(t, 1, runs.Load())
			})
		}
	}
}

// Under the policy that ends the run with a failed watch, the error names the kind and the fault of the transport.
func TestConnectionLossEndsTheRunOnRequest(t *testing.T) {
	l := newLink(t)
	w := newWorld(t, l.remote(client.WithDisableWatchRetry()), runtime.Config{OnWatchFailure: runtime.EndRun}, zaptest.NewLogger(t))

	started := make(chan struct{})
	w.register(&classic{
		name:   "classic",
		inputs: []controller.Input{{Namespace: far, Type: conformance.IntResourceType, Kind: controller.InputWeak}},
		run: func(ctx context.Context, _ controller.Runtime) error {
			close(started)
			<-ctx.Done()

			return nil
		},
	})

	ended := make(chan error, 1)

	go func() { ended <- w.Run(t.Context()) }()

	<-started
	l.cut()

	err := <-ended
	require.ErrorContains(t, err, "controller runtime watch error: ")
	require.ErrorContains(t, err, conformance.IntResourceType)
	require.NotErrorIs(t, err, context.Canceled)
	require.Equal(t, codes.Unavailable, grpcstatus.Code(err), "%v", err)
}
