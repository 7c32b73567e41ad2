package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/reconcile"
)

var errOrdinary = errors.New("ordinary")

// hollow unwraps to nothing.
type hollow struct{}

func (hollow) Error() string { return "hollow" }
func (hollow) Unwrap() error { return nil }

// TestOutcomesHaveOneVerdict is the table of the package comment, and what may be made of it.
func TestOutcomesHaveOneVerdict(t *testing.T) {
	t.Parallel()

	wait := reconcile.Wait("Starting", reconcile.After(10*time.Second))
	again := reconcile.RequeueAfter(5 * time.Second)
	terminal := reconcile.Terminal(errOrdinary)

	for name, test := range map[string]struct {
		err     error
		verdict reconcile.Verdict
		after   time.Duration
	}{
		"nothing":                     {nil, reconcile.Succeeded, 0},
		"again":                       {again, reconcile.Succeeded, 5 * time.Second},
		"again, wrapped":              {fmt.Errorf("stage: %w", again), reconcile.Succeeded, 5 * time.Second},
		"again of the contract":       {controller.NewRequeueInterval(time.Second), reconcile.Succeeded, time.Second},
		"again at no time":            {controller.NewRequeueInterval(0), reconcile.Failed, 0},
		"again with an error":         {controller.NewRequeueErrorf(time.Second, "oh"), reconcile.Failed, time.Second},
		"wait":                        {wait, reconcile.Pending, 10 * time.Second},
		"wait, wrapped":               {fmt.Errorf("stage: %w", wait), reconcile.Pending, 10 * time.Second},
		"wait by default":             {reconcile.Wait("Starting"), reconcile.Pending, reconcile.DefaultWait},
		"two waits":                   {errors.Join(reconcile.Wait("A", reconcile.After(time.Minute)), wait), reconcile.Pending, 10 * time.Second},
		"wait and again":              {errors.Join(again, wait), reconcile.Pending, 10 * time.Second},
		"ordinary":                    {errOrdinary, reconcile.Failed, 0},
		"ordinary and wait":           {errors.Join(wait, errOrdinary), reconcile.Failed, 0},
		"ordinary in again":           {controller.NewRequeueError(wait, time.Second), reconcile.Failed, time.Second},
		"hollow":                      {hollow{}, reconcile.Failed, 0},
		"a nil of a type":             {(*reconcile.WaitError)(nil), reconcile.Failed, 0},
		"terminal":                    {terminal, reconcile.Halted, 0},
		"terminal, wrapped":           {fmt.Errorf("stage: %w", terminal), reconcile.Halted, 0},
		"terminal and wait":           {errors.Join(wait, terminal), reconcile.Halted, 0},
		"terminal behind a transient": {errors.Join(reconcile.WithClass(reconcile.ClassTransient, errOrdinary), terminal), reconcile.Halted, 0},
		"terminal in again":           {controller.NewRequeueError(terminal, time.Second), reconcile.Halted, 0},
		"needs approval":              {reconcile.WithClass(reconcile.ClassNeedsApproval, errOrdinary), reconcile.Halted, 0},
		"budget exceeded":             {reconcile.WithClass(reconcile.ClassBudgetExceeded, errOrdinary), reconcile.Halted, 0},
		"cancelled":                   {reconcile.WithClass(reconcile.ClassCancelled, errOrdinary), reconcile.Halted, 0},
		"transient":                   {reconcile.WithClass(reconcile.ClassTransient, errOrdinary), reconcile.Failed, 0},
		"a cancellation of its own":   {context.Canceled, reconcile.Failed, 0},
		"a deadline of its own":       {context.DeadlineExceeded, reconcile.Failed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			verdict, after := reconcile.Classify(t.Context(), test.err)
			require.Equal(t, test.verdict, verdict)
			require.Equal(t, test.after, after)

			ended, cancel := context.WithCancel(t.Context())
			cancel()

			verdict, after = reconcile.Classify(ended, test.err)
			require.Zero(t, after)

			if test.err == nil {
				require.Equal(t, reconcile.Succeeded, verdict)
			} else {
				require.Equal(t, reconcile.Stopped, verdict)
			}
		})
	}
}

func TestMistakesInOutcomesAreTerminal(t *testing.T) {
	t.Parallel()

	for want, err := range map[string]error{
		"has no reason":     reconcile.Wait(""),
		"has the delay 0s":  reconcile.Wait("A", reconcile.After(0)),
		"has the delay -1s": reconcile.Wait("A", reconcile.After(-time.Second)),
		"RequeueAfter(0s)":  reconcile.RequeueAfter(0),
		"RequeueAfter(-1s)": reconcile.RequeueAfter(-time.Second),
	} {
		require.ErrorContains(t, err, want)
		require.Equal(t, reconcile.ClassTerminal, reconcile.ClassOf(err))

		shown, ok := errors.AsType[interface {
			error
			Reason() string
			Public() string
		}](err)
		require.True(t, ok)
		require.Equal(t, "Refused", shown.Reason())
		require.Equal(t, err.Error(), shown.Public(), "there is nothing in it to hide")
	}
}

func TestOutcomesTellWhatTheyAre(t *testing.T) {
	t.Parallel()

	require.EqualError(t, reconcile.Wait("Starting"), "waiting: Starting")
	require.EqualError(t, reconcile.Wait("Starting", reconcile.Message("%d of %d are up", 1, 3)), "waiting: Starting: 1 of 3 are up")
	require.EqualError(t, reconcile.Terminal(errOrdinary), "ordinary")
	require.ErrorIs(t, reconcile.Terminal(errOrdinary), errOrdinary)
	require.NoError(t, reconcile.Terminal(nil))
	require.NoError(t, reconcile.WithClass(reconcile.ClassBudgetExceeded, nil))
	require.Equal(t, "needs approval", reconcile.ClassNeedsApproval.String())
	require.Equal(t, "class 17", reconcile.Class(17).String())
	require.Equal(t, "halted", reconcile.Halted.String())
	require.Equal(t, "verdict -1", reconcile.Verdict(-1).String())
	require.Equal(t, "Ints(a/b)", reconcile.Ref{Kind: "Ints", Scope: "a", Name: "b"}.String())
	require.Equal(t, ref("a"), reconcile.RefOf(number("a", 1).Metadata()))
}

// However errors are wrapped and joined, the worst of the leaves is the verdict.
func TestTheWorstOfSeveralOutcomesCounts(t *testing.T) {
	t.Parallel()

	leaves := []error{
		reconcile.RequeueAfter(time.Second), reconcile.Wait("A"), errOrdinary, reconcile.Terminal(errOrdinary),
	}

	rapid.Check(t, func(t *rapid.T) {
		worst := -1

		var tree func(depth int) error

		tree = func(depth int) error {
			shape := rapid.IntRange(0, 3).Draw(t, "shape")

			switch {
			case depth > 3 || shape == 0:
				leaf := rapid.IntRange(0, len(leaves)-1).Draw(t, "leaf")
				worst = max(worst, leaf)

				return leaves[leaf]
			case shape == 1:
				return fmt.Errorf("wrapped: %w", tree(depth+1))
			case shape == 2:
				return errors.Join(tree(depth+1), tree(depth+1))
			default:
				return fmt.Errorf("%w and %w", tree(depth+1), tree(depth+1))
			}
		}

		verdict, _ := reconcile.Classify(context.Background(), tree(0))
		require.Equal(t, reconcile.Verdict(worst), verdict)
	})
}
