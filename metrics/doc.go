// Package metrics owns what the engine counts: the contract's expvar maps, which keep their names and are published
// under cosi_ names as well, and a map of this engine's own.
//
// The contract's maps are global to the process, so their values sum over all engines in it, and controllers of one
// name in two engines share an entry. A count has an entry from its first one on, which stays when its controller or its
// engine goes: counts do not go back. Everything under "switchyard" is kept apart by engine. A switched-off metric is
// the zero value of its type and costs a nil check. The package starts no goroutine.
package metrics
