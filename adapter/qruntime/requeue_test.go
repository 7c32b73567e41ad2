package qruntime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
)

// What a pass returns decides when its item runs again, whether that is a failure, and how it is counted.
func TestWhatAPassReturns(t *testing.T) {
	t.Parallel()

	const s = time.Second

	repeat := func(n int, err error) []error {
		errs := make([]error, n)
		for i := range errs {
			errs[i] = err
		}

		return errs
	}

	for name, test := range map[string]struct {
		returns          []error
		at               []time.Duration
		failures         int
		requeues, skips  int
		lastDelay        time.Duration // what the last failure said in the log
		lastErrorMessage string
	}{
		"nothing": {at: []time.Duration{0}},
		"errors": {
			returns: repeat(3, errFailed), at: []time.Duration{0, 1 * s, 3 * s, 7 * s}, failures: 3, requeues: 3,
			lastDelay: 4 * s, lastErrorMessage: errFailed.Error(),
		},
		"a skip":         {returns: []error{errSkip}, at: []time.Duration{0}, skips: 1},
		"a wrapped skip": {returns: []error{fmt.Errorf("later: %w", errSkip)}, at: []time.Duration{0}, skips: 1},

		"an interval, three times": {
			returns: repeat(3, controller.NewRequeueInterval(s)), at: []time.Duration{0, s, 2 * s, 3 * s}, requeues: 3,
		},
		"an interval of zero means by backoff": {
			returns: repeat(3, controller.NewRequeueInterval(0)), at: []time.Duration{0, 1 * s, 3 * s, 7 * s}, requeues: 3,
		},
		"a negative interval too": {
			returns: repeat(2, controller.NewRequeueInterval(-time.Hour)), at: []time.Duration{0, 1 * s, 3 * s}, requeues: 2,
		},

		"an error with an interval": {
			returns: repeat(2, controller.NewRequeueError(errFailed, 10*s)), at: []time.Duration{0, 10 * s, 20 * s}, failures: 2,
			requeues: 2, lastDelay: 10 * s, lastErrorMessage: errFailed.Error(),
		},
		"an error with a short interval": {
			returns: repeat(2, controller.NewRequeueErrorf(s/10, "soon")), at: []time.Duration{0, s / 10, s / 5}, failures: 2,
			requeues: 2, lastDelay: s / 10, lastErrorMessage: "soon",
		},
		"an error with an interval of zero": {
			returns: repeat(2, controller.NewRequeueError(errFailed, 0)), at: []time.Duration{0, 1 * s, 3 * s}, failures: 2, requeues: 2,
			lastDelay: 2 * s, lastErrorMessage: errFailed.Error(),
		},

		"a wrapped interval beyond the backoff": {
			returns: []error{fmt.Errorf("around: %w", controller.NewRequeueInterval(10*s))}, at: []time.Duration{0, 1 * s}, failures: 1,
			requeues: 1, lastDelay: s, lastErrorMessage: "around: requeue in 10s",
		},
		"a wrapped interval within the backoff": {
			returns: []error{fmt.Errorf("around: %w", controller.NewRequeueInterval(s/4))}, at: []time.Duration{0, s / 4}, failures: 1,
			requeues: 1, lastDelay: s / 4, lastErrorMessage: "around: requeue in 250ms",
		},
		"a wrapped error with an interval": {
			returns: []error{fmt.Errorf("around: %w", controller.NewRequeueError(errFailed, 10*s))}, at: []time.Duration{0, 1 * s},
			failures: 1, requeues: 1, lastDelay: s, lastErrorMessage: "around: it did not work",
		},
		"an error joined with an interval beyond the backoff": {
			returns: []error{errors.Join(errFailed, controller.NewRequeueInterval(10*s))}, at: []time.Duration{0, 1 * s}, failures: 1,
			requeues: 1, lastDelay: s, lastErrorMessage: "it did not work\nrequeue in 10s",
		},
		"an error joined with an interval within the backoff": {
			returns: []error{errors.Join(controller.NewRequeueInterval(s/4), errFailed)}, at: []time.Duration{0, s / 4}, failures: 1,
			requeues: 1, lastDelay: s / 4, lastErrorMessage: "requeue in 250ms\nit did not work",
		},
		"an error joined with an interval of zero": {
			returns: []error{errors.Join(controller.NewRequeueInterval(0), errFailed)}, at: []time.Duration{0, 1 * s}, failures: 1,
			requeues: 1, lastDelay: s, lastErrorMessage: "requeue in 0s\nit did not work",
		},

		"the end of another context": {
			returns: []error{fmt.Errorf("rpc: %w", context.Canceled), context.DeadlineExceeded}, at: []time.Duration{0, 1 * s, 3 * s},
			failures: 2, requeues: 2, lastDelay: 2 * s, lastErrorMessage: context.DeadlineExceeded.Error(),
		},
		"a success between failures": {
			returns: []error{errFailed, errFailed, controller.NewRequeueInterval(time.Minute), errFailed},
			at:      []time.Duration{0, 1 * s, 3 * s, 63 * s, 64 * s}, failures: 3, requeues: 4,
			lastDelay: s, lastErrorMessage: errFailed.Error(),
		},
		"a skip between failures": {
			returns: []error{errFailed, errSkip}, at: []time.Duration{0, 1 * s}, failures: 1, requeues: 1, skips: 1,
			lastDelay: s, lastErrorMessage: errFailed.Error(),
		},
		"a periodic run after ten failures, which then fails once": {
			returns: append(repeat(10, errFailed), controller.NewRequeueInterval(time.Hour), errFailed),
			at: []time.Duration{
				0, 1 * s, 3 * s, 7 * s, 15 * s, 31 * s, 63 * s, 127 * s, 255 * s, 511 * s, 1023 * s, 4623 * s, 4624 * s,
			}, failures: 11, requeues: 12, lastDelay: s, lastErrorMessage: errFailed.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inBubble(t, func(_ *testing.T, b *bench) { b.reconcile = script(test.returns...) }, func(t *testing.T, b *bench) {
				b.Start(b.ctx)
				b.change("a")
				pass(24 * time.Hour)

				var want []string
				for _, at := range test.at {
					want = append(want, fmt.Sprintf("%s: a", at))
				}

				requireTrace(t, b, want...)
				require.Equal(t, counted{
					fmt.Sprint(test.failures), fmt.Sprint(len(test.at)), fmt.Sprint(test.skips), fmt.Sprint(test.requeues), "0", "0",
				}, b.counted())
				require.Len(t, b.failures(), test.failures, "logged once each, and nothing else is")

				if test.failures > 0 {
					fields := b.failures()[test.failures-1].ContextMap()
					require.Equal(t, test.lastDelay, fields["next_try_in"])
					require.Equal(t, test.lastErrorMessage, fields["error"])
					require.Equal(t, b.name, fields["controller"])
					require.Equal(t, "reconcile test/int(n/a)", fields["item"])
				}

				// In the end it has succeeded.
				require.Zero(t, b.Status().Failing)
				require.NoError(t, b.Status().LastError)
			})
		})
	}
}

// Every item has a backoff of its own.
func TestBackoffIsPerItem(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) {
		b.reconcile = func(_ context.Context, id resource.ID) error {
			if id == "bad" {
				return errFailed
			}

			return nil
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("bad", "good")
		pass(2 * time.Second)
		requireTrace(t, b, "0s: bad", "0s: good", "1s: bad")

		b.change("good")
		pass(2 * time.Second)
		requireTrace(t, b, "2s: good", "3s: bad")

		for i, line := range b.failures() {
			require.EqualValues(t, i+1, line.ContextMap()["attempt"])
		}
	})
}
