package operator_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/gen/ensure"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/recording"
	"github.com/switchyard-run/switchyard/runtime"
)

func init() {
	ensure.NoError(protobuf.RegisterDynamic[unitSpec]("Units.needs.test", &unit{}))
	ensure.NoError(protobuf.RegisterDynamic[operator.StatusSpec[operator.NoData]]("UnitStatuses.needs.test", &unitStatus{}))
	ensure.NoError(protobuf.RegisterDynamic[taskSpec]("Tasks.needs.test", &task{}))
}

// The times that a controller has put into statuses and events are in a recording of it, and a replay at another time
// comes to the same.
func TestARecordingIsReplayedAtAnotherTime(t *testing.T) {
	t.Parallel()

	var (
		kept     bytes.Buffer
		register = func(engine controller.Engine) error { return operator.Register(engine, units()) }
	)

	synctest.Test(t, func(t *testing.T) {
		rec := recording.New(&kept)
		st := rec.State(state.WrapCore(generation.Wrap(namespaced.NewState(inmem.Build), generation.Config{
			Types: []resource.Type{"Units.needs.test"},
		})))

		engine, err := runtime.NewRuntime(st, zap.NewNop())
		require.NoError(t, err)
		require.NoError(t, register(rec.Engine(engine)))

		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		go func() { ended <- engine.Run(ctx) }()

		for _, u := range []*unit{newUnit("top", "bottom"), newUnit("bottom")} {
			require.NoError(t, st.Create(t.Context(), u))
		}

		_, err = st.WatchFor(t.Context(), taskPointer("top"), state.WithEventTypes(state.Created))
		require.NoError(t, err)

		for _, id := range []string{"top", "bottom"} {
			_, err := st.Teardown(t.Context(), newUnit(id).Metadata())
			require.NoError(t, err)

			_, err = st.WatchFor(t.Context(), newUnit(id).Metadata(), state.WithEventTypes(state.Destroyed))
			require.NoError(t, err)
		}

		synctest.Wait()
		stop()
		require.NoError(t, <-ended)

		_, err = rec.Close()
		require.NoError(t, err)
	})

	result, err := recording.Replay(t.Context(), bytes.NewReader(kept.Bytes()), register)
	require.NoError(t, err)
	require.True(t, result.Complete)
	require.NotEmpty(t, result.Passes)
}
