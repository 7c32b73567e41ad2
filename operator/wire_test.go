package operator_test

import (
	"context"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/gen/ensure"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/internal/simulation"
	"github.com/switchyard-run/switchyard/operator"
)

func init() {
	ensure.NoError(protobuf.RegisterDynamic[lampSpec](lampType, &lamp{}))
	ensure.NoError(protobuf.RegisterDynamic[operator.StatusSpec[glow]](lampStatusType, &lampStatus{}))
	ensure.NoError(protobuf.RegisterDynamic[operator.StatusSpec[operator.NoData]](bareStatusType, &bareStatus{}))
}

// text renders a resource as people see it.
func text(t require.TestingT, res resource.Resource) string {
	object, err := resource.MarshalYAML(res)
	require.NoError(t, err)

	out, err := yaml.Marshal(object)
	require.NoError(t, err)

	return string(out)
}

// A status is the same at the other end of a connection.
func TestStatusesOnTheWire(t *testing.T) {
	t.Parallel()

	st, closes := simulation.Connection(namespaced.NewState(inmem.Build))
	defer closes()

	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	spec := operator.StatusSpec[glow]{
		SubjectUID: "uid-1", ObservedGeneration: 3,
		Conditions: operator.Conditions{
			{
				Type: "Ready", Status: operator.True, Reason: "Reconciled", Message: "all of it",
				ObservedGeneration: 3, LastTransitionTime: at,
			},
			{Type: "Screwed", Status: operator.Unknown},
		},
		Data: glow{Lumen: 5, Hues: []string{"red", ""}, Since: at.Add(time.Nanosecond)},
	}

	require.NoError(t, st.Create(t.Context(), newLampStatus("a", spec)))

	got, err := st.Get(t.Context(), statusOf("a"))
	require.NoError(t, err)
	require.Equal(t, spec, *got.(*lampStatus).TypedSpec())

	require.NoError(t, st.Create(t.Context(), newLampStatus("empty", operator.StatusSpec[glow]{})))

	got, err = st.Get(t.Context(), statusOf("empty"))
	require.NoError(t, err)
	require.Equal(t, operator.StatusSpec[glow]{}, *got.(*lampStatus).TypedSpec())
}

// bareStatus is a status that has nothing but conditions.
type bareStatus = operator.StatusResource[operator.NoData, bareStatusExtension]

const bareStatusType = resource.Type("BareStatuses.test.switchyard.run")

type bareStatusExtension struct{}

func (bareStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: bareStatusType, DefaultNamespace: lampsIn}
}

// A status without data of its own goes over a connection as well.
func TestStatusesWithoutDataOnTheWire(t *testing.T) {
	t.Parallel()

	st, closes := simulation.Connection(namespaced.NewState(inmem.Build))
	defer closes()

	spec := operator.StatusSpec[operator.NoData]{
		SubjectUID: "uid-1", ObservedGeneration: 3,
		Conditions: operator.Conditions{{
			Type: "Ready", Status: operator.False, LastTransitionTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}},
	}
	md := resource.NewMetadata(lampsIn, bareStatusType, "a", resource.VersionUndefined)

	require.NoError(t, st.Create(t.Context(), typed.NewResource[operator.StatusSpec[operator.NoData], bareStatusExtension](md, spec)))

	got, err := st.Get(t.Context(), md)
	require.NoError(t, err)
	require.Equal(t, spec, *got.(*bareStatus).TypedSpec())
}

// Events are the same at the other end, too.
func TestEventsOnTheWire(t *testing.T) {
	t.Parallel()

	st, closes := simulation.Connection(namespaced.NewState(inmem.Build))
	defer closes()

	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	spec := operator.EventSpec{
		Severity: operator.Warning, SubjectNamespace: "default", SubjectType: lampType, SubjectID: "a", SubjectUID: "uid-1",
		Controller: "lamps", Action: "First", Reason: "Error", Message: "First: Error", Count: 3, First: at, Last: at.Add(time.Hour),
	}
	md := resource.NewMetadata(lampsIn, operator.EventType, "a", resource.VersionUndefined)

	require.NoError(t, st.Create(t.Context(), typed.NewResource[operator.EventSpec, operator.EventExtension](md, spec)))

	got, err := st.Get(t.Context(), md)
	require.NoError(t, err)
	require.Equal(t, spec, *got.(*operator.EventResource).TypedSpec())
}

// A status in YAML is what people expect, and can be read again.
func TestStatusesAsYAML(t *testing.T) {
	t.Parallel()

	spec := operator.StatusSpec[glow]{
		SubjectUID: "uid-1", ObservedGeneration: 3,
		Conditions: operator.Conditions{{
			Type: "Ready", Status: operator.True, Reason: "Reconciled", ObservedGeneration: 3,
			LastTransitionTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}},
		Data: glow{Lumen: 5},
	}

	out, err := yaml.Marshal(spec)
	require.NoError(t, err)
	require.YAMLEq(t, `
subjectUID: uid-1
observedGeneration: 3
conditions:
  - type: Ready
    status: "True"
    reason: Reconciled
    observedGeneration: 3
    lastTransitionTime: 2026-01-02T03:04:05Z
data:
  lumen: 5
  since: 0001-01-01T00:00:00Z
`, string(out))

	var read operator.StatusSpec[glow]

	require.NoError(t, yaml.Unmarshal(out, &read))
	require.Equal(t, spec, read)
	require.Contains(t, text(t, newLampStatus("a", spec)), "type: LampStatuses.test.switchyard.run")
}

// A controller whose state is at the other end of a connection reports as any other, and what is the same is not written again.
func TestReportsOverAConnection(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		w.Through(simulation.Connection)
		light(w, func() *operator.Controller[*lamp] {
			c, glows := lit()

			return c.Reconcile(func(_ context.Context, l *lamp, c *operator.Context[*lamp]) error {
				c.Condition("Screwed", operator.True, "Tight", "")
				glows.Set(c, func(g *glow) { g.Lumen, g.Since = l.TypedSpec().Watts, time.Unix(1, 0).UTC() })

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, []string{"Screwed True Tight", "Ready True Reconciled"}, said(w, "a"))
		require.Equal(w, glow{Lumen: 1, Since: time.Unix(1, 0).UTC()}, status(w, "a").Data)

		version := statusVersion(w, "a")

		w.WakeAll()
		w.Settle()
		require.Equal(w, version, statusVersion(w, "a"))
		require.NotEmpty(w, controllertest.List[*operator.EventResource](w, operatorEvents()))
	})
}
