// Package contain owns what becomes of callbacks that do not return: panics are errors, and whoever ends its goroutine is
// survived. What it returns can always be asked and printed. It starts the goroutines of [Loop] and no other; they belong to the
// wait group that they are started with.
package contain

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"go.uber.org/zap"
)

// ErrGoexit is the failure of a callback that ended its goroutine with runtime.Goexit, as a failed assertion of a test
// does.
var ErrGoexit = errors.New("the callback ended its goroutine (runtime.Goexit)")

// PanicError is a panic of a callback as an error. It unwraps to the panic's value where that is an error.
type PanicError struct {
	// Value is what the callback panicked with.
	Value any
	// Stack is where it did.
	Stack []byte
}

// Error renders the value, without the stack.
func (e *PanicError) Error() string { return "panic: " + printed(e.Value) }

// Unwrap returns the value where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)

	return err
}

// Call calls fn and returns its error, or a [PanicError]. What it returns can be asked with errors.Is and errors.As, and
// be printed: an error that panics when it is, as a nil pointer to an error with an Unwrap method does, or says to be
// whatever it is asked for, comes back as a PanicError that names its type. It does not survive runtime.Goexit; see [Loop].
func Call(fn func() error) error {
	if failed := contain(fn); failed != nil {
		return askable(failed)
	}

	return nil
}

// askable returns the error, or one that can be asked and printed in its place.
func askable(failed error) error {
	hollow := contain(func() error {
		if errors.Is(failed, errNobody) || errors.As(failed, new(*nobody)) {
			panic("it says to be whatever it is asked for")
		}

		_ = failed.Error()

		if _, ok := failed.(fmt.Formatter); ok {
			fmt.Fprintf(io.Discard, "%+v", failed)
		}

		return nil
	})
	if hollow == nil {
		return failed
	}

	panicked := hollow.(*PanicError)
	panicked.Value = fmt.Sprintf("an error of type %T can not be asked what it is: %s", failed, printed(panicked.Value))

	if first, ok := failed.(*PanicError); ok {
		panicked.Value = printed(first.Value)
		panicked.Stack = first.Stack
	}

	return panicked
}

// printed renders what was panicked with. The fmt package survives a value that panics when it is printed, but not one that
// panics with another of its kind.
func printed(value any) string {
	text := ""

	if contain(func() error {
		text = fmt.Sprint(value)

		return nil
	}) != nil {
		return fmt.Sprintf("a value of type %T that can not be printed", value)
	}

	return text
}

// nobody is a type of error that nobody returns, and errNobody such an error: whoever asks for them asks every error of
// a tree.
type nobody struct{}

func (*nobody) Error() string { return "" }

var errNobody error = &nobody{}

func contain(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()

	return fn()
}

// Loop calls step in a new goroutine until it returns false. When step ends the goroutine with runtime.Goexit, exited
// is called and the loop goes on in another goroutine. The wait group counts the loop, not its goroutines.
//
// This is why callbacks do not each get a goroutine of their own, which would be the simple way to survive Goexit:
// nothing is paid for it until it happens.
func Loop(wg *sync.WaitGroup, step func() bool, exited func()) {
	wg.Add(1)

	go LoopHere(wg, step, exited)
}

// LoopHere is [Loop] in the goroutine of the caller, as far as that lasts. The wait group has been told of it.
func LoopHere(wg *sync.WaitGroup, step func() bool, exited func()) {
	ended := false

	defer func() {
		switch value := recover(); {
		case ended:
			wg.Done()
		case value != nil:
			panic(value) // a panic of the engine itself, callbacks are contained
		default:
			exited()

			go LoopHere(wg, step, exited)
		}
	}()

	for step() {
	}

	ended = true
}

// Fields are the log fields of a failure: the error, and the stack where it was a panic.
func Fields(err error) []zap.Field {
	fields := []zap.Field{zap.Error(err)}

	if stack := Stack(err); stack != nil {
		fields = append(fields, zap.ByteString("stack", stack))
	}

	return fields
}

// Stack returns where a failure has happened if it was a panic, and otherwise nil.
func Stack(err error) []byte {
	var panicked *PanicError
	if errors.As(err, &panicked) && panicked != nil {
		return panicked.Stack
	}

	return nil
}
