package qruntime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/adapter/qruntime"
	"github.com/switchyard-run/switchyard/reduced"
)

// concurrency returns a preparation that sets how many passes may run at once.
func concurrency(n uint) func(*testing.T, *bench) {
	return func(_ *testing.T, b *bench) { b.settings.Concurrency = optional.Some(n) }
}

// Nothing runs before Start; then each item runs once for all changes so far, live changes before the initial fill.
func TestItemsWaitForStart(t *testing.T) {
	t.Parallel()

	inBubble(t, nil, func(t *testing.T, b *bench) {
		b.fill("y", "x", "b")
		b.change("b", "a", "b", "b")
		require.Empty(t, b.passes())
		require.Equal(t, 4, b.Len())

		b.Start(b.ctx)
		requireTrace(t, b, "0s: b", "0s: a", "0s: y", "0s: x")
		require.Zero(t, b.Len())

		b.change("a")
		requireTrace(t, b, "0s: a")
		require.Equal(t, counted{"0", "5", "0", "0", "0", "0"}, b.counted())
	})
}

// Changes that are delivered together are delivered like one after the other.
func TestChangesDeliveredTogether(t *testing.T) {
	t.Parallel()

	inBubble(t, nil, func(t *testing.T, b *bench) {
		var changes []reduced.Metadata

		for _, id := range []string{"b", "a", "b", "c"} {
			changes = append(changes, reduced.Of(conformance.NewIntResource("n", id, 0), false))
		}

		b.Start(b.ctx)
		b.Deliver(nil, controller.InputQPrimary)
		b.Deliver(changes, controller.InputQPrimary)
		requireTrace(t, b, "0s: b", "0s: a", "0s: c")

		b.Deliver(changes[:2], controller.InputQMapped)
		requireTrace(t, b, "0s: map b", "0s: map a")
	})
}

// A change that comes while its item is worked on has the item worked on again, once.
func TestChangesWhileAnItemIsProcessed(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) {
		concurrency(4)(nil, b)

		b.reconcile = func(context.Context, resource.ID) error {
			clock.Sleep(time.Minute)

			return nil
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("a")
		pass(time.Second)
		b.change("a", "a", "a", "b")

		pass(time.Hour)
		requireTrace(t, b, "0s: a", "1s: b", "1m0s: a")
	})
}

// A fresh change does not wait for a pending retry; a fill does.
func TestFreshChangeOvertakesARetry(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) { b.reconcile = script(errFailed, errFailed, errFailed, errFailed) },
		func(t *testing.T, b *bench) {
			b.Start(b.ctx)
			b.change("a")
			pass(3500 * time.Millisecond)
			requireTrace(t, b, "0s: a", "1s: a", "3s: a")

			b.fill("a")
			require.Empty(t, b.passes())

			b.change("a")
			requireTrace(t, b, "3.5s: a")

			// It failed once more, and its backoff has gone on.
			pass(time.Hour)
			requireTrace(t, b, "11.5s: a")
		})
}

// One key is never in two workers, different keys are, up to the limit.
func TestConcurrency(t *testing.T) {
	t.Parallel()

	const limit = 3

	var (
		mu         sync.Mutex
		active     = map[resource.ID]int{}
		total, max int
	)

	inBubble(t, func(t *testing.T, b *bench) {
		concurrency(limit)(t, b)

		b.reconcile = func(_ context.Context, id resource.ID) error {
			mu.Lock()
			active[id]++
			total++

			if total > max {
				max = total
			}

			assert.Equal(t, 1, active[id], "%s is in two workers", id)
			mu.Unlock()

			clock.Sleep(time.Second)

			mu.Lock()
			defer mu.Unlock()

			active[id]--
			total--

			return nil
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)

		for range 5 {
			b.change("a", "b", "c", "d")
			synctest.Wait()
			require.Equal(t, limit, b.Status().Processing)
			pass(500 * time.Millisecond)
		}

		pass(time.Minute)
		require.Equal(t, limit, max)
		require.Zero(t, b.Status().Processing)
	})
}

