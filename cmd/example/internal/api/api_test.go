package api_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/switchyard-run/switchyard/cmd/example/internal/api"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]api.Address{
		"":                   {},
		"unix:/run/x.sock":   {Network: "unix", Place: "/run/x.sock"},
		"unix:x:y":           {Network: "unix", Place: "x:y"},
		"tcp:127.0.0.1:9000": {Network: "tcp", Place: "127.0.0.1:9000"},
		"tcp:[::1]:0":        {Network: "tcp", Place: "[::1]:0"},
		"tcp:localhost:9000": {Network: "tcp", Place: "localhost:9000"},
	} {
		address, err := api.ParseAddress(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, address)
		assert.Equal(t, text, address.String())
	}

	for text, want := range map[string]string{
		"unix:/" + strings.Repeat("x", 200): "is too long for a socket",

		"unix:":               "neither",
		"/run/x.sock":         "neither",
		"127.0.0.1:9000":      "neither",
		"tcp:9000":            "is not tcp:HOST:PORT",
		"tcp::9000":           "not on the loopback interface",
		"tcp:0.0.0.0:9000":    "not on the loopback interface",
		"tcp:[::]:9000":       "not on the loopback interface",
		"tcp:192.0.2.1:9000":  "not on the loopback interface",
		"tcp:example.net:900": "not on the loopback interface",
	} {
		_, err := api.ParseAddress(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func socket(t *testing.T) api.Address {
	t.Helper()

	dir, err := os.MkdirTemp("", "api-")
	require.NoError(t, err)

	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })

	return api.Address{Network: "unix", Place: filepath.Join(dir, "s")}
}

func TestASocketThatIsThere(t *testing.T) {
	address := socket(t)

	// One that is answered is left alone.
	first, err := address.Listen(t.Context())
	require.NoError(t, err)

	_, err = address.Listen(t.Context())
	require.ErrorContains(t, err, "is in use")

	// One that a dead process has left is replaced.
	unix, ok := first.(*net.UnixListener)
	require.True(t, ok)
	unix.SetUnlinkOnClose(false)
	require.NoError(t, first.Close())
	require.FileExists(t, address.Place)

	second, err := address.Listen(t.Context())
	require.NoError(t, err)
	require.NoError(t, second.Close())

	// What is no socket is not removed.
	require.NoError(t, os.WriteFile(address.Place, []byte("precious"), 0o600))

	_, err = address.Listen(t.Context())
	require.ErrorContains(t, err, "is no socket")
	assert.FileExists(t, address.Place)
}

func TestWhatClientsMayDo(t *testing.T) {
	address := socket(t)
	st := state.WrapCore(namespaced.NewState(inmem.Build))

	hostname := resources.NewHostname()
	hostname.TypedSpec().Hostname = "box"
	require.NoError(t, st.Create(t.Context(), hostname))

	listener, err := address.Listen(t.Context())
	require.NoError(t, err)

	server := api.Serve(listener, st, zaptest.NewLogger(t))
	defer server.Stop()

	conn, err := grpc.NewClient("unix:"+address.Place, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)

	defer conn.Close()

	remote := state.WrapCore(client.NewAdapter(v1alpha1.NewStateClient(conn)))

	got, err := safe.StateGetByID[*resources.Hostname](t.Context(), remote, resources.TheMachine)
	require.NoError(t, err)
	assert.Equal(t, "box", got.TypedSpec().Hostname)

	require.NoError(t, remote.Create(t.Context(), resources.NewRestartRequest("web")))

	// A request that nobody could dismiss is none.
	held := resources.NewRestartRequest("held")
	held.Metadata().Finalizers().Add("mine")
	require.ErrorContains(t, remote.Create(t.Context(), held), "neither an owner nor finalizers")
	require.ErrorContains(t, remote.Create(t.Context(), resources.NewRestartRequest("owned"), state.WithCreateOwner("me")),
		"neither an owner nor finalizers")

	elsewhere := resources.NewRestartRequest("web")
	*elsewhere.Metadata() = resource.NewMetadata("elsewhere", resources.RestartRequestType, "web", resource.VersionUndefined)
	require.ErrorContains(t, remote.Create(t.Context(), elsewhere), "is in namespace config")

	got.TypedSpec().Hostname = "mine"
	require.ErrorContains(t, remote.Update(t.Context(), got), "clients may read")
	require.ErrorContains(t, remote.Create(t.Context(), resources.NewPowerState()), "clients may read")
	require.ErrorContains(t, remote.Destroy(t.Context(), got.Metadata()), "clients may read")

	// Stopping does not wait for watches, which never end.
	require.NoError(t, remote.Watch(t.Context(), got.Metadata(), make(chan state.Event, 10)))
}
