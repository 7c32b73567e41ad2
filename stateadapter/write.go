package stateadapter

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/reduced"
)

// Create creates an output, owned by the controller unless the options say otherwise.
func (a *Adapter) Create(ctx context.Context, res resource.Resource, opts ...controller.CreateOption) error {
	key := reduced.KeyOf(res.Metadata())

	if err := a.permitContent(ctx, Create, key, resource.IsTombstone(res)); err != nil {
		return err
	}

	a.outputs.touch(key)

	write := a.begin(key)
	defer write.End()

	change := a.changing(ctx, Create, key, res.Metadata())
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
	key := reduced.KeyOf(res.Metadata())

	if err := a.permitContent(ctx, Update, key, resource.IsTombstone(res)); err != nil {
		return err
	}

	a.outputs.touch(key)

	write := a.begin(key)
	defer write.End()

	change := a.changing(ctx, Update, key, res.Metadata())
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

// Teardown marks an output as being destroyed and tells whether it is ready to be destroyed.
func (a *Adapter) Teardown(ctx context.Context, ptr resource.Pointer, opts ...controller.DeleteOption) (bool, error) {
	key := reduced.KeyOf(ptr)

	if err := a.permitWrite(ctx, Teardown, key); err != nil {
		return false, err
	}

	write := a.begin(key)
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
	key := reduced.KeyOf(ptr)

	if err := a.permitWrite(ctx, Destroy, key); err != nil {
		return err
	}

	write := a.begin(key)
	defer write.End()

	if err := a.learn(ctx, Destroy, ptr, &write); err != nil {
		return err
	}

	change := a.destroying(ctx, key, ptr)
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
	key := reduced.KeyOf(ptr)

	if err := a.permitFinalizer(ctx, verb, key); err != nil {
		return err
	}

	current, err := a.cfg.State.Get(ctx, ptr)
	if err != nil {
		return err
	}

	write := a.begin(key)
	defer write.End()

	change := a.changing(ctx, verb, key, ptr)
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

// permitWrite permits a write to what is declared as an output.
func (a *Adapter) permitWrite(ctx context.Context, verb Verb, key reduced.Key) error {
	if err := a.permit(verb, &key, a.cfg.Declared.Writes(key.Type), ErrNotWritable); err != nil {
		return err
	}

	return a.beforeWrite(ctx, verb, key)
}

// permitContent permits what writes a resource and not only a name.
func (a *Adapter) permitContent(ctx context.Context, verb Verb, key reduced.Key, tombstone bool) error {
	if tombstone {
		return a.permit(verb, &key, false, ErrTombstone)
	}

	return a.permitWrite(ctx, verb, key)
}

func (a *Adapter) permitFinalizer(ctx context.Context, verb Verb, key reduced.Key) error {
	if err := a.permit(verb, &key, a.cfg.Declared.Holds(key), ErrNotHoldable); err != nil {
		return err
	}

	return a.beforeWrite(ctx, verb, key)
}

// beforeWrite counts the write and waits for its turn, after it was found to be allowed.
func (a *Adapter) beforeWrite(ctx context.Context, verb Verb, key reduced.Key) error {
	a.cfg.Metrics.Wrote()

	if a.rare == nil || a.rare.limiter == nil {
		return nil
	}

	now := a.cfg.Clock.Now()
	turn := a.rare.limiter.ReserveN(now, 1)

	if !turn.OK() {
		return fmt.Errorf("controller %q could not %s %s: its change rate limit lets nothing pass", a.cfg.Name, verb, key)
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

		return fmt.Errorf("controller %q waited for its change rate limit to %s %s: %w", a.cfg.Name, verb, key, context.Cause(ctx))
	}
}

// CleanupOutputs destroys the resources of the kinds that the controller owns and has not touched since
// [Adapter.StartTrackingOutputs], and ends the tracking. Outputs with finalizers are a conflict; the others are cleaned up nevertheless, and
// tracking goes on.
func (a *Adapter) CleanupOutputs(ctx context.Context, kinds ...resource.Kind) error {
	for _, kind := range kinds {
		key := reduced.Key{Kind: reduced.KindOf(kind)}

		if err := a.permit(CleanupOutputs, &key, a.cfg.Declared.Writes(kind.Type()), ErrNotWritable); err != nil {
			return err
		}

		if err := a.permit(CleanupOutputs, &key, a.outputs.tracking(), ErrNotTracking); err != nil {
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
			if md.Owner() != a.cfg.Name {
				continue
			}

			key := reduced.KeyOf(md)
			if a.outputs.has(key) {
				continue
			}

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
