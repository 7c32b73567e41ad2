package operator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// The time of a condition is when its status changed, and nothing else moves it.
func TestConditionsKeepTheTimeOfTheirStatus(t *testing.T) {
	t.Parallel()

	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Hour) }

	var none operator.Conditions

	one := none.With(operator.Condition{Type: "A", Status: operator.True, Reason: "Fine", ObservedGeneration: 1}, at(1))
	require.Empty(t, none)

	same := one.With(operator.Condition{Type: "A", Status: operator.True, Reason: "Better", Message: "m", ObservedGeneration: 2}, at(2))
	require.Equal(t, operator.Conditions{
		{Type: "A", Status: operator.True, Reason: "Better", Message: "m", ObservedGeneration: 2, LastTransitionTime: at(1)},
	}, same)

	other := same.With(operator.Condition{Type: "A", Status: operator.False, Reason: "Bad"}, at(3))
	require.Equal(t, operator.Conditions{{Type: "A", Status: operator.False, Reason: "Bad", LastTransitionTime: at(3)}}, other)

	two := other.With(operator.Condition{Type: "B", Status: operator.Unknown}, at(4))
	require.Len(t, two, 2)
	require.Len(t, other, 1)
	require.True(t, one.Holds("A"), "what a list was made of stays as it was")
	require.False(t, two.Holds("A"))
	require.False(t, two.Holds("C"))

	found, ok := two.Get("B")
	require.True(t, ok)

	found.Status = operator.True
	require.False(t, two.Holds("B"), "what is got is a copy")
	require.Equal(t, two[1:], two.Without("A", "C"))
	require.Len(t, two, 2)
}

// counted is data that speaks for itself.
type counted int

func (c counted) DeepCopy() counted { return c }

func (c counted) String() string { return fmt.Sprintf("%d done", int(c)) }

func TestAStatusIsOneLine(t *testing.T) {
	t.Parallel()

	ready := func(status operator.ConditionStatus, reason, message string) operator.Conditions {
		return operator.Conditions{{Type: "Other"}, {Type: operator.Ready, Status: status, Reason: reason, Message: message}}
	}

	for want, status := range map[string]fmt.Stringer{
		"":                            operator.StatusSpec[operator.NoData]{},
		"3 done":                      operator.StatusSpec[counted]{Data: 3},
		"ready, 3 done":               operator.StatusSpec[counted]{Data: 3, Conditions: ready(operator.True, "Reconciled", "")},
		"not ready, Full: make room":  operator.StatusSpec[operator.NoData]{Conditions: ready(operator.False, "Full", "make room")},
		"unknown, OutOfScope, 3 done": &operator.StatusSpec[counted]{Data: 3, Conditions: ready(operator.Unknown, "OutOfScope", "")},
	} {
		require.Equal(t, want, status.String())
	}
}

// A handler may say several things of a condition before it knows. What counts is the last of them, and its time is when that became
// so: nothing has changed, and nothing is written, when each pass says the same in the end.
func TestConditionsThatAreSetSeveralTimesInAPass(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, func() operator.Definition {
			c := sites().Every(time.Minute)
			operator.Status[seen, statusExtension](c)

			return c.Reconcile(func(_ context.Context, _ *site, c *operator.Context[*site]) error {
				c.Condition("Reachable", operator.Unknown, "Looking", "")
				c.Condition("Reachable", operator.True, "Answers", "")

				return nil
			})
		})
		w.Create(newSite("a", ""))
		w.Advance(time.Second)

		md := at(statusType, "a")
		began := controllertest.Get[*siteStatus](w, md)

		w.Advance(10 * time.Minute)
		require.Equal(w, began.Metadata().Version(), controllertest.Get[*siteStatus](w, md).Metadata().Version())
		require.Equal(w, began.TypedSpec().Conditions, getStatus(w, "a").Conditions)
	})
}
