package stateadapter

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/owned"

	"github.com/switchyard-run/switchyard/reduced"
)

// Create creates an output, owned by the controller unless the options say otherwise.
func (a *Adapter) Create(ctx context.Context, res resource.Resource, opts ...controller.CreateOption) error {
	if err := a.permitContent(ctx, Create, res); err != nil {
		return err
	}

	a.outputs.touch(res.Metadata())

	write := a.begin(res.Metadata())
	defer write.End()

	change := a.changing(ctx, Create, res.Metadata())
	defer change.end()

	before := res.Metadata().Created()

	change.onTopOf(resource.VersionUndefined)
	write.OnTopOf(resource.VersionUndefined)

	err := a.owned().Create(ctx, res, opts...)
	if err == nil {
		change.made(res)
		a.created(ctx, &write, res, before)
	}

	return classify(err, res.Metadata())
}

// Update updates an output that the controller owns.
func (a *Adapter) Update(ctx context.Context, res resource.Resource) error {
	if err := a.permitContent(ctx, Update, res); err != nil {
		return err
	}

	a.outputs.touch(res.Metadata())

	write := a.begin(res.Metadata())
	defer write.End()

	change := a.changing(ctx, Update, res.Metadata())
	defer change.end()

	change.onTopOf(res.Metadata().Version())
	write.OnTopOf(res.Metadata().Version())

	err := a.owned().Update(ctx, res)
	if err == nil {
		change.made(res)
		a.updated(ctx, &write, res)
	}

	return classify(err, res.Metadata())
}

// Modify creates an output or updates it, see [Adapter.ModifyWithResult].
func (a *Adapter) Modify(ctx context.Context, empty resource.Resource, update func(resource.Resource) error, opts ...controller.ModifyOption) error {
	_, err := a.ModifyWithResult(ctx, empty, update, opts...)

	return err
}

// modifyDefaults are the options of who gives none. They are not changed.
var modifyDefaults = owned.ToModifyOptions()

// ModifyWithResult creates an output or updates it, and returns it as it is then. When others create, change or destroy
// it at the same time, it tries again, so update may be called several times, each time on the present content. An
// error of update ends it and is returned as it is.
func (a *Adapter) ModifyWithResult(
	ctx context.Context, empty resource.Resource, update func(resource.Resource) error, opts ...controller.ModifyOption,
) (resource.Resource, error) {
	if err := a.permitContent(ctx, Modify, empty); err != nil {
		return nil, err
	}

	var ptr resource.Pointer = empty.Metadata()

	a.cfg.Metrics.Read()
	a.outputs.touch(ptr)

	options := modifyDefaults
	if len(opts) > 0 {
		options = owned.ToModifyOptions(opts...)
	}

	owner := a.cfg.Name

	if options.WithNoOwner {
		owner = ""
	}

	write := a.begin(ptr)
	defer write.End()

	change := a.changing(ctx, Modify, ptr)
	defer change.end()

	// The last attempt: what update itself returned, as against the state, and on top of which version.
	var attempt struct {
		refused error
		version resource.Version
	}

	guarded := func(res resource.Resource) error {
		attempt.version = res.Metadata().Version()

		if attempt.refused = update(res); attempt.refused == nil {
			change.onTopOf(attempt.version)
		}

		return attempt.refused
	}

	for created := false; ; {
		res, err := a.cfg.State.UpdateWithConflicts(ctx, ptr, guarded, state.WithUpdateOptions(state.UpdateOptions{
			Owner: owner, ExpectedPhase: options.ExpectedPhase,
		}))

		switch {
		case err == nil:
			change.made(res)
			write.OnTopOf(attempt.version)
			write.Wrote(res)

			return res, nil
		case attempt.refused != nil:
			return nil, err
		case !state.IsNotFoundError(err):
			return nil, classify(err, ptr)
		}

		if !created {
			ptr = reduced.KeyOf(ptr).Pointer() // update may write anything into what it gets

			if err = update(empty); err != nil {
				return nil, err
			}

			created = true
		}

		change.onTopOf(resource.VersionUndefined)
		write.OnTopOf(resource.VersionUndefined)

		before := empty.Metadata().Created()
		err = a.cfg.State.Create(ctx, empty, state.WithCreateOwner(owner))

		switch {
		case err == nil:
			change.made(empty)
			a.created(ctx, &write, empty, before)

			return empty, nil
		case !state.IsConflictError(err) || state.IsOwnerConflictError(err) || state.IsPhaseConflictError(err):
			return nil, classify(err, ptr)
		}
		// Somebody else has created it in between: now it is an update.
	}
}

