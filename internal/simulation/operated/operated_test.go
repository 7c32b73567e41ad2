package operated_test

import (
	"flag"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/internal/simulation/operated"
)

var (
	seeds = flag.Uint64("seeds", usual, "how many seeds each simulation draws")
	first = flag.Uint64("first", 1, "the first seed")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whatever is asked for, in whatever order, the operator brings it about, and does nothing in vain.
func TestQuietOperators(t *testing.T) {
	controllertest.Explore(t, controllertest.Plan{First: *first, Seeds: *seeds}, operated.Script(operated.Quiet))
}

// Handlers fail, and nothing else.
func TestStumblingOperators(t *testing.T) {
	controllertest.Explore(t, controllertest.Plan{First: *first, Seeds: *seeds}, operated.Script(operated.Stumbling))
}

// Whatever fails, the operator brings about what is asked for.
func TestStormyOperators(t *testing.T) {
	controllertest.Explore(t, controllertest.Plan{First: *first, Seeds: *seeds, Faults: controllertest.Storm()}, operated.Script(operated.Stormy))
}

// A seed is a schedule: with the same one the same happens.
func TestAnOperatorsSeedIsASchedule(t *testing.T) {
	for seed := range *seeds / 20 {
		run := func() string {
			return controllertest.Replay(t, strconv.FormatUint(*first+seed, 10), controllertest.Storm(), operated.Script(operated.Stormy)).String()
		}

		require.Equal(t, run(), run(), "seed %d", *first+seed)
	}
}
