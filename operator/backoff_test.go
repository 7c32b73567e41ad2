package operator_test

import (
	"context"
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/runtime"
)

// An app tries again after a second, two seconds, and so on, a little earlier or later, unless it is said otherwise.
func TestAppsTryAgainAfterASecond(t *testing.T) {
	// The goroutine that takes the signals of the process is started by the first who asks for them, and belongs to no bubble.
	_, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	stop()

	for name, test := range map[string]struct {
		cfg    runtime.Config
		policy backoff.Policy
	}{
		"by default":        {runtime.Config{Seed: 7}, backoff.Authoring()},
		"unless it is said": {runtime.Config{Seed: 7, Backoff: backoff.EngineRestart()}, backoff.EngineRestart()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				app := operator.NewApp(operator.AppConfig{Runtime: test.cfg})
				times := make(chan time.Time, 100)

				c, _ := lit()
				require.NoError(t, app.Include(c.Reconcile(func(context.Context, *lamp, *operator.Context[*lamp]) error {
					times <- time.Now()

					return errSecret
				})))

				require.NoError(t, app.State().Create(ctx, newHeld("a", 1)))

				ended := make(chan error, 1)

				go func() { ended <- app.Run(ctx) }()

				last := <-times
				jitters := false

				for attempt := 1; attempt <= 20; attempt++ {
					next := <-times
					want := test.policy.Delay(attempt, nil)

					require.InDelta(t, want, next.Sub(last), float64(want)*test.policy.Jitter, "attempt %d", attempt)

					jitters = jitters || next.Sub(last) != want
					last = next
				}

				require.True(t, jitters)
				cancel()
				require.NoError(t, <-ended)
			})
		})
	}
}