// Teardown marks an output as being destroyed and tells whether it is ready to be destroyed.
func (a *Adapter) Teardown(ctx context.Context, ptr resource.Pointer, opts ...controller.DeleteOption) (bool, error) {
	if err := a.permitWrite(ctx, Teardown, ptr); err != nil {
		return false, err
	}

	write := a.begin(ptr)
	defer write.End()

	if err := a.learn(ctx, Teardown, ptr, &write); err != nil {
		return false, err
	}

	ready, err := a.owned().Teardown(ctx, ptr, opts...)
	if err == nil {
		write.TearingDown()
		a.cfg.Trace.In(ctx).Wrote(string(Teardown), ptr, 0, 0)
	}

	return ready, classify(err, ptr)
}

// Destroy destroys an output without finalizers.
func (a *Adapter) Destroy(ctx context.Context, ptr resource.Pointer, opts ...controller.DeleteOption) error {
	if err := a.permitWrite(ctx, Destroy, ptr); err != nil {
		return err
	}

	write := a.begin(ptr)
	defer write.End()

	if err := a.learn(ctx, Destroy, ptr, &write); err != nil {
		return err
	}

	change := a.destroying(ctx, ptr)
	defer change.end()

	change.ending()

	err := a.owned().Destroy(ctx, ptr, opts...)
	if err == nil {
		change.ended(ptr)
		write.Destroyed()
	}

	return classify(err, ptr)
}

