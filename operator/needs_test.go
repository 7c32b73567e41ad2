package operator_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

// Units start after those that they need, and stop before them: each looks at the statuses and the children of others.
type (
	unit       = typed.Resource[unitSpec, unitExtension]
	unitStatus = operator.StatusResource[operator.NoData, unitStatusExtension]
	task       = typed.Resource[taskSpec, taskExtension]
)

type unitSpec struct {
	Needs []string `yaml:"needs" protobuf:"1"`
}

func (s unitSpec) DeepCopy() unitSpec { return unitSpec{Needs: slices.Clone(s.Needs)} }

// taskSpec tells who was started before it.
type taskSpec struct {
	After []string `yaml:"after" protobuf:"1"`
}

func (s taskSpec) DeepCopy() taskSpec { return taskSpec{After: slices.Clone(s.After)} }

type (
	unitExtension       struct{}
	unitStatusExtension struct{}
	taskExtension       struct{}
)

func (unitExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Units.needs.test", DefaultNamespace: "needs"}
}

func (unitStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "UnitStatuses.needs.test", DefaultNamespace: "needs"}
}

func (taskExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Tasks.needs.test", DefaultNamespace: "needs"}
}

func newUnit(id resource.ID, needs ...string) *unit {
	return typed.NewResource[unitSpec, unitExtension](
		resource.NewMetadata("needs", "Units.needs.test", id, resource.VersionUndefined), unitSpec{Needs: needs})
}

func taskPointer(id resource.ID) resource.Pointer {
	return resource.NewMetadata("needs", "Tasks.needs.test", id, resource.VersionUndefined)
}

// needPrefix begins labels of a task, which name what it needs.
const needPrefix = "needs.test/"

func needsOf(u *unit) []resource.ID { return u.TypedSpec().Needs }

func units() *operator.Controller[*unit] {
	c := operator.For[*unit]("units")
	operator.Status[operator.NoData, unitStatusExtension](c)
	operator.Owns[*task](c)
	operator.WatchNamed[*unitStatus](c, needsOf)
	operator.Watch(c, func(t *task) (needs []resource.ID) {
		for label := range t.Metadata().Labels().Raw() {
			if len(label) > len(needPrefix) && label[:len(needPrefix)] == needPrefix {
				needs = append(needs, label[len(needPrefix):])
			}
		}

		return needs
	})

	c.Reconcile(func(ctx context.Context, u *unit, c *operator.Context[*unit]) error {
		var after []string

		for _, need := range u.TypedSpec().Needs {
			status, err := operator.Get[*unitStatus](ctx, c, need)
			if state.IsNotFoundError(err) || err == nil && !status.TypedSpec().Conditions.Holds(operator.Ready) {
				return operator.Wait("Needs", operator.After(24*time.Hour), operator.Message("%s", need))
			}

			if err != nil {
				return err
			}

			after = append(after, need)
		}

		return operator.Ensure(ctx, c, &task{}, func(t *task) {
			t.TypedSpec().After = after

			for _, need := range u.TypedSpec().Needs {
				t.Metadata().Labels().Set(needPrefix+need, "")
			}
		})
	})

	return c.Finalize("units", func(ctx context.Context, u *unit, c *operator.StageContext) error {
		dependents, err := operator.List[*task](ctx, c, state.WithLabelQuery(resource.LabelExists(needPrefix+u.Metadata().ID())))
		if err == nil && len(dependents) > 0 {
			return operator.Wait("Needed", operator.After(24*time.Hour), operator.Message("%d tasks need it", len(dependents)))
		}

		return err
	})
}

func startUnits(w *controllertest.World) {
	w.Wrap(func(core state.CoreState) state.CoreState {
		n := 0

		return generation.Wrap(core, generation.Config{Types: []resource.Type{"Units.needs.test"}, NewUID: func() string {
			n++

			return fmt.Sprint("uid-", n)
		}})
	})
	w.Compare(func(res resource.Resource) resource.Resource {
		switch res := res.(type) {
		case *operator.EventResource:
			return nil
		case *unitStatus:
			for i := range res.TypedSpec().Conditions {
				res.TypedSpec().Conditions[i].LastTransitionTime = time.Time{}
			}
		}

		return res
	})
	w.Start(func(e controller.Engine) error { return operator.Register(e, units()) })
}

// A change of what a primary names wakes the primary, also if it is the status or the child of another primary of the same
// controller. The waits are a day long, and
// a world that nobody wakes for a minute has settled.
func TestPrimariesWaitForEachOther(t *testing.T) {
	t.Parallel()

	script := func(w *controllertest.World) {
		startUnits(w)
		w.Create(newUnit("top", "middle"), newUnit("middle", "bottom"), newUnit("bottom"))
		w.Settle()

		for _, id := range []string{"top", "middle", "bottom"} {
			controllertest.Get[*task](w, taskPointer(id))
		}

		w.Destroy(newUnit("bottom").Metadata())
		w.Settle()
		controllertest.Get[*task](w, taskPointer("bottom"))

		w.Destroy(newUnit("middle").Metadata())
		w.Destroy(newUnit("top").Metadata())
		w.Settle()
		require.Empty(w, controllertest.List[*task](w, taskPointer("")))
		require.Empty(w, controllertest.List[*unit](w, newUnit("").Metadata()))
	}

	controllertest.CrashSweep(t, script)
	controllertest.AssertIdempotent(t, script)
	controllertest.Explore(t, controllertest.Plan{}, script)
}

// A kind has one input, whatever else it is to the controller, and one that is watched twice is a mistake.
func TestAKindIsWatchedOnce(t *testing.T) {
	t.Parallel()

	built, err := units().Build()
	require.NoError(t, err)

	seen := map[resource.Type]controller.InputKind{}

	for _, in := range built.Settings().Inputs {
		require.NotContains(t, seen, in.Type)
		seen[in.Type] = in.Kind
	}

	require.Equal(t, map[resource.Type]controller.InputKind{
		"Units.needs.test": controller.InputQPrimary, "UnitStatuses.needs.test": controller.InputQMapped, "Tasks.needs.test": controller.InputQMapped,
	}, seen)

	c := units()
	operator.WatchNamed[*unitStatus](c, needsOf)
	operator.WatchNamed[*unit](c, needsOf)
	operator.WatchNamed[*operator.EventResource](c, nil)

	_, err = c.Build()
	require.ErrorContains(t, err, "UnitStatuses.needs.test is declared twice as a watched kind")
	require.ErrorContains(t, err, "Units.needs.test is the primary and can not be a watched kind as well")
	require.ErrorContains(t, err, "give WatchNamed a function")
}
