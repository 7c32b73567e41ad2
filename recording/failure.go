package recording

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/stateadapter"
)

// failure is an error as a recording holds it: its text, and the kinds that controllers ask for.
type failure struct {
	Text  string   `json:"text"`
	Kinds []string `json:"kinds,omitempty"`
	// Of is the resource of a conflict.
	Of *name `json:"of,omitempty"`
	// Refused is what a guard has said.
	Refused *refusal `json:"refused,omitempty"`
}

type refusal struct {
	Reason     string            `json:"reason"`
	Controller string            `json:"controller"`
	Verb       stateadapter.Verb `json:"verb"`
	Of         name              `json:"of"`
}

// kind is a kind of error, by how it is asked for and by an error that is of it.
type kind struct {
	name string
	is   func(error) bool
	make func(failure) error
}

// kinds are the kinds of error that survive.
var kinds = []kind{
	{"not found", state.IsNotFoundError, func(failure) error { return notFound{} }},
	{"conflict", func(err error) bool { return state.IsConflictError(err) }, func(f failure) error { return conflict{f.Of} }},
	{"owner conflict", state.IsOwnerConflictError, func(failure) error { return ownerConflict{} }},
	{"phase conflict", state.IsPhaseConflictError, func(failure) error { return phaseConflict{} }},
	{"unsupported", state.IsUnsupportedError, func(failure) error { return unsupported{} }},
	{"invalid bookmark", state.IsInvalidWatchBookmarkError, func(failure) error { return invalidBookmark{} }},
	sentinel("not on this engine", stateadapter.ErrUnsupported),
	sentinel("canceled", context.Canceled),
	sentinel("deadline exceeded", context.DeadlineExceeded),
	sentinel("no such file", fs.ErrNotExist),
	sentinel("file exists", fs.ErrExist),
	sentinel("permission denied", fs.ErrPermission),
	sentinel("closed", fs.ErrClosed),
}

func sentinel(name string, err error) kind {
	return kind{name, func(other error) bool { return errors.Is(other, err) }, func(failure) error { return err }}
}

// reasons are those of refusals.
var reasons = []error{
	stateadapter.ErrNotReadable, stateadapter.ErrNotWritable, stateadapter.ErrNotHoldable, stateadapter.ErrNotTracking,
	stateadapter.ErrTombstone, stateadapter.ErrRenamed,
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}

	f := &failure{Text: err.Error()}

	for _, k := range kinds {
		if k.is(err) {
			f.Kinds = append(f.Kinds, k.name)
		}
	}

	var conflict state.ErrConflict
	if errors.As(err, &conflict) {
		if ptr := conflict.GetResource(); ptr != nil {
			n := nameOf(ptr)
			f.Of = &n
		}
	}

	var refused *stateadapter.RefusedError
	if errors.As(err, &refused) {
		f.Refused = &refusal{
			Reason: refused.Reason.Error(), Controller: refused.Controller, Verb: refused.Verb, Of: nameOf(refused.Resource),
		}
	}

	return f
}

// err makes an error of a failure; nil of nil.
func (f *failure) err() error {
	if f == nil {
		return nil
	}

	made := &recordedError{text: f.Text}

	if f.Refused != nil {
		refused := &stateadapter.RefusedError{
			Reason:     errors.New(f.Refused.Reason),
			Controller: f.Refused.Controller,
			Verb:       f.Refused.Verb,
			Resource:   f.Refused.Of.pointer(),
		}

		for _, reason := range reasons {
			if reason.Error() == f.Refused.Reason {
				refused.Reason = reason
			}
		}

		made.is = append(made.is, refused)
	}

	for _, k := range kinds {
		for _, name := range f.Kinds {
			if k.name == name {
				made.is = append(made.is, k.make(*f))
			}
		}
	}

	return made
}

// recordedError is an error out of a recording. It reads as the error that was recorded, and is of its kinds.
type recordedError struct {
	text string
	is   []error
}

func (e *recordedError) Error() string { return e.text }

func (e *recordedError) Unwrap() []error { return e.is }

type notFound struct{}

func (notFound) Error() string  { return "not found" }
func (notFound) NotFoundError() {}

type conflict struct{ of *name }

func (conflict) Error() string  { return "conflict" }
func (conflict) ConflictError() {}

func (c conflict) GetResource() resource.Pointer {
	if c.of == nil {
		return nil
	}

	return c.of.pointer()
}

type ownerConflict struct{}

func (ownerConflict) Error() string       { return "owner conflict" }
func (ownerConflict) OwnerConflictError() {}

type phaseConflict struct{}

func (phaseConflict) Error() string       { return "phase conflict" }
func (phaseConflict) PhaseConflictError() {}

type unsupported struct{}

func (unsupported) Error() string     { return "unsupported" }
func (unsupported) UnsupportedError() {}

type invalidBookmark struct{}

func (invalidBookmark) Error() string              { return "invalid bookmark" }
func (invalidBookmark) InvalidWatchBookmarkError() {}
