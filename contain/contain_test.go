package contain_test

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/contain"
)

var errMine = errors.New("mine")

func TestContainReturnsWhatTheCallbackReturns(t *testing.T) {
	t.Parallel()

	require.NoError(t, contain.Call(func() error { return nil }))
	require.Equal(t, errMine, contain.Call(func() error { return errMine }))
}

// fails panics, under a name that the stack is to show.
func fails(value any) error { panic(value) }

func TestContainTurnsPanicsIntoErrors(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		value any
		says  string
	}{
		"error":        {errMine, "panic: mine"},
		"wrapped":      {fmt.Errorf("around: %w", errMine), "panic: around: mine"},
		"string":       {"out of paper", "panic: out of paper"},
		"number":       {42, "panic: 42"},
		"nothing":      {nil, "panic: panic called with nil argument"},
		"nested panic": {&contain.PanicError{Value: errMine}, "panic: panic: mine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := contain.Call(func() error { return fails(test.value) })
			require.ErrorContains(t, err, test.says)

			var panicked *contain.PanicError

			require.ErrorAs(t, err, &panicked)
			require.Contains(t, string(panicked.Stack), "contain_test.fails", "the stack is where it happened")

			if cause, ok := test.value.(error); ok {
				require.ErrorIs(t, err, cause)
				require.Equal(t, errors.Is(cause, errMine), errors.Is(err, errMine))
			} else {
				require.NotErrorIs(t, err, errMine)
			}
		})
	}
}

// The run-time's own panics are errors like others.
func TestContainTakesRuntimeErrors(t *testing.T) {
	t.Parallel()

	var missing map[string]int

	err := contain.Call(func() error {
		missing["a"] = 1

		return nil
	})

	var runtimeError runtime.Error

	require.ErrorAs(t, err, &runtimeError)
}

// An error that panics when it is asked what it wraps would do so far from the callback that made it.
func TestContainTakesErrorsThatCanNotBeAsked(t *testing.T) {
	t.Parallel()

	var (
		none    *fs.PathError
		requeue *controller.RequeueError
	)

	for name, test := range map[string]struct {
		fn   func() error
		says string
	}{
		"returned":         {func() error { return none }, "*fs.PathError"},
		"wrapped":          {func() error { return fmt.Errorf("around: %w", none) }, "*fmt.wrapError"},
		"joined":           {func() error { return errors.Join(errMine, none) }, "*errors.joinError"},
		"request to rerun": {func() error { return requeue }, "*controller.RequeueError"},
		"asked as":         {func() error { return grumpy{} }, "contain_test.grumpy"},
		"says yes":         {func() error { return fmt.Errorf("around: %w", liar{}) }, "says to be whatever it is asked for"},
		"printed":          {func() error { return bomb{} }, "a value of type contain_test.bomb that can not be printed"},
		"printed at large": {func() error { return large{} }, "contain_test.large"},
		"asked, printed":   {func() error { return trap{} }, "a value of type contain_test.bomb that can not be printed"},
		"panicked with":    {func() error { return fails(none) }, "<nil>"},
		"panicked, asked":  {func() error { return fails(trap{}) }, "a trap"},
		"panicked, lying":  {func() error { return fails(liar{}) }, "a lie"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := contain.Call(test.fn)
			require.ErrorContains(t, err, test.says)
			require.NotErrorIs(t, err, errMine)
			require.False(t, errors.As(err, new(*controller.RequeueError)))

			var panicked *contain.PanicError

			require.ErrorAs(t, err, &panicked)
			require.NotEmpty(t, panicked.Stack)
		})
	}

	err := contain.Call(func() error { return fails(none) })

	var panicked *contain.PanicError

	require.ErrorAs(t, err, &panicked)
	require.Contains(t, string(panicked.Stack), "contain_test.fails", "the stack is where it happened")
}

// grumpy is an error that does not like to be asked.
type grumpy struct{}

func (grumpy) Error() string { return "leave me alone" }
func (grumpy) As(any) bool   { panic("asked") }

// bomb is an error that panics when it is printed, with what can not be printed either.
type bomb struct{}

func (bomb) Error() string { panic(bomb{}) }

// large is an error that is a bomb when all of it is printed.
type large struct{}

func (large) Error() string          { return "large" }
func (large) Format(fmt.State, rune) { panic(bomb{}) }

// trap is an error that panics with a bomb when it is asked what it wraps.
type trap struct{}

func (trap) Error() string { return "a trap" }
func (trap) Unwrap() error { panic(bomb{}) }

// liar is an error that says to be whatever it is asked for, and then is nothing.
type liar struct{}

func (liar) Error() string { return "a lie" }
func (liar) As(any) bool   { return true }

// What can not be printed does no harm, and what it was is told as far as it can be.
func TestPanicsWithWhatCanNotBePrinted(t *testing.T) {
	t.Parallel()

	for _, value := range []any{bomb{}, &bomb{}, []error{bomb{}}} {
		err := contain.Call(func() error { return fails(value) })
		require.EqualError(t, err, fmt.Sprintf("panic: a value of type %T that can not be printed", value))

		core, logs := observer.New(zap.InfoLevel)
		zap.New(core).Error("failed", contain.Fields(err)...)
		require.Contains(t, logs.All()[0].ContextMap()["stack"], "contain_test.fails")
	}
}

// The stack of a panic is logged, once, and an ordinary error has none.
func TestFields(t *testing.T) {
	t.Parallel()

	core, logs := observer.New(zap.InfoLevel)
	logger := zap.New(core)

	logger.Error("failed", contain.Fields(errMine)...)
	logger.Error("panicked", contain.Fields(fmt.Errorf("in a pass: %w", contain.Call(func() error { return fails("x") })))...)

	require.Equal(t, map[string]any{"error": "mine"}, logs.All()[0].ContextMap())

	fields := logs.All()[1].ContextMap()
	require.Len(t, fields, 2)
	require.Equal(t, "in a pass: panic: x", fields["error"])
	require.Contains(t, fields["stack"], "contain_test.fails")
}

// A loop goes on until its step says so, whatever number of its goroutines are ended under it.
func TestLoopSurvivesGoexit(t *testing.T) {
	t.Parallel()

	var (
		wg    sync.WaitGroup
		trace []string
	)

	script := []string{"go on", "exit", "exit", "exit", "go on", "exit", "stop"}

	contain.Loop(&wg, func() bool {
		do := script[0]
		script = script[1:]
		trace = append(trace, do)

		if do == "exit" {
			runtime.Goexit()
		}

		return do == "go on"
	}, func() { trace = append(trace, "exited") })

	wg.Wait()

	require.Equal(t, []string{"go on", "exit", "exited", "exit", "exited", "exit", "exited", "go on", "exit", "exited", "stop"}, trace)
}

// The wait group counts loops: it is at rest when all have ended, however they went on.
func TestLoopsShareAWaitGroup(t *testing.T) {
	t.Parallel()

	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		exits int
	)

	for range 10 {
		left := 5

		contain.Loop(&wg, func() bool {
			left--

			if left > 0 {
				runtime.Goexit()
			}

			return false
		}, func() {
			mu.Lock()
			defer mu.Unlock()

			exits++
		})
	}

	wg.Wait()
	assert.Equal(t, 40, exits)
}
