package runtime_test

import (
	"context"
	"expvar"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/controller"
	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/runtime"
)

// wakeups returns how many wakeups of the controller are shown.
func wakeups(name string) int64 {
	shown, _ := contract.ControllerWakeups.Get(name).(*expvar.Int)
	if shown == nil {
		return 0
	}

	return shown.Value()
}

// The wakeup with which a controller begins is counted once: for a few controllers when they are registered, for more of
// them when the engine runs, before any has begun. A run that started nobody counts them, too, and the next one does not again.
// Who is gone before has never been woken.
func TestFirstWakeupsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		st.refuse[sourceType] = errBroken
		w := newWorld(t, state.WrapCore(st), runtime.Config{OnWatchFailure: runtime.EndRun}, nil)
		name := func(number int) string { return fmt.Sprintf("%s-%p-%03d", t.Name(), w, number) }

		var unseen journal[string]

		register := func(number int) {
			w.register(&classic{
				name: name(number), inputs: []controller.Input{sources(controller.InputWeak)},
				run: func(ctx context.Context, _ controller.Runtime) error {
					if wakeups(name(number)) == 0 {
						unseen.add(name(number))
					}

					<-ctx.Done()

					return nil
				},
			})
		}

		for number := 199; number >= 0; number-- {
			register(number)
		}

		require.EqualValues(t, 1, wakeups(name(199)))
		require.EqualValues(t, 1, wakeups(name(136)))
		require.Zero(t, wakeups(name(135)))

		require.NoError(t, w.Unregister(t.Context(), name(0)))
		require.ErrorIs(t, w.Run(t.Context()), errBroken)
		register(200)

		st.set(func() { delete(st.refuse, sourceType) })
		w.start()
		synctest.Wait()
		register(201)
		synctest.Wait()

		for number := 1; number <= 201; number++ {
			require.EqualValues(t, 1, wakeups(name(number)), number)
		}

		require.Zero(t, wakeups(name(0)))
		require.Empty(t, unseen.all())
		w.end()
	})
}
