package metrics_test

import (
	"expvar"
	"sync"
	"testing"
	"time"

	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/metrics"
)

// value renders an entry of a map, or is empty if there is none.
func value(m *expvar.Map, key string) string {
	if v := m.Get(key); v != nil {
		return v.String()
	}

	return ""
}

func three() int { return 3 }
func four() int  { return 4 }

// Two engines with a queue controller of one name and a cached type in common show their sums, and each takes its own
// part away when it closes.
func TestGaugesAreSumsAndGoWithTheirEngine(t *testing.T) {
	t.Parallel()

	one, other := metrics.NewEngine(true), metrics.NewEngine(true)
	name := t.Name() + one.Name()

	one.QueueLength(name, three)
	other.QueueLength(name, four)
	one.CachedResources(name, three)
	one.CachedResources(name, four) // another namespace
	other.CachedResources(name, four)

	assert.Equal(t, "7", value(contract.QControllerQueueLength, name))
	assert.Equal(t, "11", value(contract.CachedResources, name))

	one.Close()
	assert.Equal(t, "4", value(contract.QControllerQueueLength, name))
	assert.Equal(t, "4", value(contract.CachedResources, name))

	other.Close()
	other.Close()
	assert.Empty(t, value(contract.QControllerQueueLength, name))
	assert.Empty(t, value(contract.CachedResources, name))
}

// Engines that run one after the other do not add up.
func TestGaugesOfFormerEnginesAreGone(t *testing.T) {
	t.Parallel()

	name := t.Name() + metrics.NewEngine(true).Name()

	for range 3 {
		e := metrics.NewEngine(true)
		e.Open()
		e.CachedResources(name, func() int { return 1 })
		assert.Equal(t, "1", value(contract.CachedResources, name))
		e.Close()
	}

	assert.Empty(t, value(contract.CachedResources, name))
}

// A controller that is unregistered takes its gauge with it, once, before or after its engine.
func TestGaugesCanBeRemoved(t *testing.T) {
	t.Parallel()

	one, other := metrics.NewEngine(true), metrics.NewEngine(true)
	name := t.Name() + one.Name()

	gauge := one.QueueLength(name, three)
	late := one.QueueLength(name, three)

	other.QueueLength(name, four)
	assert.Equal(t, "10", value(contract.QControllerQueueLength, name))

	gauge.Remove()
	gauge.Remove()
	assert.Equal(t, "7", value(contract.QControllerQueueLength, name))

	one.Close()
	late.Remove()
	assert.Equal(t, "4", value(contract.QControllerQueueLength, name))

	// Registered again, it is there again.
	gauge = other.QueueLength(name, three)
	assert.Equal(t, "7", value(contract.QControllerQueueLength, name))

	gauge.Remove()
	other.Close()
	assert.Empty(t, value(contract.QControllerQueueLength, name))
}

// Reading, adding and removing go on beside each other.
func TestGaugesBesideEachOther(t *testing.T) {
	t.Parallel()

	one, other := metrics.NewEngine(true), metrics.NewEngine(true)
	name := t.Name() + one.Name()

	var work sync.WaitGroup

	for _, e := range []*metrics.Engine{one, other} {
		work.Go(func() {
			for range 500 {
				gauge := e.QueueLength(name, three)
				assert.Contains(t, []string{"3", "6"}, value(contract.QControllerQueueLength, name))
				gauge.Remove()
			}
		})
	}

	work.Wait()
	assert.Empty(t, value(contract.QControllerQueueLength, name))
}

// own returns the map of the engine under "switchyard", or nil.
func own(e *metrics.Engine) *expvar.Map {
	m, _ := expvar.Get("switchyard").(*expvar.Map).Get(e.Name()).(*expvar.Map)

	return m
}

// What the contract does not count is kept apart by engine, and is there while the engine runs.
func TestOwnMetricsAreKeptApart(t *testing.T) {
	t.Parallel()

	one, other := metrics.NewEngine(true), metrics.NewEngine(true)
	require.NotEqual(t, one.Name(), other.Name())

	one.Count("relists").Inc()
	one.Count("relists").Inc()
	other.Count("relists").Inc()
	one.Finished().Inc()

	require.Nil(t, own(one), "not before it runs")

	one.Open()
	other.Open()
	one.Gauge("watches", three)

	require.Equal(t, `{"damped_passes": 0, "finished_controllers": 1, "relists": 2, "watches": 3}`, own(one).String())
	require.Equal(t, `{"damped_passes": 0, "finished_controllers": 0, "relists": 1}`, own(other).String())

	one.Close()
	require.Nil(t, own(one))
	require.NotNil(t, own(other))

	// It runs again: counts go on, gauges have to be made anew.
	one.Open()
	require.Equal(t, `{"damped_passes": 0, "finished_controllers": 1, "relists": 2}`, own(one).String())

	one.Close()
	other.Close()
}

// Not parallel: allocations are counted in the whole process, and all maps are compared with what they were.
func TestSwitchedOffMetricsCostNothing(t *testing.T) {
	before := snapshot()
	e := metrics.NewEngine(false)

	e.Open()

	classic, queue := e.Classic("off"), e.Queue("off")
	gauges := []*metrics.Gauge{e.QueueLength("off", three), e.CachedResources("off", three), e.Gauge("off", three)}
	own := e.Count("off")

	require.Empty(t, e.Name())
	require.Equal(t, &metrics.Classic{}, &classic)
	require.Equal(t, &metrics.Queue{}, queue)

	require.Zero(t, testing.AllocsPerRun(100, func() {
		classic.Woken()
		classic.Read()
		e.Finished().Inc()
		queue.Reconciled(time.Second)
		queue.MappedTo(2)
		own.Inc()
	}))
	require.Equal(t, before, snapshot())

	for _, gauge := range gauges {
		gauge.Remove()
	}

	e.Close()
	require.Equal(t, before, snapshot())
}

// snapshot renders all metrics of the contract and our own.
func snapshot() map[string]string {
	all := map[string]string{"switchyard": expvar.Get("switchyard").String()}
	for name, m := range published {
		all[name] = m.String()
	}

	return all
}

// Counting does not allocate, so that metrics may be left on.
func TestCountingDoesNotAllocate(t *testing.T) {
	e := metrics.NewEngine(true)
	counted := e.Queue(t.Name() + e.Name())

	require.Zero(t, testing.AllocsPerRun(100, func() {
		counted.Reconciled(time.Second)
	}))
}

// What an engine counts can be asked for without the maps of the process; gauges go with the engine.
func TestCountsOfAnEngine(t *testing.T) {
	t.Parallel()

	e := metrics.NewEngine(true)
	e.Count("counted").Add(2)
	e.Gauge("gauged", three)
	require.Equal(t, map[string]int64{"counted": 2, "damped_passes": 0, "finished_controllers": 0, "gauged": 3}, e.Counts())

	e.Close()
	require.Equal(t, map[string]int64{"counted": 2, "damped_passes": 0, "finished_controllers": 0}, e.Counts())
	require.Empty(t, metrics.NewEngine(false).Counts())
}
