package simulation

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
)

// Connection puts a gRPC connection within the process between a state and who uses it. It returns the state at the other
// end, and what closes the connection.
func Connection(inner state.CoreState) (state.CoreState, func()) {
	var serving sync.WaitGroup

	listener, srv := bufconn.Listen(1<<20), grpc.NewServer()
	v1alpha1.RegisterStateServer(srv, server.NewState(inner))

	serving.Go(func() { _ = srv.Serve(listener) }) // it ends with Stop

	conn, err := grpc.NewClient("passthrough:///state",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           grpcbackoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.5, MaxDelay: 100 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}),
		grpc.WithIdleTimeout(0),
	)
	if err != nil {
		panic(err) // the options above are wrong
	}

	return client.NewAdapter(v1alpha1.NewStateClient(conn), client.WithDisableWatchRetry()), func() {
		_ = conn.Close()
		srv.Stop()
		serving.Wait()
	}
}
