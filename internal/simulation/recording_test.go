package simulation_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/internal/simulation"
	"github.com/switchyard-run/switchyard/recording"
)

// What was recorded in a world is replayed to the same passes and the same end.
func TestRecordingsOfWorldsAreReplayed(t *testing.T) {
	faults := controllertest.Storm()
	faults.Crashes, faults.Restarts = 0, 0

	for name, faults := range map[string]controllertest.Faults{"quiet": {}, "stormy": faults} {
		t.Run(name, func(t *testing.T) {
			for seed := range *seeds / 10 {
				var tape bytes.Buffer

				set := &simulation.Setting{Recorder: recording.New(&tape)}
				controllertest.Explore(t, controllertest.Plan{First: *first + seed, Seeds: 1, Faults: faults}, simulation.Script(set))

				want, err := set.Recorder.Close()
				require.NoError(t, err)
				require.Greater(t, want.Passes, 2)

				for range 2 {
					got, err := recording.Replay(t.Context(), bytes.NewReader(tape.Bytes()), set.Replay)
					require.NoError(t, err, "seed %d", *first+seed)
					require.Equal(t, want, got.Summary, "seed %d", *first+seed)
					require.True(t, got.Complete)
				}
			}
		})
	}
}
