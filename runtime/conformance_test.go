package runtime_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/state"
	stateconformance "github.com/cosi-project/runtime/pkg/state/conformance"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"github.com/stretchr/testify/require"
	"github.com/stretchr/testify/suite"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

func init() {
	for _, err := range []error{
		protobuf.RegisterResource(conformance.IntResourceType, &conformance.IntResource{}),
		protobuf.RegisterResource(conformance.StrResourceType, &conformance.StrResource{}),
		protobuf.RegisterResource(conformance.SentenceResourceType, &conformance.SentenceResource{}),
	} {
		if err != nil {
			panic(err)
		}
	}
}

// The engine's suite of the contract, in the three configurations that the contract's own engine is held to.
func TestRuntimeConformance(t *testing.T) {
	for name, build := range map[string]func(t *testing.T) state.State{
		"local": func(*testing.T) state.State { return state.WrapCore(namespaced.NewState(inmem.Build)) },
		"grpc":  remoteState,
	} {
		for _, config := range []struct {
			name   string
			cached bool
			opts   []options.Option
		}{
			{name: "defaults"},
			{name: "rate limited", opts: []options.Option{options.WithChangeRateLimit(10, 20)}},
			{name: "cached", cached: true, opts: append(cacheAll(), options.WithWarnOnUncachedReads(true))},
		} {
			t.Run(name+"/"+config.name, func(t *testing.T) {
				t.Cleanup(func() { goleak.VerifyNone(t, goleak.IgnoreCurrent()) })

				suite.Run(t, &conformance.RuntimeSuite{
					MetricsReadCacheEnabled: config.cached,
					SetupRuntime: func(s *conformance.RuntimeSuite) {
						s.State = build(s.T())

						rt, err := runtime.NewRuntime(s.State, zaptest.NewLogger(s.T()), config.opts...)
						s.Require().NoError(err)

						s.Runtime = onTheSecond{rt}
					},
				})
			})
		}
	}
}

// onTheSecond starts the run hooks of queue controllers in the first half of a second of the clock. The suite's hook notes
// each of its ticks, one a second, rounded down to the second, and the suite looks every 10 ms for a note that is less than
// a second old. Ticks in the last milliseconds of each second leave no such time, on any engine.
type onTheSecond struct{ controller.Engine }

func (e onTheSecond) RegisterQController(c controller.QController) error {
	return e.Engine.RegisterQController(hookedOnTheSecond{c})
}

type hookedOnTheSecond struct{ controller.QController }

func (c hookedOnTheSecond) Settings() controller.QSettings {
	settings := c.QController.Settings()

	if hook := settings.RunHook; hook != nil {
		settings.RunHook = func(ctx context.Context, logger *zap.Logger, r controller.QRuntime) error {
			if now := time.Now(); now.Sub(now.Truncate(time.Second)) > time.Second/2 {
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(now.Truncate(time.Second).Add(time.Second).Sub(now)):
				}
			}

			return hook(ctx, logger, r)
		}
	}

	return settings
}

// cacheAll caches every kind that the suite reads.
func cacheAll() []options.Option {
	var opts []options.Option

	for typ, namespaces := range map[resource.Type][]resource.Namespace{
		conformance.IntResourceType: {
			"default", "ints", "source", "target", "source1", "source2", "q-int", "metrics", "q-sleep-in", "q-fail-in",
		},
		conformance.StrResourceType: {
			"default", "strings", "modify-with-result-source", "modify-with-result-target", "q-str", "metrics", "q-sleep-out",
			"q-fail-in", "q-fail-out", "hooks",
		},
		conformance.SentenceResourceType: {"sentences"},
	} {
		for _, ns := range namespaces {
			opts = append(opts, options.WithCachedResource(ns, typ))
		}
	}

	return opts
}

// remoteState is an in-memory state behind a real gRPC connection on the loopback interface.
func remoteState(t *testing.T) state.State {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	srv := grpc.NewServer()
	v1alpha1.RegisterStateServer(srv, server.NewState(state.WrapCore(namespaced.NewState(inmem.Build))))

	served := make(chan error, 1)

	go func() { served <- srv.Serve(listener) }()

	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)

	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		srv.Stop()
		require.NoError(t, <-served)
	})

	return state.WrapCore(client.NewAdapter(v1alpha1.NewStateClient(conn)))
}

// CachedState passes the contract's suite for states in a namespace that is not cached, and serves a cached one from
// memory.
func TestCachedStateConformance(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t, goleak.IgnoreCurrent()) })

	rt, err := runtime.NewRuntime(
		state.WrapCore(namespaced.NewState(inmem.Build)), zaptest.NewLogger(t),
		options.WithCachedResource("cached", conformance.IntResourceType),
		options.WithCachedResource("cached", stateconformance.PathResourceType),
	)
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)

	go func() { ended <- rt.Run(ctx) }()

	suite.Run(t, &stateconformance.StateSuite{
		State:      state.WrapCore(rt.CachedState()),
		Namespaces: []resource.Namespace{"uncached"},
	})

	cancel()
	require.NoError(t, <-ended)
}
