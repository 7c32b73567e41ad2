package main

import (
	"context"
	"expvar"
	"fmt"
	goruntime "runtime"
	"time"
)

// sample is what was measured at one moment at which the process was at rest.
type sample struct {
	time       time.Duration // since the begin
	resources  int           // in the state
	heap       uint64        // bytes, after a collection
	goroutines int
}

// atRest has all writers pause and all faults end, waits for all groups to follow and for the engine to have nothing to
// do, and measures. What is compared later then differs by nothing that comes and goes.
func (w *world) atRest(ctx context.Context) (sample, error) {
	for _, g := range w.groups {
		g.writing.Lock()
		defer g.writing.Unlock()

		g.faults.set(false)
		defer g.faults.set(true)
	}

	for _, g := range w.groups {
		if err := w.follows(ctx, g); err != nil {
			return sample{}, err
		}
	}

	for deadline := time.Now().Add(w.settings.patience); !idle(w.engine.Health()); wait(ctx, lastLook) {
		if ctx.Err() != nil {
			return sample{}, context.Cause(ctx)
		}

		if time.Now().After(deadline) {
			return sample{}, fmt.Errorf("the engine has not come to rest within %s: %q", w.settings.patience, w.engine.Health().Problems())
		}
	}

	resources, err := w.resources(ctx)
	if err != nil {
		return sample{}, err
	}

	var stats goruntime.MemStats

	goruntime.GC()
	goruntime.GC() // what a finalizer or a pool has held until the first one
	goruntime.ReadMemStats(&stats)

	return sample{resources: resources, heap: stats.HeapAlloc, goroutines: goruntime.NumGoroutine()}, nil
}

// resources counts the resources of all groups.
func (w *world) resources(ctx context.Context) (int, error) {
	count := 0

	for _, g := range w.groups {
		for _, kind := range kinds {
			list, err := g.everything(ctx, kind)
			if err != nil {
				return 0, err
			}

			count += len(list)
		}
	}

	return count, nil
}

// counted returns one of the counts that the engine publishes, over all engines of the process, of which there is one.
func counted(name string) int64 {
	var count int64

	engines, _ := expvar.Get("switchyard").(*expvar.Map)
	if engines == nil {
		return 0
	}

	engines.Do(func(engine expvar.KeyValue) {
		own, _ := engine.Value.(*expvar.Map)
		if own == nil {
			return
		}

		if shown, _ := own.Get(name).(*expvar.Int); shown != nil {
			count += shown.Value()
		}
	})

	return count
}
