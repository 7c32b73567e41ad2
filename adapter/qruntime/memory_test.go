package qruntime_test

import (
	"runtime"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/adapter/qruntime"
	"github.com/switchyard-run/switchyard/backoff"
)

// These tests measure, so none of them is parallel to any other.

// A backlog of a hundred thousand items is an ordinary load.
func TestMemoryOfAnItem(t *testing.T) {
	const n = 100_000

	changes := primariesOf(n)

	for kind, most := range map[controller.InputKind]int64{controller.InputQPrimary: 120, controller.InputQMapped: 200} {
		a := qruntime.New(qruntime.Config{
			Settings: &controller.QSettings{Inputs: []controller.Input{{Namespace: "n", Type: conformance.IntResourceType, Kind: kind}}},
			Clock:    clock,
		})
		before := heapInUse()

		a.Deliver(changes, kind)
		assert.Equal(t, n, a.Len())
		assert.LessOrEqual(t, int64(heapInUse()-before)/n, most, "bytes an item of kind %d", kind)

		a.Wait()
		assert.Less(t, int64(heapInUse()-before), int64(n), "and next to nothing of it stays")
	}
}

// A device may have a thousand controllers that are idle.
func TestMemoryOfAnIdleAdapter(t *testing.T) {
	const n = 1000

	adapters := make([]*qruntime.Adapter, n)
	crew := &adapter.Crew{}
	before, goroutines := heapInUse(), runtime.NumGoroutine()

	for i := range adapters {
		adapters[i] = qruntime.New(qruntime.Config{
			Settings: &controller.QSettings{Inputs: []controller.Input{
				{Namespace: "n", Type: conformance.IntResourceType, Kind: controller.InputQPrimary},
				{Namespace: "n", Type: conformance.StrResourceType, Kind: controller.InputQMapped},
			}},
			Crew: crew, Clock: clock, Backoff: backoff.EngineRestart(), Logger: zap.NewNop(),
		})
		adapters[i].Start(t.Context())
	}

	assert.LessOrEqual(t, int64(heapInUse()-before)/n, int64(1200))
	assert.Equal(t, goroutines, runtime.NumGoroutine())
	runtime.KeepAlive(adapters)
}

// A pass takes what the controller is handed, the resource and a logger, and what others see of it.
func TestAllocationsOfAPass(t *testing.T) {
	const batch = 1000

	changes := primariesOf(batch)
	c := &counting{}
	a := benchmarked(t, c, 1)

	allocations := testing.AllocsPerRun(10, func() {
		c.left.Store(batch)
		a.Deliver(changes, controller.InputQPrimary)
		<-c.enough
	})

	assert.LessOrEqual(t, allocations/batch, 3.5, "with what the backlog takes for each item")
}

// heapInUse returns the bytes of live objects.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()

	var stats runtime.MemStats

	runtime.ReadMemStats(&stats)

	return stats.HeapAlloc
}
