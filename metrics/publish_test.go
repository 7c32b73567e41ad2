package metrics_test

import (
	"expvar"
	"strings"
	"testing"
	"time"

	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/metrics"
)

// published are the contract's maps, by the names under which the contract has published them.
var published = map[string]*expvar.Map{
	"controller_crashes":         contract.ControllerCrashes,
	"controller_wakeups":         contract.ControllerWakeups,
	"controller_reads":           contract.ControllerReads,
	"controller_writes":          contract.ControllerWrites,
	"qcontroller_crashes":        contract.QControllerCrashes,
	"qcontroller_skips":          contract.QControllerSkips,
	"qcontroller_requeues":       contract.QControllerRequeues,
	"qcontroller_processed":      contract.QControllerProcessed,
	"qcontroller_mapped_in":      contract.QControllerMappedIn,
	"qcontroller_mapped_out":     contract.QControllerMappedOut,
	"qcontroller_queue_length":   contract.QControllerQueueLength,
	"qcontroller_map_busy":       contract.QControllerMapBusy,
	"qcontroller_reconcile_busy": contract.QControllerReconcileBusy,
	"cached_resources":           contract.CachedResources,
}

// Both packages are linked into this test, so names that were published twice would have made it panic. The same values
// are found under both names.
func TestContractsMetricsAppearUnderBothNames(t *testing.T) {
	t.Parallel()

	for name, m := range published {
		assert.Same(t, m, expvar.Get(name), name)
		assert.Same(t, m, expvar.Get("cosi_"+name), name)
	}

	assert.NotNil(t, expvar.Get("switchyard"))

	// Nothing of the contract is forgotten.
	expvar.Do(func(kv expvar.KeyValue) {
		if m, ok := kv.Value.(*expvar.Map); ok && !strings.HasPrefix(kv.Key, "cosi_") && kv.Key != "switchyard" {
			assert.Contains(t, published, kv.Key)
			assert.Same(t, m, published[kv.Key])
		}
	})
}

// Everything that is counted of a controller arrives in the map that it belongs to, and nowhere else.
func TestControllersAreCountedUnderTheirNames(t *testing.T) {
	t.Parallel()

	e := metrics.NewEngine(true)
	name := t.Name() + e.Name()
	classic, queue := e.Classic(name+" classic"), e.Queue(name+" queue")

	for i, count := range []func(){classic.Crashed, classic.Woken, classic.Read, classic.Wrote, queue.Read, queue.Wrote} {
		for range i + 1 {
			count()
		}
	}

	for i, count := range []func(){
		queue.Crashed, queue.Skipped, queue.Requeued, func() { queue.Reconciled(100 * time.Millisecond) }, queue.Maps, func() { queue.MappedTo(1) },
	} {
		for range i + 2 {
			count()
		}
	}

	queue.Mapped(1500 * time.Millisecond)

	for key, want := range map[string]string{
		"controller_crashes": "1", "controller_wakeups": "2", "controller_reads": "3", "controller_writes": "4",
	} {
		assert.Equal(t, want, published[key].Get(name+" classic").String(), key)
	}

	for key, want := range map[string]string{
		"qcontroller_crashes": "2", "qcontroller_skips": "3", "qcontroller_requeues": "4", "qcontroller_processed": "5",
		"qcontroller_mapped_in": "6", "qcontroller_mapped_out": "7", "controller_reads": "5", "controller_writes": "6",
		"qcontroller_map_busy": "1.5", "qcontroller_reconcile_busy": "0.5",
	} {
		assert.Equal(t, want, published[key].Get(name+" queue").String(), key)
	}

	require.Nil(t, contract.ControllerCrashes.Get(name+" queue"))
	require.Nil(t, contract.QControllerCrashes.Get(name+" classic"))
}

// The contract's maps are the process's: engines of which controllers have the same names add up there.
func TestCountsAreSumsOverEngines(t *testing.T) {
	t.Parallel()

	one, other := metrics.NewEngine(true), metrics.NewEngine(true)
	name := t.Name() + one.Name()

	one.Queue(name).MappedTo(2)
	other.Queue(name).MappedTo(3)
	assert.Equal(t, "5", contract.QControllerMappedOut.Get(name).String())

	// They stay when an engine goes: a count does not go back.
	one.Close()
	assert.Equal(t, "5", contract.QControllerMappedOut.Get(name).String())
}
