// Package api owns the state API of the control plane: what a client may do with the state, and where it is offered.
//
// A [Server] has the goroutines of one gRPC server, which have ended when Stop returns.
package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// Address is a place to offer the API at: a Unix socket, or a port on the loopback interface.
type Address struct {
	// Network is "unix" or "tcp"; empty for no place at all.
	Network string
	// Place is the path of the socket, or host and port.
	Place string
}

// socketLimit is how long the path of a socket can be, in bytes, with a zero at the end.
const socketLimit = len(syscall.RawSockaddrUnix{}.Path)

// ParseAddress reads "unix:PATH" or "tcp:HOST:PORT"; an empty text is no place. The API has no passwords and no
// encryption, so a TCP address has to be one that other machines cannot reach.
func ParseAddress(text string) (Address, error) {
	network, place, _ := strings.Cut(text, ":")

	switch {
	case text == "":
		return Address{}, nil
	case network == "unix" && len(place) >= socketLimit:
		return Address{}, fmt.Errorf("the path in %q is too long for a socket; the system allows %d bytes", text, socketLimit-1)
	case network == "unix" && place != "":
		return Address{network, place}, nil
	case network != "tcp" || place == "":
		return Address{}, fmt.Errorf("%q is neither unix:PATH nor tcp:HOST:PORT", text)
	}

	host, _, err := net.SplitHostPort(place)
	if err != nil {
		return Address{}, fmt.Errorf("%q is not tcp:HOST:PORT: %w", text, err)
	}

	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return Address{}, fmt.Errorf("%q is not on the loopback interface; the API has no passwords, so only tcp:127.0.0.1:PORT and the like are allowed", text)
	}

	return Address{network, place}, nil
}

// String renders the address the way ParseAddress reads it.
func (a Address) String() string {
	if a.Network == "" {
		return ""
	}

	return a.Network + ":" + a.Place
}

// Listen opens the address. A socket that was left over by a process that has died is replaced, one that is answered
// is not. Only the user of the control plane may connect to a socket.
func (a Address) Listen(ctx context.Context) (net.Listener, error) {
	if a.Network == "unix" {
		if err := removeStale(ctx, a.Place); err != nil {
			return nil, err
		}
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, a.Network, a.Place)
	if err != nil {
		return nil, err
	}

	if a.Network == "unix" {
		if err := os.Chmod(a.Place, 0o600); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}

	return listener, nil
}

func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)

	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is no socket", path)
	}

	if connection, err := (&net.Dialer{}).DialContext(ctx, "unix", path); err == nil {
		return errors.Join(fmt.Errorf("%s is in use", path), connection.Close())
	}

	return os.Remove(path)
}

// Allow is what clients may do: read everything, and ask for restarts. All else belongs to the controllers.
func Allow(_ context.Context, access state.Access) error {
	if access.Verb.Readonly() || access.Verb == state.Create && access.ResourceType == resources.RestartRequestType {
		return nil
	}

	return status.Errorf(codes.PermissionDenied, "clients may read, and create resources of type %s; not write %s",
		resources.RestartRequestType, access.ResourceType)
}

// inbox takes requests that can be dismissed again. One that belongs to somebody else, or that somebody holds, would be
// there for good, and one in another namespace would not be seen.
type inbox struct{ state.CoreState }

// Create implements [state.CoreState].
func (in inbox) Create(ctx context.Context, r resource.Resource, opts ...state.CreateOption) error {
	var options state.CreateOptions

	for _, opt := range opts {
		opt(&options)
	}

	if md := r.Metadata(); md.Namespace() != resources.Config || options.Owner != "" || !md.Finalizers().Empty() {
		return status.Errorf(codes.InvalidArgument, "a request is in namespace %s, and has neither an owner nor finalizers", resources.Config)
	}

	return in.CoreState.Create(ctx, r, opts...)
}

// Offered is the state as clients have it, over whatever they come.
func Offered(st state.CoreState) state.CoreState { return state.Filter(inbox{st}, Allow) }

// Server offers the state on one listener.
type Server struct {
	inner *grpc.Server
	// done is closed when the goroutine that accepts connections has ended.
	done chan struct{}
}

// Serve starts to offer the state, and takes the listener over.
func Serve(listener net.Listener, st state.CoreState, logger *zap.Logger) *Server {
	s := &Server{inner: grpc.NewServer(), done: make(chan struct{})}

	v1alpha1.RegisterStateServer(s.inner, server.NewState(Offered(st)))

	go func() { // ends with Stop
		defer close(s.done)

		if err := s.inner.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			logger.Error("the state is no longer offered", zap.Error(err))
		}
	}()

	return s
}

// stopLimit is how long calls that are under way may take to end.
const stopLimit = time.Second

// Stop lets calls end, for a short while, and closes the listener. Watches never end by themselves, so they are cut
// off then. A nil server has nothing to stop.
func (s *Server) Stop() {
	if s == nil {
		return
	}

	timer := time.AfterFunc(stopLimit, s.inner.Stop)
	defer timer.Stop()

	s.inner.GracefulStop()
	<-s.done
}
