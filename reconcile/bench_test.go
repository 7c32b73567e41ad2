package reconcile_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/switchyard-run/switchyard/queue"
	"github.com/switchyard-run/switchyard/reconcile"
)

// BenchmarkController measures a pass that does nothing, of a backlog of 100,000 keys.
func BenchmarkController(b *testing.B) {
	const keys = 100_000

	for _, workers := range []int{1, 4} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			b.ReportAllocs()

			for b.Loop() {
				ctx, stop := context.WithCancel(b.Context())

				var left atomic.Int64

				left.Store(keys)

				c := reconcile.NewController("c", queue.NewQueue[reconcile.Ref](nil),
					reconcile.ReconcilerFunc[reconcile.Ref](func(context.Context, reconcile.Ref) (reconcile.Result, error) {
						if left.Add(-1) == 0 {
							stop()
						}

						return reconcile.Result{}, nil
					}), reconcile.WithWorkers(workers))

				b.StopTimer()

				for key := range keys {
					c.Queue().Add(ref(fmt.Sprint(key)))
				}

				b.StartTimer()
				c.Run(ctx)
			}

			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/pass")
		})
	}
}
