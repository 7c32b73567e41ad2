package reconcile

import "fmt"

// Class is what an error says about trying again.
type Class int

// Classes of errors. All but ClassTransient say that another try at once, or in a while, is of no use; a change of the resource
// or the next resync tries again.
const (
	// ClassTransient may go away by itself. An error that has no class is transient.
	ClassTransient Class = iota
	// ClassTerminal stays until somebody changes something.
	ClassTerminal
	// ClassNeedsApproval waits for somebody to agree.
	ClassNeedsApproval
	// ClassBudgetExceeded has used up what it may use.
	ClassBudgetExceeded
	// ClassCancelled was called off. It is for errors that say so themselves: context.Canceled alone is none, since a call that
	// gave up for reasons of its own returns it as well. A pass that was ended with its run needs no class.
	ClassCancelled
)

var classNames = [...]string{"transient", "terminal", "needs approval", "budget exceeded", "cancelled"}

// String names the class.
func (c Class) String() string {
	if c < 0 || int(c) >= len(classNames) {
		return fmt.Sprintf("class %d", int(c))
	}

	return classNames[c]
}

// Classified is an error that has a class.
type Classified interface {
	error
	Class() Class
}

// ClassOf returns the class of an error. Of several in one tree, as errors.Join makes them, it is the first that is
// not [ClassTransient]: what can not be helped by another try is not helped by standing beside something that can.
func ClassOf(err error) Class {
	if classified, ok := err.(Classified); ok {
		if class := classified.Class(); class != ClassTransient {
			return class
		}
	}

	switch err := err.(type) {
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			return ClassOf(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range err.Unwrap() {
			if class := ClassOf(inner); class != ClassTransient {
				return class
			}
		}
	}

	return ClassTransient
}

// ClassError is an error with a class.
type ClassError struct {
	// Err is what has happened.
	Err error
	// Of is its class.
	Of Class
}

// WithClass gives an error a class. Of nil it is nil.
func WithClass(class Class, err error) error {
	if err == nil {
		return nil
	}

	return &ClassError{Err: err, Of: class}
}

// Terminal says that another try does not help, until somebody changes something. Of nil it is nil.
func Terminal(err error) error { return WithClass(ClassTerminal, err) }

// Error is the text of what has happened.
func (e *ClassError) Error() string { return e.Err.Error() }

// Class implements [Classified].
func (e *ClassError) Class() Class { return e.Of }

// Unwrap returns what has happened.
func (e *ClassError) Unwrap() error { return e.Err }
