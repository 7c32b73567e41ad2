package answer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
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

// What belongs to nobody was made from outside only if no controller that writes such things may have forgotten that it did.
func TestWhatBelongsToNobodyMayBeForgotten(t *testing.T) {
	t.Parallel()

	st := state.WrapCore(namespaced.NewState(inmem.Build))
	res := conformance.NewIntResource("app", "one", 1)
	require.NoError(t, st.Create(t.Context(), res))

	written := controller.DependencyEdge{ControllerName: "writer", EdgeType: controller.EdgeOutputShared, ResourceType: conformance.IntResourceType}
	pass := func(number uint64) []cause.Pass {
		return []cause.Pass{{Controller: "writer", Number: number, Began: time.Now().Add(time.Hour)}}
	}

	for _, c := range []struct {
		edges     []controller.DependencyEdge
		passes    []cause.Pass
		forgotten map[string]time.Time
		kind      api.RootKind
	}{
		{nil, nil, nil, api.RootOutside},
		{[]controller.DependencyEdge{written}, nil, nil, api.RootForgotten},
		{[]controller.DependencyEdge{written}, pass(1), nil, api.RootOutside},
		{[]controller.DependencyEdge{written}, pass(50), nil, api.RootOutside},
		{[]controller.DependencyEdge{written}, pass(50), map[string]time.Time{"writer": time.Now().Add(time.Hour)}, api.RootForgotten},
	} {
		engine := &plain{
			passes: map[string][]cause.Pass{"writer": c.passes}, forgotten: c.forgotten, graph: controller.DependencyGraph{Edges: c.edges},
		}

		why, err := answer.New(answer.Config{Engine: engine, State: st}).
			WhyResource(t.Context(), api.Ref{Namespace: "app", Type: conformance.IntResourceType, ID: "one"})
		require.NoError(t, err)
		require.Len(t, why.Roots, 1)
		require.Equal(t, c.kind, why.Roots[0].Kind, why)
	}
}
