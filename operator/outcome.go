package operator

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/reconcile"
)

// Wait ends a pass because something is not ready yet, which is no failure; it is [reconcile.Wait].
func Wait(reason string, opts ...reconcile.WaitOption) error { return reconcile.Wait(reason, opts...) }

// After says when a [Wait] looks again at the latest; it is [reconcile.After].
func After(d time.Duration) reconcile.WaitOption { return reconcile.After(d) }

// Message says what a [Wait] waits for, to people; it is [reconcile.Message].
func Message(format string, args ...any) reconcile.WaitOption {
	return reconcile.Message(format, args...)
}

// RequeueAfter ends a pass well and has another one follow after a time; it is [reconcile.RequeueAfter].
func RequeueAfter(d time.Duration) error { return reconcile.RequeueAfter(d) }

// Terminal says that another try does not help, until somebody changes something; it is [reconcile.Terminal].
func Terminal(err error) error { return reconcile.Terminal(err) }

// RefusedError is what the layer refuses to do for a handler. It is always [reconcile.Terminal].
type RefusedError struct {
	// Text says what, and what to do.
	Text string

	// cause is the text of an error of code that is not the layer's, if there is one. It may show what is in a resource.
	cause string
}

// Error is the text, and what has caused it.
func (e *RefusedError) Error() string { return e.Text + suffix(e.cause) }

// Class implements [reconcile.Classified].
func (e *RefusedError) Class() reconcile.Class { return reconcile.ClassTerminal }

// Reason is the reason in conditions and events.
func (e *RefusedError) Reason() string { return "Refused" }

// Public is the text: there is nothing secret in it.
func (e *RefusedError) Public() string {
	if e.cause != "" {
		return e.Text + "; the log says why"
	}

	return e.Text
}

func refused(format string, args ...any) error {
	return &RefusedError{Text: fmt.Sprintf(format, args...)}
}

// refusedFor refuses something because of an error of code that is not the layer's.
func refusedFor(err error, format string, args ...any) error {
	return &RefusedError{Text: fmt.Sprintf(format, args...), cause: err.Error()}
}

// isConflict tells whether somebody else was faster.
func isConflict(err error) bool {
	return state.IsConflictError(err) && !state.IsOwnerConflictError(err) && !state.IsPhaseConflictError(err)
}

// Words for failures that have no exported type.
const (
	reasonError    = "Error"
	reasonPanic    = "Panic"
	reasonTimeout  = "Timeout"
	reasonConflict = "Conflict"
	reasonTerminal = "Terminal"
)

// failureReason names the kind of a failure. Texts of errors do not go into a status, as there may be secrets in them; the
// error says so itself if it has something to tell, with a method Reason() string.
func failureReason(err error) string {
	if own, ok := errors.AsType[interface {
		error
		Reason() string
	}](err); ok && word.MatchString(own.Reason()) {
		return own.Reason()
	}

	if _, ok := errors.AsType[*contain.PanicError](err); ok || errors.Is(err, contain.ErrGoexit) {
		return reasonPanic
	}

	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return reasonTimeout
	case state.IsConflictError(err):
		return reasonConflict
	}

	if name := innermostType(err); name != "" {
		return name
	}

	if reconcile.ClassOf(err) != reconcile.ClassTransient {
		return reasonTerminal
	}

	return reasonError
}

// failureMessage says where it has failed, and what the error says to everybody, with a method Public() string.
func failureMessage(s *step, err error) string { return s.title() + ": " + failureText(err) }

func failureText(err error) string {
	if own, ok := errors.AsType[interface {
		error
		Public() string
	}](err); ok {
		return own.Public()
	}

	return failureReason(err)
}

// answerable returns an error of a handler, or the panic of one that can not be asked what it is.
func answerable(err error) error {
	panicked := contain.Call(func() error {
		if err != nil {
			_, _ = reconcile.Classify(context.Background(), err)
			_ = failureText(err)
			_ = failureReason(err)
		}

		return nil
	})
	if panicked != nil {
		return panicked
	}

	return err
}

// innermostType names the exported type of the innermost error that has one.
func innermostType(err error) (name string) {
	for err != nil {
		if _, wrapper := err.(*reconcile.ClassError); !wrapper {
			if typ := exported(reflect.TypeOf(err)); typ != "" {
				name = typ
			}
		}

		switch inner := err.(type) {
		case interface{ Unwrap() error }:
			err = inner.Unwrap()
		case interface{ Unwrap() []error }:
			err = firstFailed(inner.Unwrap())
		default:
			return name
		}
	}

	return name
}

// firstFailed returns the first of several errors that is more than a wish to wait or to be called again; nil if there is none.
func firstFailed(all []error) error {
	for _, err := range all {
		if verdict, _ := reconcile.Classify(context.Background(), err); verdict >= reconcile.Failed {
			return err
		}
	}

	return nil
}

func exported(typ reflect.Type) string {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}

	name, _, _ := strings.Cut(typ.Name(), "[") // what it is made of is nothing for a reason

	if first, _ := utf8.DecodeRuneInString(name); unicode.IsUpper(first) && word.MatchString(name) {
		return name
	}

	return ""
}
