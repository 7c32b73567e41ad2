package main

import (
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// started runs the program with arguments.
func started(args ...string) {
	os.Args = append(os.Args[:1:1], args...)

	main()
}

func Example_scope() {
	started()

	// Output:
	// settings/web is created
	//   ConfigurationReady is True: Otherwise
	//   ChecksumReady is True: Reconciled
	//   Ready is True: Reconciled
	//   configmap/web says "hello", its checksum is 6b895fd0
	// settings/web is suspended
	//   ConfigurationReady is False: Suspended
	//   ChecksumReady is Unknown: DependencyNotReady, waits for ConfigurationReady
	//   Ready is False: Suspended
	//   configmap/web says "hello", its checksum is 6b895fd0
	// settings/web goes on without a message
	//   ConfigurationReady is False: InputMissing, set the message to some text
	//   ChecksumReady is Unknown: DependencyNotReady, waits for ConfigurationReady
	//   Ready is False: InputMissing, set the message to some text
	//   configmap/web says "hello", its checksum is 6b895fd0
	// settings/web has another message
	//   ConfigurationReady is True: Otherwise
	//   ChecksumReady is True: Reconciled
	//   Ready is True: Reconciled
	//   configmap/web says "good bye", its checksum is 9b684834
	// settings/web is torn down
	//   gone; there are 0 configmaps and 0 statuses
}

func Example_stages() {
	started("stages")

	// Output:
	// settings/web is created
	//   ConfigurationReady is True: Reconciled
	//   ChecksumReady is True: Reconciled
	//   Ready is True: Reconciled
	//   configmap/web says "hello", its checksum is 6b895fd0
	// settings/web is suspended
	//   ConfigurationReady is False: Suspended
	//   ChecksumReady is Unknown: DependencyNotReady, waits for ConfigurationReady
	//   Ready is False: Suspended
	//   configmap/web says "hello", its checksum is 6b895fd0
	// settings/web goes on without a message
	//   ConfigurationReady is True: Reconciled
	//   ChecksumReady is True: Reconciled
	//   Ready is True: Reconciled
	//   configmap/web says " ", its checksum is e7b9f9bf
	// settings/web has another message
	//   ConfigurationReady is True: Reconciled
	//   ChecksumReady is True: Reconciled
	//   Ready is True: Reconciled
	//   configmap/web says "good bye", its checksum is 9b684834
	// settings/web is torn down
	//   gone; there are 0 configmaps and 0 statuses
}

func Example_cases() {
	started("cases")

	// Output:
	// settings/web is created
	//   Ready is True: Reconciled
	//   configmap/web says "hello"
	// settings/web is suspended
	//   Ready is False: Suspended
	//   configmap/web says "hello"
	// settings/web goes on without a message
	//   Ready is True: Reconciled
	//   configmap/web says " "
	// settings/web has another message
	//   Ready is True: Reconciled
	//   configmap/web says "good bye"
	// settings/web is torn down
	//   gone; there are 0 configmaps and 0 statuses
}

// Whoever tells the program to end by a signal does not have to wait for the show.
func TestEndsOnASignal(t *testing.T) {
	told := false

	require.NoError(t, run(t.Context(), scope(), func(ctx context.Context, st state.State) error {
		if err := st.Create(ctx, newSettings("web", "hello")); err != nil {
			return err
		}

		// A controller that works is one of an app that listens to signals.
		if err := tell(ctx, st, "web"); err != nil {
			return err
		}

		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			return err
		}

		<-ctx.Done()

		told = true

		return ctx.Err()
	}))
	require.True(t, told)
}
