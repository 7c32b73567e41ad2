package generation

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// Config says what is stamped, and with what.
type Config struct {
	// Types are the types of the resources that are stamped.
	Types []resource.Type
	// NewUID returns a text that it has never returned before; it is called from several goroutines. The default is 128 random
	// bits, from which no time and no machine can be told.
	NewUID func() string
}

// Wrap returns the state with stamps on resources of the types. Writes that do not go through it are not stamped, so it
// belongs where all writers are behind it: at the server's side of a remote state. It has the optional interfaces of the contract
// that the wrapped state has.
func Wrap(core state.CoreState, cfg Config) state.CoreState {
	w := &wrapped{CoreState: core, types: map[resource.Type]struct{}{}, newUID: cfg.NewUID}

	for _, typ := range cfg.Types {
		w.types[typ] = struct{}{}
	}

	if w.newUID == nil {
		w.newUID = rand.Text
	}

	tears, hasTeardown := core.(state.Teardowner)
	destroys, hasDestroy := core.(state.TeardownAndDestroyer)

	switch {
	case hasTeardown && hasDestroy:
		return struct {
			*wrapped
			state.Teardowner
			state.TeardownAndDestroyer
		}{w, tears, destroys}
	case hasTeardown:
		return struct {
			*wrapped
			state.Teardowner
		}{w, tears}
	case hasDestroy:
		return struct {
			*wrapped
			state.TeardownAndDestroyer
		}{w, destroys}
	default:
		return w
	}
}

type wrapped struct {
	state.CoreState

	types  map[resource.Type]struct{}
	newUID func() string
}

// ConflictError says that an update was made of what another life of the id was. It is a conflict of the contract
// (state.IsConflictError), so that whoever tries again on what is there now does so.
type ConflictError struct {
	// Resource is the resource.
	Resource resource.Pointer
	// UID is the life that was written of, and Found the present one.
	UID, Found string
}

// Error names both lives.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("resource %s(%s/%s) was destroyed and created again: the update is of %q, and it is %q now; read it again",
		e.Resource.Type(), e.Resource.Namespace(), e.Resource.ID(), e.UID, e.Found)
}

// ConflictError implements the contract's state.ErrConflict.
func (*ConflictError) ConflictError() {}

// GetResource implements the contract's state.ErrConflict.
func (e *ConflictError) GetResource() resource.Pointer { return e.Resource }

// Create implements [state.CoreState].
func (w *wrapped) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	if !w.stamps(res) {
		return w.CoreState.Create(ctx, res, opts...)
	}

	generation, uid := Of(res), UID(res)

	stamp(res, 1, w.newUID())

	err := w.CoreState.Create(ctx, res, opts...)
	if err != nil {
		stamp(res, generation, uid)
	}

	return err
}

// Update implements [state.CoreState].
func (w *wrapped) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	if !w.stamps(res) {
		return w.CoreState.Update(ctx, res, opts...)
	}

	generation, uid := Of(res), UID(res)

	current, err := w.Get(ctx, res.Metadata())
	if err != nil {
		return err
	}

	if found := UID(current); uid != "" && uid != found {
		return &ConflictError{Resource: res.Metadata(), UID: uid, Found: found}
	}

	stamp(res, next(current, res), UID(current))

	if err = w.CoreState.Update(ctx, res, opts...); err != nil {
		stamp(res, generation, uid)

		return err
	}

	if UID(current) != "" && !res.Metadata().Created().Equal(current.Metadata().Created()) {
		return w.repair(ctx, res)
	}

	return nil
}

// next returns the generation of what is to be written over the current resource. Nobody can come in between: they would have
// changed the version, and the write would not be made.
func next(current, res resource.Resource) int64 {
	if sameSpec(current, res) {
		return Of(current)
	}

	return Of(current) + 1
}

// repair gives a resource a life of its own that was destroyed and created again between the read and the write of an
// update, with the version that the update was of: the write was taken for one of the new life, and has put the stamps of the old one on it.
func (w *wrapped) repair(ctx context.Context, res resource.Resource) error {
	old := UID(res)
	uid := w.newUID()

	for {
		current, err := w.Get(ctx, res.Metadata())

		switch {
		case state.IsNotFoundError(err) || err == nil && UID(current) != old:
			return nil // it is gone again, or somebody has been quicker
		case err != nil:
			return fmt.Errorf("the update was made, but the stamps of %s are those of a former life: %w", res.Metadata(), err)
		}

		stamp(current, 2, uid) // created, and changed once

		err = w.CoreState.Update(ctx, current, state.WithUpdateOwner(current.Metadata().Owner()), state.WithExpectedPhaseAny())
		if err == nil {
			*res.Metadata() = current.Metadata().Copy()

			return nil
		}

		if !state.IsConflictError(err) && !state.IsNotFoundError(err) {
			return fmt.Errorf("the update was made, but the stamps of %s are those of a former life: %w", res.Metadata(), err)
		}
	}
}

func (w *wrapped) stamps(res resource.Resource) bool {
	_, stamped := w.types[res.Metadata().Type()]

	return stamped
}

// sameSpec tells whether two resources have the same spec, in the way of the contract's resource.Equal.
func sameSpec(a, b resource.Resource) bool { return resource.Equal(a, &described{b, a.Metadata()}) }

// described is a resource with the metadata of another.
type described struct {
	resource.Resource

	md *resource.Metadata
}

// Metadata implements [resource.Resource].
func (d *described) Metadata() *resource.Metadata { return d.md }
