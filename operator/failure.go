package operator

import (
	"context"
	"errors"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/siderolabs/gen/xerrors"
)

// failure is what an engine is told of a pass that has failed. Engines read more out of an error than that: a wish to run again in
// a while, to be skipped, or, the contract's own one, that the engine ends where any call was cancelled. What the pass has come to is
// decided, so an error that may be read like that is handed on as its text alone.
func failure(res result) error {
	var requeue *controller.RequeueError

	switch {
	case res.after > 0: // it says when
	case errors.As(res.err, &requeue), errors.Is(res.err, context.Canceled), xerrors.TagIs[qtransform.SkipReconcileTag](res.err):
		return &failedError{res.err}
	}

	return res.err
}

// failedError is an error that says what has happened, and does not unwrap to it.
type failedError struct{ cause error }

func (e *failedError) Error() string { return e.cause.Error() }
