package cause_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/contain"
)

// Times are in the first bucket whose bound is not below them.
func TestTimesAreCountedInBuckets(t *testing.T) {
	t.Parallel()

	var bounds cause.Histogram

	for want, all := range map[int][]time.Duration{
		0:  {-time.Second, 0, 1, 1024},
		1:  {1025, 2048},
		10: {time.Millisecond},
		26: {time.Minute, 1 << 36},
		27: {1<<36 + 1, math.MaxInt64},
	} {
		for _, d := range all {
			tr := cause.New(cause.Config{Controller: "c"})
			tr.Begin(&cause.Begin{Waited: max(d, 0)}).End(d, cause.Succeeded, nil, 0)

			timings := tr.Timings()

			for _, h := range []cause.Histogram{timings.Durations, timings.Waits} {
				require.EqualValues(t, 1, h.Buckets[want], "%s", d)
				require.EqualValues(t, 1, h.Count)
				require.Equal(t, max(d, 0), h.Sum)
			}

			require.LessOrEqual(t, d, bounds.Upper(want))
			require.True(t, want == 0 || d > bounds.Upper(want-1))
		}
	}
}

// All passes are counted, whoever has made them and however many are remembered, and hooks are not.
func TestTimingsAreOfAllPasses(t *testing.T) {
	t.Parallel()

	tr := cause.New(cause.Config{Controller: "c", Passes: 4, Workers: 3})
	require.Zero(t, tr.Timings())
	require.Zero(t, tr.Count())

	hook := tr.Within(t.Context())
	hook.Begin(&cause.Begin{Doing: cause.Hooking})

	a, b := tr.Within(t.Context()), tr.Within(t.Context())
	a.Begin(&cause.Begin{})

	for range 100 {
		b.Begin(&cause.Begin{Waited: -1}).End(time.Second, cause.Failed, errors.New("broken"), 0)
		b.Begin(&cause.Begin{Waited: time.Minute}).End(time.Second, cause.Skipped, nil, 0)
	}

	timings := tr.Timings()
	require.EqualValues(t, 202, tr.Count())
	require.EqualValues(t, 200, timings.Durations.Count)
	require.Equal(t, 200*time.Second, timings.Durations.Sum)
	require.EqualValues(t, 100, timings.Waits.Count)
	require.Equal(t, 100*time.Minute, timings.Waits.Sum)
	require.Equal(t, [...]uint64{cause.Running: 1, cause.Failed: 100, cause.Skipped: 100, cause.Stopped: 0}, timings.Outcomes)
}

// Who follows a controller is told of each pass, and of what came of one that still ran.
func TestPassesAreFollowed(t *testing.T) {
	tr := cause.New(cause.Config{Controller: "c", Workers: 2, Passes: 100})
	a, b := tr.Within(t.Context()), tr.Within(t.Context())
	at := uint64(0)

	follow := func() (told []uint64) {
		passes := tr.PassesSince(at)
		at = cause.Follow(passes, at)

		for i := range passes {
			told = append(told, passes[i].Number)
		}

		return told
	}

	require.Empty(t, follow())

	a.Begin(&cause.Begin{}).End(0, cause.Succeeded, nil, 0)
	long := a.Begin(&cause.Begin{})
	b.Begin(&cause.Begin{}).End(0, cause.Succeeded, nil, 0)

	require.Equal(t, []uint64{3, 2, 1}, follow())
	require.Equal(t, []uint64{3, 2}, follow())

	long.End(0, cause.Succeeded, nil, 0)
	require.Equal(t, []uint64{3, 2}, follow())
	require.Empty(t, follow())
	require.Zero(t, testing.AllocsPerRun(10, func() { follow() }))
}

// Of a panic the stack is remembered, as far as it is not too long, and of another failure none.
func TestStacksOfPanicsAreRemembered(t *testing.T) {
	t.Parallel()

	tr := cause.New(cause.Config{Controller: "c"})

	var deep func(int) error

	deep = func(left int) error {
		if left == 0 {
			panic("broken")
		}

		return deep(left - 1)
	}

	for depth := range 100 {
		tr.Begin(&cause.Begin{}).End(0, cause.Failed, contain.Call(func() error { return deep(depth) }), 0)

		last := tr.PassesSince(tr.Count() - 1)[0]
		require.Equal(t, "panic: broken", last.Failure)
		require.Contains(t, last.Stack, "TestStacksOfPanicsAreRemembered")
		require.Contains(t, last.Stack, "timings_test.go")
		require.LessOrEqual(t, len(last.Stack), 4<<10)
		require.Equal(t, byte('\n'), last.Stack[len(last.Stack)-1])
	}

	tr.Begin(&cause.Begin{}).End(0, cause.Failed, errors.New("broken"), 0)
	require.Empty(t, tr.PassesSince(tr.Count() - 1)[0].Stack)
}
