package metrics

import (
	"expvar"

	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
)

// The contract's maps under the names that dashboards of the field use for them. A name that is already taken in the
// process is left to whoever took it, since expvar panics when one is published twice.
func init() {
	for name, m := range map[string]*expvar.Map{
		"cosi_controller_crashes":         contract.ControllerCrashes,
		"cosi_controller_wakeups":         contract.ControllerWakeups,
		"cosi_controller_reads":           contract.ControllerReads,
		"cosi_controller_writes":          contract.ControllerWrites,
		"cosi_qcontroller_crashes":        contract.QControllerCrashes,
		"cosi_qcontroller_skips":          contract.QControllerSkips,
		"cosi_qcontroller_requeues":       contract.QControllerRequeues,
		"cosi_qcontroller_processed":      contract.QControllerProcessed,
		"cosi_qcontroller_mapped_in":      contract.QControllerMappedIn,
		"cosi_qcontroller_mapped_out":     contract.QControllerMappedOut,
		"cosi_qcontroller_queue_length":   contract.QControllerQueueLength,
		"cosi_qcontroller_map_busy":       contract.QControllerMapBusy,
		"cosi_qcontroller_reconcile_busy": contract.QControllerReconcileBusy,
		"cosi_cached_resources":           contract.CachedResources,
		"switchyard":                      engines,
	} {
		if expvar.Get(name) == nil {
			expvar.Publish(name, m)
		}
	}
}

// engines holds one map per running engine, by the engine's name.
var engines = new(expvar.Map)
