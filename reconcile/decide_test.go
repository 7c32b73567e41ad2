package reconcile_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/switchyard-run/switchyard/queue"
	"github.com/switchyard-run/switchyard/reconcile"
)

// What a pass asks for takes the place of what the pass before has asked for: however often a key is added meanwhile, one more
// pass is to come, and after one that asks for nothing, none.
func TestEachPassDecidesAnewWhenTheNextComes(t *testing.T) {
	const second, ms = time.Second, time.Millisecond

	for name, test := range map[string]struct {
		outcome func(pass int) (reconcile.Result, error)
		want    []time.Duration
	}{
		"timers": {
			func(int) (reconcile.Result, error) { return reconcile.Result{RequeueAfter: 10 * second}, nil },
			[]time.Duration{0, 3500 * ms, 5500 * ms, 15500 * ms, 25500 * ms, 35500 * ms},
		},
		"waits": {
			func(int) (reconcile.Result, error) {
				return reconcile.Result{}, reconcile.Wait("A", reconcile.After(10*second))
			},
			[]time.Duration{0, 3500 * ms, 5500 * ms, 15500 * ms, 25500 * ms, 35500 * ms},
		},
		"failures": {
			func(int) (reconcile.Result, error) { return reconcile.Result{}, errOrdinary },
			[]time.Duration{0, second, 3 * second, 3500 * ms, 5500 * ms, 21500 * ms},
		},
		"a success that has settled": {
			func(pass int) (reconcile.Result, error) {
				return reconcile.Result{RequeueAfter: max(0, 10-10*time.Duration(pass)) * second}, nil
			},
			[]time.Duration{0, 3500 * ms, 5500 * ms},
		},
		"what is halted": {
			func(pass int) (reconcile.Result, error) {
				if pass == 0 {
					return reconcile.Result{RequeueAfter: 10 * second}, nil
				}

				return reconcile.Result{}, reconcile.Terminal(errOrdinary)
			},
			[]time.Duration{0, 3500 * ms, 5500 * ms},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := newPasses()
				c := reconcile.NewController("c", queue.NewQueue[string](nil),
					reconcile.ReconcilerFunc[string](func(context.Context, string) (reconcile.Result, error) {
						return test.outcome(seen.add())
					}))

				c.Queue().Add("key")

				stop := running(t, c.Run)
				defer stop()

				time.Sleep(3500 * ms)
				c.Queue().Add("key")
				time.Sleep(2 * second)
				c.Queue().Add("key")
				time.Sleep(34 * second)
				assert.Equal(t, test.want, seen.all())
			})
		})
	}
}
