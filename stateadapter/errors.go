package stateadapter

import (
	"errors"
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/reduced"
)

// Reasons for which a call is refused; ask for them with errors.Is.
var (
	// ErrNotReadable is the reason when a controller reads what is neither its input nor its output.
	ErrNotReadable = errors.New("neither an input nor an output")
	// ErrNotWritable is the reason when a controller writes what is not its output.
	ErrNotWritable = errors.New("not an output")
	// ErrNotHoldable is the reason when a controller changes finalizers of what is not a strong or queue input.
	ErrNotHoldable = errors.New("not a strong or queue input")
	// ErrTombstone is the reason when a controller writes what stands for a resource that is gone. The state would take it,
	// and whoever reads its spec would panic.
	ErrTombstone = errors.New("a tombstone")
	// ErrRenamed is the reason when the function of a Modify makes another resource of what it is given. What is allowed and remembered is a
	// write to the one that was asked for.
	ErrRenamed = errors.New("another resource than the one to be modified, once the function has run")
	// ErrNotTracking is the reason when outputs are cleaned up that were not tracked.
	ErrNotTracking = errors.New("not being tracked")
	// ErrUnsupported is returned when a call needs an engine that this runtime is not from.
	ErrUnsupported = errors.New("not supported by the engine that runs this controller")
)

// Verb is what a controller wanted to do.
type Verb string

// Verbs, one for each guarded call.
const (
	Get                 Verb = "get"
	List                Verb = "list"
	ContextWithTeardown Verb = "wait for the teardown of"
	Create              Verb = "create"
	Update              Verb = "update"
	Modify              Verb = "modify"
	Teardown            Verb = "tear down"
	Destroy             Verb = "destroy"
	AddFinalizer        Verb = "add a finalizer to"
	RemoveFinalizer     Verb = "remove a finalizer from"
	CleanupOutputs      Verb = "clean up"
)

// RefusedError says that a call was refused, mostly by the declarations of its controller. The state was not touched.
type RefusedError struct {
	// Reason is one of the sentinels of this package.
	Reason error
	// Controller is the controller that called.
	Controller string
	// Verb is what it wanted to do.
	Verb Verb
	// Resource is what it wanted to do it to; for a list and for a cleanup its id is empty.
	Resource resource.Pointer
}

// Error names the controller, the verb and the resource, and says what to declare.
func (e *RefusedError) Error() string {
	what := reduced.KindOf(e.Resource).String()
	if id := e.Resource.ID(); id != "" {
		what = fmt.Sprintf("%s with id %q", what, id)
	}

	return fmt.Sprintf("controller %q may not %s %s: it is %v (%s)", e.Controller, e.Verb, what, e.Reason, e.hint())
}

func (e *RefusedError) hint() string {
	switch e.Reason {
	case ErrNotReadable:
		return "declare it in Inputs or Settings, or call UpdateInputs; a list needs an input without an id"
	case ErrNotWritable:
		return "declare the type in Outputs or Settings"
	case ErrTombstone:
		return "write a resource with a spec; what a destroyed resource was is not known any more"
	case ErrRenamed:
		return "have the function leave namespace, type and id as they are"
	case ErrNotHoldable:
		return "declare it as InputStrong, or as an input of a queue controller"
	default:
		return "call StartTrackingOutputs at the beginning of the pass"
	}
}

// Unwrap returns the reason, for errors.Is.
func (e *RefusedError) Unwrap() error { return e.Reason }

// conflictError is a conflict of the state that names its resource whatever the state's own error does, so that
// state.IsConflictError may be asked about kinds.
type conflictError struct {
	error
	resource resource.Pointer
}

// ConflictError implements the contract's state.ErrConflict.
func (*conflictError) ConflictError() {}

// GetResource implements the contract's state.ErrConflict.
func (e *conflictError) GetResource() resource.Pointer { return e.resource }

// Unwrap returns the state's own error.
func (e *conflictError) Unwrap() error { return e.error }

// classify makes the conflicts among the state's errors safe to ask about; others it returns as they are. Which kind
// of conflict it is can still be asked of the wrapped error.
func classify(err error, ptr resource.Pointer) error {
	if err == nil {
		return nil
	}

	if state.IsConflictError(err) || state.IsOwnerConflictError(err) || state.IsPhaseConflictError(err) {
		return &conflictError{error: err, resource: reduced.KeyOf(ptr).Pointer()}
	}

	return err
}
