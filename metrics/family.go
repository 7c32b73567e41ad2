package metrics

import (
	"expvar"

	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
)

// family is one of the contract's maps, by a number that is smaller than the pointer to it.
type family uint8

const (
	none family = iota
	controllerCrashes
	controllerWakeups
	controllerReads
	controllerWrites
	queueCrashes
	queueSkips
	queueRequeues
	queueProcessed
	queueMappedIn
	queueMappedOut
	queueMapBusy
	queueReconcileBusy
)

// counts returns the map of the family.
func (f family) counts() *expvar.Map {
	switch f {
	case controllerCrashes:
		return contract.ControllerCrashes
	case controllerWakeups:
		return contract.ControllerWakeups
	case controllerReads:
		return contract.ControllerReads
	case controllerWrites:
		return contract.ControllerWrites
	case queueCrashes:
		return contract.QControllerCrashes
	case queueSkips:
		return contract.QControllerSkips
	case queueRequeues:
		return contract.QControllerRequeues
	case queueProcessed:
		return contract.QControllerProcessed
	case queueMappedIn:
		return contract.QControllerMappedIn
	case queueMappedOut:
		return contract.QControllerMappedOut
	case queueMapBusy:
		return contract.QControllerMapBusy
	case queueReconcileBusy:
		return contract.QControllerReconcileBusy
	default:
		return nil
	}
}
