package reconcile_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/queue"
	"github.com/switchyard-run/switchyard/reconcile"
)

// passes are the times of passes, since the beginning of the bubble.
type passes struct {
	mu    sync.Mutex
	began time.Time
	times []time.Duration
}

func newPasses() *passes { return &passes{began: time.Now()} }

// add notes a pass and returns its number, from 0 on.
func (p *passes) add() int {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.times = append(p.times, time.Since(p.began))

	return len(p.times) - 1
}

func (p *passes) all() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()

	return append([]time.Duration(nil), p.times...)
}

// What follows a pass depends on its outcome, and on nothing else.
func TestWhatFollowsAPass(t *testing.T) {
	const second = time.Second

	type outcome struct {
		result reconcile.Result
		err    error
	}

	for name, test := range map[string]struct {
		outcomes []outcome // later passes succeed
		want     []time.Duration
	}{
		"success":             {nil, []time.Duration{0}},
		"a timer":             {[]outcome{{result: reconcile.Result{RequeueAfter: 5 * second}}}, []time.Duration{0, 5 * second}},
		"a negative timer":    {[]outcome{{result: reconcile.Result{RequeueAfter: -second}}}, []time.Duration{0}},
		"a timer as an error": {[]outcome{{err: reconcile.RequeueAfter(5 * second)}}, []time.Duration{0, 5 * second}},
		"a wait":              {[]outcome{{err: reconcile.Wait("A")}}, []time.Duration{0, 30 * second}},
		"failures":            {[]outcome{{err: errOrdinary}, {err: errOrdinary}, {err: errOrdinary}}, []time.Duration{0, second, 3 * second, 7 * second}},
		"a failure with a timer, which says nothing": {
			[]outcome{{reconcile.Result{RequeueAfter: time.Minute}, errOrdinary}}, []time.Duration{0, second},
		},
		"a success forgets failures": {
			[]outcome{{err: errOrdinary}, {err: errOrdinary}, {result: reconcile.Result{RequeueAfter: second}}, {err: errOrdinary}},
			[]time.Duration{0, second, 3 * second, 4 * second, 5 * second},
		},
		"a wait forgets failures": {
			[]outcome{{err: errOrdinary}, {err: reconcile.Wait("A", reconcile.After(second))}, {err: errOrdinary}},
			[]time.Duration{0, second, 2 * second, 3 * second},
		},
		"terminal":                  {[]outcome{{err: reconcile.Terminal(errOrdinary)}}, []time.Duration{0}},
		"needs approval":            {[]outcome{{err: reconcile.WithClass(reconcile.ClassNeedsApproval, errOrdinary)}}, []time.Duration{0}},
		"budget exceeded":           {[]outcome{{err: reconcile.WithClass(reconcile.ClassBudgetExceeded, errOrdinary)}}, []time.Duration{0}},
		"cancelled":                 {[]outcome{{err: reconcile.WithClass(reconcile.ClassCancelled, errOrdinary)}}, []time.Duration{0}},
		"a cancellation of its own": {[]outcome{{err: context.Canceled}}, []time.Duration{0, second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := newPasses()
				c := reconcile.NewController("c", queue.NewQueue[string](nil),
					reconcile.ReconcilerFunc[string](func(context.Context, string) (reconcile.Result, error) {
						if n := seen.add(); n < len(test.outcomes) {
							return test.outcomes[n].result, test.outcomes[n].err
						}

						return reconcile.Result{}, nil
					}))

				c.Queue().Add("key")

				stop := running(t, c.Run)

				time.Sleep(time.Hour)
				stop()
				assert.Equal(t, test.want, seen.all())
			})
		})
	}
}

