package controllers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// stamped has a world keep generations and uids, which are the same each time, and compare its ends without times.
func stamped(w *controllertest.World) {
	w.Wrap(func(core state.CoreState) state.CoreState {
		uids := 0

		return resources.StampedWith(core, func() string {
			uids++

			return fmt.Sprint("uid-", uids)
		})
	})

	w.Compare(func(res resource.Resource) resource.Resource {
		switch res := res.(type) {
		case *resources.ServiceStatus:
			timeless(res.TypedSpec().Conditions)
		case *resources.FileStatus:
			timeless(res.TypedSpec().Conditions)
		}

		return res
	})
}

func timeless(conditions operator.Conditions) {
	for i := range conditions {
		conditions[i].LastTransitionTime = time.Time{}
	}
}

// Wherever the machine loses its power while a service starts, changes and goes, it ends as if it had not.
func TestServicesSurviveCrashes(t *testing.T) {
	script := func(w *controllertest.World) {
		stamped(w)
		w.Start(registerServices)
		w.Create(service("db"), service("web", "db"), running(service("db"), 1, time.Time{}))
		w.Settle()
		w.Create(resources.NewRestartRequest("web"), resources.NewRestartRequest("nobody"))
		w.Settle()
		controllertest.Gone(w, resources.NewRestartRequest("web").Metadata())
		controllertest.Gone(w, resources.NewRestartRequest("nobody").Metadata())
		require.NotEmpty(w, controllertest.Get[*resources.Process](w, resources.NewProcess("web").Metadata()).TypedSpec().Attempt)
		w.Destroy(service("db").Metadata())
		w.Destroy(service("web").Metadata())
		w.Settle()
		controllertest.Gone(w, resources.NewProcess("db").Metadata())
	}

	controllertest.CrashSweep(t, script)
	controllertest.AssertIdempotent(t, script)
	controllertest.Explore(t, controllertest.Plan{Faults: controllertest.Storm()}, script)
}

// Whichever of two services that have changed is looked at first, the one waits for the other to be ready as it is now.
func TestServicesThatChangeTogetherWait(t *testing.T) {
	controllertest.Explore(t, controllertest.Plan{Faults: controllertest.Faults{Errors: .1}}, func(w *controllertest.World) {
		stamped(w)
		w.Start(registerServices)
		w.Create(service("db"), service("web", "db"), running(service("db"), 1, time.Time{}))
		w.Settle()

		process := func() *resources.ProcessSpec {
			return controllertest.Get[*resources.Process](w, resources.NewProcess("web").Metadata()).TypedSpec()
		}

		require.Empty(w, process().WaitingFor)

		for _, name := range []string{"db", "web"} {
			controllertest.Update(w, service(name).Metadata(), func(svc *resources.Service) {
				svc.TypedSpec().Env = map[string]string{"A": "1"}
			})
		}

		w.Settle()
		require.Equal(w, []string{"db"}, process().WaitingFor)
	})
}
