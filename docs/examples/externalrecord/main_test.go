package main

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/operator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func Example_main() {
	main()

	// Output:
	// externalrecord/web is created
	//   Ready is True: Reconciled
	//   the service keeps ["192.0.2.7"]
	// the service fails, and externalrecord/web is changed
	//   Ready is False: ServiceFails, Reconcile: the service answers 503 Service Unavailable
	//   the service keeps ["192.0.2.7"]
	// the service is back
	//   Ready is True: Reconciled
	//   the service keeps ["192.0.2.8"]
	// the service fails, and externalrecord/web is torn down
	//   Ready is False: ServiceFails, Finalize: the service answers 503 Service Unavailable
	//   the service keeps ["192.0.2.8"]
	// the service is back
	//   externalrecord/web has gone; the service keeps 0 records
}

// ready waits until the operator says of a record that it is ready, or why it is not.
func ready(ctx context.Context, st state.State, id resource.ID, reason string) error {
	_, err := st.WatchFor(ctx, pointer(recordStatusType, id), state.WithCondition(func(res resource.Resource) (bool, error) {
		status, ok := res.(*RecordStatus)
		if !ok {
			return false, nil
		}

		found, _ := status.TypedSpec().Conditions.Get(operator.Ready)

		return found.Reason == reason, nil
	}))

	return err
}

// The real engine and the real service keep the same, whatever has failed between them, and leave nothing behind.
func TestManyRecords(t *testing.T) {
	const many = 20

	require.NoError(t, run(t.Context(), func(ctx context.Context, st state.State, elsewhere *service) error {
		elsewhere.fails.Store(true)

		for n := range many {
			require.NoError(t, st.Create(ctx, newRecord(fmt.Sprint(n), fmt.Sprint("value ", n))))
		}

		require.NoError(t, st.Create(ctx, newRecord("long", strings.Repeat("x", mostValue+1))))

		for n := range many {
			require.NoError(t, ready(ctx, st, fmt.Sprint(n), "ServiceFails"))
		}

		elsewhere.fails.Store(false)

		for n := range many {
			require.NoError(t, ready(ctx, st, fmt.Sprint(n), "Reconciled"))
		}

		require.NoError(t, ready(ctx, st, "long", "ValueRefused"))

		want := map[string]string{}

		all, err := safe.StateListAll[*ExternalRecord](ctx, st)
		require.NoError(t, err)

		for record := range all.All() {
			if record.Metadata().ID() != "long" {
				want[operator.Incarnation(record)] = record.TypedSpec().Value
			}
		}

		require.Equal(t, want, elsewhere.records())

		for record := range all.All() {
			_, err := st.Teardown(ctx, record.Metadata())
			require.NoError(t, err)
		}

		for record := range all.All() {
			_, err := st.WatchFor(ctx, record.Metadata(), state.WithEventTypes(state.Destroyed))
			require.NoError(t, err)
		}

		require.Empty(t, elsewhere.records())

		return nil
	}))
}

// Whoever tells the program to end by a signal does not have to wait for the show.
func TestEndsOnASignal(t *testing.T) {
	told := false

	require.NoError(t, run(t.Context(), func(ctx context.Context, st state.State, _ *service) error {
		require.NoError(t, st.Create(ctx, newRecord("web", "192.0.2.7")))

		// A controller that works is one of an app that listens to signals.
		require.NoError(t, ready(ctx, st, "web", "Reconciled"))
		require.NoError(t, syscall.Kill(syscall.Getpid(), syscall.SIGTERM))

		<-ctx.Done()

		told = true

		return ctx.Err()
	}))
	require.True(t, told)
}