// However badly a pass ends, it has failed, and its key is not lost.
func TestPassesThatDoNotReturn(t *testing.T) {
	for name, end := range map[string]func(){
		"panics":             func() { panic("oh") },
		"ends its goroutine": goruntime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zap.ErrorLevel)
				seen := newPasses()
				c := reconcile.NewController("c", queue.NewQueue[string](nil),
					reconcile.ReconcilerFunc[string](func(context.Context, string) (reconcile.Result, error) {
						if seen.add() < 2 {
							end()
						}

						return reconcile.Result{}, nil
					}), reconcile.WithLogger(zap.New(core)))

				stop := running(t, c.Run)

				c.Queue().Add("key")
				time.Sleep(time.Hour)
				stop()
				assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second}, seen.all())

				require.Equal(t, 2, logs.Len())

				fields := logs.All()[0].ContextMap()
				assert.Equal(t, "c", fields["controller"])
				assert.Equal(t, "key", fields["key"])
				assert.Contains(t, fields, "error")
			})
		})
	}
}

// unsure is an error that does not know its class.
type unsure struct{}

func (unsure) Error() string          { return "unsure" }
func (unsure) Class() reconcile.Class { panic("no idea") }

// An error that can not be asked for its class is a failure like any other, and ends nothing but its pass.
func TestErrorsThatCanNotBeAskedForTheirClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.ErrorLevel)
		seen := newPasses()
		c := reconcile.NewController("c", queue.NewQueue[string](nil),
			reconcile.ReconcilerFunc[string](func(context.Context, string) (reconcile.Result, error) {
				if seen.add() == 0 {
					return reconcile.Result{}, unsure{}
				}

				return reconcile.Result{}, nil
			}), reconcile.WithLogger(zap.New(core)))

		c.Queue().Add("key")

		stop := running(t, c.Run)
		defer stop()

		time.Sleep(time.Hour)
		assert.Equal(t, []time.Duration{0, time.Second}, seen.all())
		require.Equal(t, 1, logs.Len())
		assert.Contains(t, logs.All()[0].ContextMap()["error"], "no idea")
	})
}

// Different keys are worked on at once, as many as there are workers, and one key never is.
func TestWorkers(t *testing.T) {
	for _, workers := range []int{-1, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			var (
				at, most atomic.Int64
				keys     [5]atomic.Int64
			)

			c := reconcile.NewController("c", queue.NewQueue[int](nil),
				reconcile.ReconcilerFunc[int](func(_ context.Context, key int) (reconcile.Result, error) {
					assert.EqualValues(t, 1, keys[key].Add(1))
					most.Store(max(most.Load(), at.Add(1)))
					time.Sleep(time.Second)
					at.Add(-1)
					keys[key].Add(-1)

					return reconcile.Result{}, nil
				}), reconcile.WithWorkers(workers))

			stop := running(t, c.Run)

			for range 20 {
				for key := range keys {
					c.Queue().Add(key)
				}

				time.Sleep(700 * time.Millisecond)
			}

			time.Sleep(time.Hour)
			assert.EqualValues(t, max(workers, 1), most.Load())
			assert.Zero(t, c.Queue().Len())
			stop()
		})
	}
}

// Run returns when the pass under way has, and what is ready then is not begun.
func TestTheEndOfAController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.ErrorLevel)
		seen := newPasses()
		c := reconcile.NewController("c", queue.NewQueue[string](nil),
			reconcile.ReconcilerFunc[string](func(ctx context.Context, _ string) (reconcile.Result, error) {
				seen.add()
				<-ctx.Done()
				time.Sleep(time.Minute)

				return reconcile.Result{RequeueAfter: time.Second}, errors.Join(ctx.Err(), errOrdinary)
			}), reconcile.WithLogger(zap.New(core)))

		c.Queue().Add("one")
		c.Queue().Add("other")

		stop := running(t, c.Run)

		time.Sleep(time.Second)

		before := time.Now()

		stop()
		assert.Equal(t, time.Minute, time.Since(before))
		assert.Len(t, seen.all(), 1)
		assert.Zero(t, logs.Len(), "the end of the run is no failure")

		c.Queue().Add("late")
		assert.Zero(t, c.Queue().Len())
	})
}
