package cli

import (
	"context"
	"net"
	"os"
	"strings"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	inspect "github.com/switchyard-run/switchyard/inspect/client"
)

// mostReceived is how large a resource may be, in bytes.
const mostReceived = 256 << 20

// connect prepares to ask the state API. Whether anybody answers is seen with the first question.
func (s *session) connect() (*client.Adapter, func(), error) {
	if s.grpc == "" {
		return nil, nil, misused("where is the state API? Say it with --grpc or SWY_GRPC, as unix:PATH or tcp:HOST:PORT; " +
			"the appliance prints it when it is started with -grpc unix:PATH")
	}

	network, place, _ := strings.Cut(s.grpc, ":")
	if place == "" || network != "unix" && network != "tcp" {
		return nil, nil, misused("--grpc: %q is neither unix:PATH nor tcp:HOST:PORT", s.grpc)
	}

	if _, _, err := net.SplitHostPort(place); network == "tcp" && err != nil {
		return nil, nil, misused("--grpc: %q is not tcp:HOST:PORT: %w", s.grpc, err)
	}

	conn, err := grpc.NewClient("passthrough:///switchyard",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, place)
		}),
		// Whoever watches tries again by itself, and should not wait for the library in addition.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.5, Jitter: 0.2, MaxDelay: 500 * time.Millisecond},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(mostReceived)),
	)
	if err != nil {
		return nil, nil, misused("--grpc: %w", err)
	}

	closing := func() { _ = conn.Close() } // it is only closed once, so it can not fail

	return client.NewAdapter(v1alpha1.NewStateClient(conn), client.WithDisableWatchRetry()), closing, nil
}

// engine prepares to ask the handler of package inspect.
func (s *session) engine() (*inspect.Client, error) {
	token, err := s.token()
	if err != nil {
		return nil, err
	}

	c, err := inspect.New(inspect.Config{Address: s.http, Token: token})
	if err != nil {
		return nil, misused("--http: %w", err)
	}

	return c, nil
}

// token is the secret that the host may ask for, or nothing.
func (s *session) token() (string, error) {
	if s.tokenFile == "" {
		return "", nil
	}

	text, err := os.ReadFile(s.tokenFile)
	if err != nil {
		return "", &refusedError{what: "--token-file: " + err.Error(), do: "name the file that the host was started with, or a copy of it"}
	}

	return strings.TrimSpace(string(text)), nil
}
