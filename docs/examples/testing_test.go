package examples_test

import (
	"fmt"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
)

// moving is the life of a host: it comes, moves, and goes.
func moving(w *controllertest.World) {
	w.Start(func(e controller.Engine) error { return e.RegisterQController(Recorder{}) })

	w.Create(newHost("web", "10.0.0.1"))
	w.Settle()
	require.Equal(w, "web A 10.0.0.1", controllertest.Get[*Record](w, newRecord("web").Metadata()).TypedSpec().Value)

	controllertest.Update(w, newHost("web", "").Metadata(), func(host *Host) { host.TypedSpec().Value = "10.0.0.2" })
	controllertest.Await(w, newRecord("web").Metadata(), func(record *Record) error {
		if got := record.TypedSpec().Value; got != "web A 10.0.0.2" {
			return fmt.Errorf("the record is still %q", got)
		}

		return nil
	})

	w.Destroy(newHost("web", "").Metadata())
	w.Settle()
	controllertest.Gone(w, newRecord("web").Metadata())
}

func TestRecorder(t *testing.T) {
	controllertest.Run(t, moving)
}

// hurried lets hosts come, move and go while the controller is still at work.
func hurried(w *controllertest.World) {
	w.Start(func(e controller.Engine) error { return e.RegisterQController(Recorder{}) })

	w.Create(newHost("web", "10.0.0.1"), newHost("db", "10.0.0.3"))
	controllertest.Update(w, newHost("web", "").Metadata(), func(host *Host) { host.TypedSpec().Value = "10.0.0.2" })
	w.Destroy(newHost("web", "").Metadata())
	w.Settle()
	controllertest.Gone(w, newRecord("web").Metadata())
	controllertest.Get[*Record](w, newRecord("db").Metadata())
}

func TestRecorderIsProven(t *testing.T) {
	controllertest.CrashSweep(t, moving)
	controllertest.AssertIdempotent(t, moving)
	controllertest.Confluent(t, 50, hurried)
	controllertest.Explore(t, controllertest.Plan{Seeds: 200, Faults: controllertest.Storm()}, hurried)
}

// away lets a host move while nobody looks.
func away(w *controllertest.World) {
	w.Start(func(e controller.Engine) error { return e.RegisterQController(Recorder{}) })
	w.Create(newHost("web", "10.0.0.1"))
	w.Settle()

	w.Stop()
	controllertest.Update(w, newHost("web", "").Metadata(), func(host *Host) { host.TypedSpec().Value = "10.0.0.2" })
	w.Restart()
	w.Settle()
}

func TestRecorderLearnsWhatItHasMissed(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		away(w)
		require.Equal(w, "web A 10.0.0.2", controllertest.Get[*Record](w, newRecord("web").Metadata()).TypedSpec().Value)
	})
}
