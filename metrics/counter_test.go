package metrics_test

import (
	"expvar"
	"fmt"
	"sync"
	"testing"
	"time"

	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/metrics"
)

// A controller of which nothing was counted yet has no entries, so that thousands of idle ones cost nothing.
func TestCountersEnterWithTheFirstCount(t *testing.T) {
	t.Parallel()

	e := metrics.NewEngine(true)
	name := t.Name() + e.Name()
	classic, queue := e.Classic(name), e.Queue(name)

	for key, m := range published {
		require.Nil(t, m.Get(name), key)
	}

	classic.Wrote()
	queue.Wrote() // of the same name, which adds up
	queue.Mapped(time.Second)

	for key, m := range published {
		want := map[string]string{"controller_writes": "2", "qcontroller_map_busy": "1"}[key]
		require.Equal(t, want, value(m, name), key)
	}
}

// Nothing is lost while a counter enters its map.
func TestCountsBesideTheEntry(t *testing.T) {
	t.Parallel()

	const each = 50

	e := metrics.NewEngine(true)

	for i := range 200 {
		var work sync.WaitGroup

		name := fmt.Sprint(t.Name(), e.Name(), i)
		counted := e.Classic(name)

		for range 2 {
			work.Go(func() {
				for range each {
					counted.Woken()
				}
			})
		}

		work.Wait()
		require.Equal(t, fmt.Sprint(2*each), value(contract.ControllerWakeups, name))
	}
}

// A key that somebody else uses for another type of value is left alone.
func TestForeignEntriesAreLeftAlone(t *testing.T) {
	t.Parallel()

	e := metrics.NewEngine(true)
	name := t.Name() + e.Name()

	contract.ControllerCrashes.Set(name, new(expvar.String))
	contract.QControllerMapBusy.Set(name, new(expvar.String))

	classic := e.Classic(name)
	classic.Crashed()
	e.Queue(name).Mapped(time.Second)

	assert.Equal(t, `""`, value(contract.ControllerCrashes, name))
	assert.Equal(t, `""`, value(contract.QControllerMapBusy, name))
}

func BenchmarkCount(b *testing.B) {
	e := metrics.NewEngine(true)
	counted := e.Classic(b.Name())

	for b.Loop() {
		counted.Wrote()
	}
}
