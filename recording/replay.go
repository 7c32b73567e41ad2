package recording

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosi-project/runtime/pkg/controller"
)

// Result is what there is to tell of a replay.
type Result struct {
	Summary

	// Passes are the passes that were made, in order.
	Passes []Pass
	// Complete tells that the recording was closed; else it ends where the process that wrote it did.
	Complete bool
}

// ErrReplayEngine is what the engine of a replay returns that is to be run: the passes are made by [Replay].
var ErrReplayEngine = errors.New("the engine of a replay is not to be run; Replay makes the passes")

// Replay makes the passes of a recording with the controllers that register registers, which have to be fresh, and returns
// what came of it. Where a pass differs from the recorded one the error is a [DifferenceError], where the recording can not
// be read a [FormatError], where a controller is missing an [UnknownControllerError], and where there never was one
// [ErrNoControllers].
//
// The context is for those who do not want to wait for a controller that waits for something that is not in the recording:
// where it ends before the replay does, the error is a [StuckError]. All that Replay has started has ended when it returns.
func Replay(ctx context.Context, r io.Reader, register func(controller.Engine) error) (*Result, error) {
	t, err := read(r)
	if err != nil {
		return nil, err
	}

	if len(t.controllers) == 0 && len(t.changes) > 0 {
		return nil, ErrNoControllers
	}

	e := &replayEngine{classic: map[string]controller.Controller{}, queue: map[string]controller.QController{}}

	if err := register(e); err != nil {
		return nil, fmt.Errorf("the controllers of the replay could not be registered: %w", err)
	}

	if err := e.has(t.controllers); err != nil {
		return nil, err
	}

	return newReplay(ctx, t, e).play()
}

// replayEngine takes in the controllers.
type replayEngine struct {
	classic map[string]controller.Controller
	queue   map[string]controller.QController
}

// RegisterController implements [controller.Engine].
func (e *replayEngine) RegisterController(ctrl controller.Controller) error {
	e.classic[ctrl.Name()] = ctrl

	return nil
}

// RegisterQController implements [controller.Engine].
func (e *replayEngine) RegisterQController(ctrl controller.QController) error {
	e.queue[ctrl.Name()] = ctrl

	return nil
}

// Run implements [controller.Engine].
func (e *replayEngine) Run(context.Context) error { return ErrReplayEngine }

// has tells whether all of the controllers are there.
func (e *replayEngine) has(controllers map[string]form) error {
	for name, form := range controllers {
		_, classic := e.classic[name]
		_, queue := e.queue[name]

		switch {
		case !classic && !queue:
			return &UnknownControllerError{Controller: name, Problem: "it was not registered"}
		case classic != (form == classicForm):
			return &UnknownControllerError{Controller: name, Problem: "one of the other form was registered under its name"}
		}
	}

	return nil
}
