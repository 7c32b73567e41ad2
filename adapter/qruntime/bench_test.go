package qruntime_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter/qruntime"
	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/reduced"
)

// counting is a controller that counts its passes and says when there have been enough.
type counting struct {
	reconcile func(ptr resource.Pointer) error
	mapInput  func(md controller.ReducedResourceMetadata) []resource.Pointer

	left   atomic.Int64
	enough chan struct{}
}

func (c *counting) Name() string                   { return "unused" }
func (c *counting) Settings() controller.QSettings { return controller.QSettings{} }

func (c *counting) Reconcile(_ context.Context, _ *zap.Logger, _ controller.QRuntime, ptr resource.Pointer) error {
	if c.reconcile != nil {
		if err := c.reconcile(ptr); err != nil {
			return err
		}
	}

	if c.left.Add(-1) == 0 {
		c.enough <- struct{}{}
	}

	return nil
}

func (c *counting) MapInput(
	_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	return c.mapInput(md), nil
}

// benchmarked returns a started adapter with metrics.
func benchmarked(b testing.TB, c *counting, workers uint) *qruntime.Adapter {
	c.enough = make(chan struct{}, 1)
	engine := metrics.NewEngine(true)

	a := qruntime.New(qruntime.Config{
		Controller: c,
		Settings: &controller.QSettings{
			Concurrency: optional.Some(workers),
			Inputs: []controller.Input{
				{Namespace: "n", Type: conformance.IntResourceType, Kind: controller.InputQPrimary},
				{Namespace: "n", Type: conformance.StrResourceType, Kind: controller.InputQMapped},
			},
		},
		Skipped: func(error) bool { return false },
		Clock:   clock,
		Backoff: backoff.EngineRestart(),
		Random:  func() float64 { return 0.5 },
		Metrics: engine.Queue(b.Name()),
		Logger:  zap.NewNop(),
	})

	ctx, cancel := context.WithCancel(b.Context())
	a.Start(ctx)

	b.Cleanup(func() {
		cancel()
		a.Wait()
	})

	return a
}

func primariesOf(n int) []reduced.Metadata {
	all := make([]reduced.Metadata, n)
	for i := range all {
		all[i] = reduced.Of(conformance.NewIntResource("n", fmt.Sprintf("resource-%07d", i), 0), false)
	}

	return all
}

// BenchmarkPass is a pass that does nothing, from the delivery of a change to the end: each change on its own, and the
// changes of a batch together. A batch is done before the next one is delivered.
func BenchmarkPass(b *testing.B) {
	const batch = 1024

	changes := primariesOf(batch)

	for _, workers := range []uint{1, 8} {
		for _, form := range []string{"single", "batch"} {
			b.Run(fmt.Sprintf("%s/workers=%d", form, workers), func(b *testing.B) {
				c := &counting{}
				a := benchmarked(b, c, workers)

				b.ReportAllocs()
				b.ResetTimer()

				for done := 0; done < b.N; done += batch {
					c.left.Store(batch)

					if form == "batch" {
						a.Deliver(changes, controller.InputQPrimary)
					} else {
						for i := range changes {
							a.Deliver(changes[i:i+1], controller.InputQPrimary)
						}
					}

					<-c.enough
				}
			})
		}
	}
}

// BenchmarkLonelyPass is a pass for one change while there is nothing else to do, which has to start a worker.
func BenchmarkLonelyPass(b *testing.B) {
	changes := primariesOf(1)
	c := &counting{}
	a := benchmarked(b, c, 8)

	b.ReportAllocs()

	for b.Loop() {
		c.left.Store(1)
		a.Deliver(changes, controller.InputQPrimary)
		<-c.enough
	}
}

// BenchmarkFailing is 20,000 items that fail once and ask to be taken again after a millisecond.
func BenchmarkFailing(b *testing.B) {
	const n = 20_000

	changes := primariesOf(n)
	failed := map[resource.ID]bool{}
	c := &counting{reconcile: func(ptr resource.Pointer) error {
		if !failed[ptr.ID()] {
			failed[ptr.ID()] = true

			return controller.NewRequeueErrorf(time.Millisecond, "the first pass fails")
		}

		return nil
	}}
	a := benchmarked(b, c, 1)

	for b.Loop() {
		clear(failed)
		c.left.Store(n)
		a.Deliver(changes, controller.InputQPrimary)
		<-c.enough
	}

	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/item")
}

// BenchmarkMapInput is 10,000 mapped inputs that each map to ten primaries.
func BenchmarkMapInput(b *testing.B) {
	const n, each = 10_000, 10

	changes := make([]reduced.Metadata, n)
	pointers := map[resource.ID][]resource.Pointer{}

	for i := range changes {
		id := strconv.Itoa(i)
		changes[i] = reduced.Of(conformance.NewStrResource("n", id, ""), false)

		for j := range each {
			pointers[id] = append(pointers[id], conformance.NewIntResource("n", id+"-"+strconv.Itoa(j), 0).Metadata())
		}
	}

	c := &counting{mapInput: func(md controller.ReducedResourceMetadata) []resource.Pointer { return pointers[md.ID()] }}
	a := benchmarked(b, c, 1)

	for b.Loop() {
		c.left.Store(n * each)
		a.Deliver(changes, controller.InputQMapped)
		<-c.enough
	}

	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*each), "ns/pointer")
}

// BenchmarkItemMemory is what an item takes that waits.
func BenchmarkItemMemory(b *testing.B) {
	const n = 100_000

	for kind, changes := range map[controller.InputKind][]reduced.Metadata{
		controller.InputQPrimary: primariesOf(n), controller.InputQMapped: primariesOf(n),
	} {
		b.Run(fmt.Sprint(kind), func(b *testing.B) {
			for b.Loop() {
				a := qruntime.New(qruntime.Config{
					Settings: &controller.QSettings{Inputs: []controller.Input{{Namespace: "n", Type: conformance.IntResourceType, Kind: kind}}},
					Clock:    clock,
				})
				before := heapInUse()
				a.Deliver(changes, kind)
				b.ReportMetric(float64(heapInUse()-before)/n, "B/item")
				a.Wait()
			}
		})
	}
}
