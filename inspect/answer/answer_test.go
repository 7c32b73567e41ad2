package answer_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

// What a controller has made is traced back to what was done from outside, and what it holds in teardown forward to it.
func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := state.WrapCore(namespaced.NewState(inmem.Build))
		engine, err := runtime.New(st, zap.NewNop(), runtime.Config{Passes: 32})
		require.NoError(t, err)
		require.NoError(t, engine.RegisterQController(&conformance.QIntToStrController{SourceNamespace: "source", TargetNamespace: "target"}))

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)

		go func() { done <- engine.Run(ctx) }()

		synctest.Wait()
		require.NoError(t, st.Create(ctx, conformance.NewIntResource("source", "one", 1)))
		synctest.Wait()

		a := answer.New(answer.Config{Engine: engine, State: st})
		ref := api.Ref{Namespace: "target", Type: conformance.StrResourceType, ID: "one"}

		why, err := a.WhyResource(ctx, ref)
		require.NoError(t, err)
		t.Log(why)
		require.Equal(t, api.RootOutside, why.Roots[0].Kind)

		require.NoError(t, st.AddFinalizer(ctx, resource.NewMetadata("target", conformance.StrResourceType, "one", resource.VersionUndefined), "gone"))
		_, err = st.Teardown(ctx, resource.NewMetadata("source", conformance.IntResourceType, "one", resource.VersionUndefined))
		require.NoError(t, err)
		synctest.Wait()

		blocked, err := a.BlockedResource(ctx, api.Ref{Namespace: "source", Type: conformance.IntResourceType, ID: "one"})
		require.NoError(t, err)
		t.Log(blocked)
		require.Equal(t, api.ObstacleOrphan, blocked.Roots[0].Kind)

		cancel()
		require.NoError(t, <-done)
	})
}