// AddFinalizer adds finalizers to a strong or queue input, also while it is tearing down, as the contract's state does.
// See [AddFinalizerIfRunning] for the safer way.
func (a *Adapter) AddFinalizer(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error {
	return a.finalize(ctx, AddFinalizer, ptr, adding(fins), state.WithExpectedPhaseAny())
}

// RemoveFinalizer removes finalizers from a strong or queue input.
func (a *Adapter) RemoveFinalizer(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error {
	return a.finalize(ctx, RemoveFinalizer, ptr, func(present *resource.Finalizers) {
		for _, fin := range fins {
			present.Remove(fin)
		}
	}, state.WithExpectedPhaseAny())
}

func adding(fins []resource.Finalizer) func(*resource.Finalizers) {
	return func(present *resource.Finalizers) {
		for _, fin := range fins {
			present.Add(fin)
		}
	}
}

// finalize changes the finalizers of an input, whoever owns it. It is the state's update, and not its calls for
// finalizers, since those do not tell which version they have made.
func (a *Adapter) finalize(
	ctx context.Context, verb Verb, ptr resource.Pointer, edit func(*resource.Finalizers), phase state.UpdateOption,
) error {
	if err := a.permitFinalizer(ctx, verb, ptr); err != nil {
		return err
	}

	current, err := a.cfg.State.Get(ctx, ptr)
	if err != nil {
		return err
	}

	write := a.begin(ptr)
	defer write.End()

	change := a.changing(ctx, verb, ptr)
	defer change.end()

	attempted := false

	res, err := a.cfg.State.UpdateWithConflicts(ctx, ptr, func(res resource.Resource) error {
		fins := res.Metadata().Finalizers()
		before := len(*fins)

		// Where somebody else was quicker with the same change, there is nothing left to be changed, and nothing is expected any more.
		if edit(fins); len(*fins) != before || attempted {
			change.onTopOf(res.Metadata().Version())
		}

		attempted = true

		return nil
	}, state.WithUpdateOwner(current.Metadata().Owner()), phase)
	if err == nil {
		change.made(res)
		write.Wrote(res)
	}

	return classify(err, ptr)
}

// RunningFinalizerAdder is implemented by the runtimes that this engine hands to controllers.
type RunningFinalizerAdder interface {
	// AddFinalizerIfRunning adds finalizers unless the resource is tearing down, which is a phase conflict.
	AddFinalizerIfRunning(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error
}

// AddFinalizerIfRunning adds finalizers to an input of the controller that r was handed to, unless it is tearing down:
// then it returns a phase conflict (state.IsPhaseConflictError) and leaves it alone, so that a controller that
// restarts can not pin what is about to go. On the runtime of another engine it returns [ErrUnsupported].
func AddFinalizerIfRunning(ctx context.Context, r controller.Writer, ptr resource.Pointer, fins ...resource.Finalizer) error {
	adder, ok := r.(RunningFinalizerAdder)
	if !ok {
		return fmt.Errorf("AddFinalizerIfRunning: %w", ErrUnsupported)
	}

	return adder.AddFinalizerIfRunning(ctx, ptr, fins...)
}

// AddFinalizerIfRunning implements [RunningFinalizerAdder].
func (a *Adapter) AddFinalizerIfRunning(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error {
	return a.finalize(ctx, AddFinalizer, ptr, adding(fins), state.WithExpectedPhase(resource.PhaseRunning))
}

func (a *Adapter) permitWrite(ctx context.Context, verb Verb, ptr resource.Pointer) error {
	if err := a.permit(verb, reduced.KeyOf(ptr), a.cfg.Declared.Writes(ptr.Type()), ErrNotWritable); err != nil {
		return err
	}

	return a.beforeWrite(ctx, verb, ptr)
}

// permitContent permits what writes a resource and not only a name.
func (a *Adapter) permitContent(ctx context.Context, verb Verb, res resource.Resource) error {
	if resource.IsTombstone(res) {
		return a.permit(verb, reduced.KeyOf(res.Metadata()), false, ErrTombstone)
	}

	return a.permitWrite(ctx, verb, res.Metadata())
}

func (a *Adapter) permitFinalizer(ctx context.Context, verb Verb, ptr resource.Pointer) error {
	key := reduced.KeyOf(ptr)

	if err := a.permit(verb, key, a.cfg.Declared.Holds(key), ErrNotHoldable); err != nil {
		return err
	}

	return a.beforeWrite(ctx, verb, ptr)
}

// beforeWrite counts the write and waits for its turn, after it was found to be allowed.
func (a *Adapter) beforeWrite(ctx context.Context, verb Verb, ptr resource.Pointer) error {
	a.cfg.Metrics.Wrote()

	if a.rare == nil || a.rare.limiter == nil {
		return nil
	}

	now := a.cfg.Clock.Now()
	turn := a.rare.limiter.ReserveN(now, 1)

	if !turn.OK() {
		return fmt.Errorf("controller %q could not %s %s: its change rate limit lets nothing pass", a.cfg.Name, verb, reduced.KeyOf(ptr))
	}

	delay := turn.DelayFrom(now)
	if delay <= 0 {
		return nil
	}

	timer := a.cfg.Clock.NewTimer(delay)
	defer timer.Stop()

	select {
	case <-timer.Chan():
		return nil
	case <-ctx.Done():
		turn.CancelAt(a.cfg.Clock.Now())

		return fmt.Errorf("controller %q waited for its change rate limit to %s %s: %w", a.cfg.Name, verb, reduced.KeyOf(ptr), context.Cause(ctx))
	}
}

// CleanupOutputs destroys the resources of the kinds that the controller owns and has not touched since
// [Adapter.StartTrackingOutputs], and ends the tracking. Outputs with finalizers are a conflict; the others are cleaned up nevertheless, and
// tracking goes on.
func (a *Adapter) CleanupOutputs(ctx context.Context, kinds ...resource.Kind) error {
	for _, kind := range kinds {
		key := reduced.Key{Kind: reduced.KindOf(kind)}

		if err := a.permit(CleanupOutputs, key, a.cfg.Declared.Writes(kind.Type()), ErrNotWritable); err != nil {
			return err
		}

		if err := a.permit(CleanupOutputs, key, a.outputs.tracking(), ErrNotTracking); err != nil {
			return err
		}
	}

	var failed []error

	for _, kind := range kinds {
		all, err := a.View(ctx, kind)
		if err != nil {
			return fmt.Errorf("controller %q could not list its outputs %s: %w", a.cfg.Name, reduced.KindOf(kind), err)
		}

		for res := range all.All() {
			md := res.Metadata()
			if md.Owner() != a.cfg.Name || a.outputs.touched(md) {
				continue
			}

			key := reduced.KeyOf(md)

			if err = a.Destroy(ctx, key.Pointer()); err != nil && !state.IsNotFoundError(err) {
				failed = append(failed, fmt.Errorf("controller %q could not clean up %s: %w", a.cfg.Name, key, err))
			}
		}
	}

	if err := errors.Join(failed...); err != nil {
		return err
	}

	a.outputs.stop()

	return nil
}

// StartTrackingOutputs begins to remember which outputs are created, updated or modified, successfully or not, and
// forgets what was remembered before.
func (a *Adapter) StartTrackingOutputs() {
	a.noteCall()
	a.outputs.start()
}

// StopTrackingOutputs ends the tracking without cleaning up.
func (a *Adapter) StopTrackingOutputs() { a.outputs.stop() }
