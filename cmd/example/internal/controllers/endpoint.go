package controllers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/gen/xerrors"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

// EndpointController gives each service that has a port its address, so that others know it before the service runs.
// Where the document leaves the port to the control plane, it picks a free one and keeps to it; only when the service
// keeps failing and somebody else has taken the port, it picks another.
type EndpointController = qtransform.QController[*resources.Service, *resources.Endpoint]

// NewEndpointController returns the controller.
func NewEndpointController() *EndpointController {
	return qtransform.NewQController(
		qtransform.Settings[*resources.Service, *resources.Endpoint]{
			Name: "EndpointController",
			MapMetadataFunc: func(in *resources.Service) *resources.Endpoint {
				return resources.NewEndpoint(in.Metadata().ID())
			},
			UnmapMetadataFunc: func(out *resources.Endpoint) *resources.Service {
				return resources.NewService(out.Metadata().ID())
			},
			TransformFunc: assignEndpoint,
		},
		qtransform.WithExtraMappedInput[*resources.ProcessStatus](qtransform.MapperSameID[*resources.Service]()),
		// The address stays as long as the process may use it.
		qtransform.WithIgnoreTeardownWhile(serviceController),
	)
}

func assignEndpoint(
	ctx context.Context, r controller.Reader, logger *zap.Logger, in *resources.Service, out *resources.Endpoint,
) error {
	service, endpoint := in.TypedSpec(), out.TypedSpec()

	switch {
	case service.Port == 0:
		return xerrors.NewTagged[qtransform.DestroyOutputTag](errors.New("the service has no port"))
	case service.Port != document.PortAuto:
		endpoint.Port = service.Port
	case endpoint.Port == 0:
		port, err := freePort(ctx)
		if err != nil {
			return err
		}

		endpoint.Port = port
	default:
		process, err := found(safe.ReaderGetByID[*resources.ProcessStatus](ctx, r, in.Metadata().ID()))
		if err != nil {
			return err
		}

		if process == nil || process.TypedSpec().State != string(supervise.Waiting) || isFree(ctx, endpoint.Port) {
			return nil
		}

		port, err := freePort(ctx)
		if err != nil {
			return err
		}

		logger.Info("the port was taken by somebody else, the service gets another one",
			zap.String("service", in.Metadata().ID()), zap.Int("old", endpoint.Port), zap.Int("new", port))

		endpoint.Port = port
	}

	endpoint.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(endpoint.Port))

	return nil
}

// freePort asks the system for a loopback port that nobody listens on.
func freePort(ctx context.Context) (int, error) {
	return recording.Ask(ctx, "for a free port", func() (int, error) { return findPort(ctx) })
}

func findPort(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("no free port: %w", err)
	}

	addr, ok := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil || !ok {
		return 0, fmt.Errorf("no free port: %w", err)
	}

	return addr.Port, nil
}

func isFree(ctx context.Context, port int) bool {
	return recording.Do(ctx, fmt.Sprintf("whether port %d is free", port), func() error {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return err
		}

		return l.Close()
	}) == nil
}
