package controllers_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/destroy"
	"github.com/siderolabs/gen/optional"

	"github.com/switchyard-run/switchyard/cmd/example/internal/controllers"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/controllertest"
)

// Wherever the machine loses its power while a service starts, changes and goes, it ends as if it had not.
func TestServicesSurviveCrashes(t *testing.T) {
	script := func(w *controllertest.World) {
		w.Start(func(e controller.Engine) error {
			if err := e.RegisterQController(destroy.NewController[*resources.RestartRequest](optional.None[uint]())); err != nil {
				return err
			}

			return e.RegisterQController(&controllers.ServiceController{Self: "/bin/self", Root: "/root"})
		})
		w.Create(service("db"), service("web", "db"), status("db", true))
		w.Settle()
		w.Create(resources.NewRestartRequest("web"))
		w.Settle()
		w.Destroy(service("db").Metadata())
		w.Destroy(service("web").Metadata())
		w.Settle()
		controllertest.Gone(w, resources.NewProcess("db").Metadata())
	}

	controllertest.CrashSweep(t, script)
	controllertest.AssertIdempotent(t, script)
}
