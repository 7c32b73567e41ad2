package simulation_test

import (
	"flag"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/internal/simulation"
)

var (
	seeds = flag.Uint64("seeds", usual, "how many seeds each simulation draws")
	first = flag.Uint64("first", 1, "the first seed")
)

func TestMain(m *testing.M) {
	if err := simulation.RegisterTypes(); err != nil {
		panic(err)
	}

	goleak.VerifyTestMain(m)
}

// worlds runs as many worlds as are asked for, under the faults and over what stands between engine and state.
func worlds(t *testing.T, faults controllertest.Faults, between func(*controllertest.World)) {
	t.Helper()
	controllertest.Explore(t, controllertest.Plan{First: *first, Seeds: *seeds, Faults: faults}, simulation.Script(&simulation.Setting{Between: between}))
}

func remote(w *controllertest.World) { w.Through(simulation.Connection) }

// Where nothing fails, everything comes to what it should, in any order, and nothing is done in vain.
func TestQuietWorlds(t *testing.T) { worlds(t, controllertest.Faults{}, nil) }

// Whatever fails, everything comes to what it should.
func TestStormyWorlds(t *testing.T) { worlds(t, controllertest.Storm(), nil) }

// The same where the state is at the other end of a connection.
func TestStormyWorldsOverGRPC(t *testing.T) { worlds(t, controllertest.Storm(), remote) }

// Where watches leave out changes without breaking, audits make up for it.
func TestLossyWorlds(t *testing.T) {
	faults := controllertest.Storm()
	faults.Losses = .1
	faults.Delays = 0 // an audit may then take longer than the world to settle

	controllertest.Explore(t, controllertest.Plan{First: *first, Seeds: *seeds, Faults: faults},
		simulation.Script(&simulation.Setting{AuditInterval: 20 * time.Second}))
}

// A seed is a schedule: with the same one the same happens, in the same order and at the same time.
func TestASeedIsASchedule(t *testing.T) {
	for name, between := range map[string]func(*controllertest.World){"local": nil, "over gRPC": remote} {
		t.Run(name, func(t *testing.T) {
			for seed := range *seeds / 20 {
				run := func() string {
					return controllertest.Replay(t, strconv.FormatUint(seed, 10), controllertest.Storm(), simulation.Script(&simulation.Setting{Between: between})).String()
				}

				require.Equal(t, run(), run(), "seed %d", seed)
			}
		})
	}
}