// A slow item holds up nobody but itself.
func TestSlowItemDelaysNobodyElse(t *testing.T) {
	t.Parallel()

	inBubble(t, func(t *testing.T, b *bench) {
		concurrency(2)(t, b)

		b.reconcile = func(ctx context.Context, id resource.ID) error {
			if id == "slow" {
				<-ctx.Done()
			}

			return nil
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("slow")
		b.change("a", "b", "c", "slow")
		requireTrace(t, b, "0s: slow", "0s: a", "0s: b", "0s: c")
	})
}

// Not parallel: other tests have workers too.
func TestWorkersAreGoneAtRest(t *testing.T) {
	workers := func() int {
		stacks := make([]byte, 1<<20)

		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "qruntime.(*worker).step(")
	}

	inBubble(t, func(t *testing.T, b *bench) {
		concurrency(16)(t, b)

		b.reconcile = func(context.Context, resource.ID) error {
			clock.Sleep(time.Second)

			return nil
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		synctest.Wait()
		require.Zero(t, workers())

		var all []resource.ID
		for i := range 100 {
			all = append(all, strconv.Itoa(i))
		}

		for _, queue := range []func(){func() { b.change(all...) }, func() { b.fill(all...) }} {
			queue()
			synctest.Wait()
			require.Equal(t, 16, workers())

			pass(time.Minute)
			require.Len(t, b.passes(), 100)
			require.Zero(t, workers())
		}
	})
}

// A change that comes in the moment in which the only worker finds nothing more to do is taken by somebody.
func TestChangeBesideAWorkerThatGivesUp(t *testing.T) {
	t.Parallel()

	var done chan resource.ID

	inBubble(t, func(_ *testing.T, b *bench) {
		done = make(chan resource.ID)
		b.reconcile = func(_ context.Context, id resource.ID) error {
			done <- id

			return nil
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)

		for i := range 30_000 {
			id := strconv.Itoa(i % 2)
			b.change(id)
			require.Equal(t, id, <-done)
		}
	})
}

// Whatever fails and whatever comes meanwhile: the last pass of an item began after its last change.
func TestNoChangeIsLost(t *testing.T) {
	t.Parallel()

	const ids = 20

	for _, workers := range []uint{1, 2, 8} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			t.Parallel()

			var (
				state [ids]atomic.Int64
				seen  [ids]atomic.Int64
			)

			inBubble(t, func(t *testing.T, b *bench) {
				concurrency(workers)(t, b)

				var (
					mu     sync.Mutex
					random = rand.New(rand.NewPCG(1, uint64(workers)))
				)

				b.reconcile = func(_ context.Context, id resource.ID) error {
					i, err := strconv.Atoi(id)
					assert.NoError(t, err)

					mu.Lock()
					fate, nap := random.IntN(8), time.Duration(random.IntN(3))*time.Millisecond
					mu.Unlock()

					now := state[i].Load()
					clock.Sleep(nap)

					switch fate {
					case 0:
						return errFailed
					case 1:
						panic(errFailed)
					case 2:
						runtime.Goexit()
					}

					seen[i].Store(now)

					return nil
				}
			}, func(t *testing.T, b *bench) {
				b.Start(b.ctx)

				var writers sync.WaitGroup

				for w := range 4 {
					writers.Go(func() {
						random := rand.New(rand.NewPCG(2, uint64(w)))

						for range 250 {
							i := random.IntN(ids)
							state[i].Add(1)

							if random.IntN(5) == 0 {
								b.fill(strconv.Itoa(i))
							}

							b.change(strconv.Itoa(i))
							clock.Sleep(time.Duration(random.IntN(2)) * time.Millisecond)
						}
					})
				}

				writers.Wait()
				pass(24 * time.Hour)

				for i := range ids {
					require.Equal(t, state[i].Load(), seen[i].Load(), "item %d", i)
				}

				require.Zero(t, b.Status().Failing)
				require.NoError(t, b.Status().LastError)
			})
		})
	}
}

// From code, primary inputs are queued like changes: all that were asked for, or none.
func TestTrigger(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) { b.reconcile = script(errFailed) }, func(t *testing.T, b *bench) {
		b.Start(b.ctx)

		err := b.Trigger(append(keys("a"), key("m", "other"), key("x", "y")))

		var wrong *qruntime.NotPrimaryError

		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "other", wrong.Resource.ID(), "the first of them")
		require.ErrorContains(t, err, "test/int(m/other)")
		require.Empty(t, b.passes())

		require.NoError(t, b.Trigger(append(keys("a", "b"), key("m", "only"))))
		requireTrace(t, b, "0s: a", "0s: b", "0s: only")

		// It does not wait for a retry either.
		require.NoError(t, b.Trigger(keys("a")))
		requireTrace(t, b, "0s: a")
		require.NoError(t, b.Trigger(nil))
		pass(time.Hour)
		require.Empty(t, b.passes())
	})
}
