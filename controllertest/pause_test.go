package controllertest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
)

// A controller that is paused owes nothing, and catches up when it is resumed.
func TestWorldsOfPausedControllers(t *testing.T) {
	script := func(w *controllertest.World) {
		w.Start(withBilling(billing{}))
		w.Create(newOrder("a", 1))
		w.Settle()
		require.NoError(w, w.Runtime().Pause(w.Context(), "billing"))
		w.Create(newOrder("b", 1))
		w.Settle()
		controllertest.Gone(w, newBill("b", 0).Metadata())
		require.NoError(w, w.Runtime().Resume("billing"))
		w.Settle()
		controllertest.Get[*bill](w, newBill("b", 0).Metadata())
	}

	faults := controllertest.Storm()
	faults.Restarts = 0 // a new process is not paused

	controllertest.Run(t, script)
	controllertest.Explore(t, controllertest.Plan{Faults: faults}, script)
}
