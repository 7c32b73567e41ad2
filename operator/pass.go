package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/reconcile"
	"github.com/switchyard-run/switchyard/recording"
)

// pass is one call of a controller for one primary.
type pass struct {
	def       *definition
	blockers  *blockers
	offspring *offspring
	runtime   controller.QRuntime
	logger    *zap.Logger
	clock     clockwork.Clock

	// primary is what the state had when the pass began, or right after the finalizer was put on it. Nobody changes it.
	primary     resource.Resource
	generation  int64
	incarnation string
	status      draft

	// action names what runs now, for events.
	action string
	events []Event
	// dropped counts events that found no room.
	dropped int
	// mistakes are what handlers did wrong and were not told, as the call returns no error.
	mistakes []error
	// exited reports what the pass has come to when a handler ends its goroutine.
	exited func(res result)
	// saved is what the handler wants the primary to be.
	saved resource.Resource
	// statusGoes says that the status is on its way out, and not written any more.
	statusGoes bool
}

// look makes a primary the one that the pass is about.
func (run *pass) look(primary resource.Resource) {
	run.primary = primary
	run.generation = generation.Of(primary)
	run.incarnation = Incarnation(primary)
}

// mistake fails the pass, for good.
func (run *pass) mistake(format string, args ...any) {
	run.mistakes = append(run.mistakes, refused(format, args...))
}

// failing adds what handlers were not told of to what they have returned.
func (run *pass) failing(err error) error {
	if len(run.mistakes) == 0 {
		return err
	}

	mistakes := errors.Join(run.mistakes...)
	run.mistakes = nil

	if err == nil {
		return mistakes
	}

	return errors.Join(err, mistakes)
}

// condition sets a condition in the status. Its time is that of a change from one pass to another: what a handler has said on the
// way to what it says in the end is nothing that was seen.
func (run *pass) condition(c Condition) {
	c.ObservedGeneration = run.generation
	c, _ = run.status.before.With(c, run.now()).Get(c.Type)

	seen := run.status.observation()
	*seen.conditions = seen.conditions.put(c)
}

// now is the time of conditions and events.
func (run *pass) now() time.Time { return run.clock.Now().Round(0).UTC() }

// clockOf returns the clock of a pass. In a recorded pass, what it shows is in the recording.
func clockOf(ctx context.Context) clockwork.Clock {
	return recording.Clock(ctx, clockwork.NewRealClock())
}

// draft is a status that is being written.
type draft struct {
	// current is what the state has, or nil.
	current resource.Resource
	// foreign is what is in the place of the status and belongs to somebody else.
	foreign *resource.Metadata
	// desired is what is to be there, or nil if the controller has no status.
	desired resource.Resource
	// before are the conditions that desired began with.
	before Conditions
}

type observed interface {
	observation() observation
	reset()
}

func (d *draft) observation() observation { return d.desired.Spec().(observed).observation() }

func (d *draft) conditions() Conditions { return *d.observation().conditions }

// begin reads the status of the primary. What it says of another life of the primary does not count.
func (run *pass) begin(ctx context.Context) error {
	kind := run.def.status
	if kind == nil {
		return nil
	}

	md := resource.NewMetadata(kind.kind.Namespace, kind.kind.Type, run.primary.Metadata().ID(), resource.VersionUndefined)

	current, err := run.find(ctx, md)
	if err != nil {
		return fmt.Errorf("reading the status: %w", err)
	}

	run.status = draft{desired: kind.empty(md)}

	switch {
	case current == nil:
	case current.Metadata().Owner() != run.def.name:
		run.status.foreign = current.Metadata() // not read, not written, and not removed
		current = nil
	default:
		if _, ok := current.Spec().(observed); !ok {
			return refused("the state holds a %T where controller %q has its status: register the type where the state is made", current, run.def.name)
		}
	}

	run.status.current = current

	if current != nil && current.Metadata().Phase() == resource.PhaseRunning {
		run.status.desired = current.DeepCopy()
	}

	if seen := run.status.observation(); *seen.uid != run.incarnation {
		run.status.desired.Spec().(observed).reset()
		*seen.uid = run.incarnation
	}

	run.status.before = run.status.conditions()

	return nil
}

// putStatus writes the status.
func (run *pass) putStatus(ctx context.Context) error {
	if other := run.status.foreign; other != nil {
		return refused("%s belongs to %q and not to controller %q: remove it, or give the controller's status a type of its own",
			other, other.Owner(), run.def.name)
	}

	return run.put(ctx, run.status.current, run.status.desired)
}

// find reads what the state has right now; nil is nothing.
func (run *pass) find(ctx context.Context, ptr resource.Pointer) (resource.Resource, error) {
	res, err := run.runtime.GetUncached(ctx, ptr)
	if state.IsNotFoundError(err) {
		return nil, nil
	}

	return res, err
}

// put makes the state have what is desired in place of what it has, which is nil for nothing. It writes only what is another,
// and only over what was read: if it was changed meanwhile, that is a conflict, and the whole pass runs again.
func (run *pass) put(ctx context.Context, current, desired resource.Resource) error {
	switch {
	case current == nil:
		return run.runtime.Create(ctx, desired)
	case current.Metadata().Phase() == resource.PhaseTearingDown:
		return run.replace(ctx, current, desired)
	case same(current, desired):
		return nil
	default:
		return run.runtime.Update(ctx, desired)
	}
}

// replace makes again what somebody has torn down, once nobody holds it any more.
func (run *pass) replace(ctx context.Context, current, desired resource.Resource) error {
	md := current.Metadata()

	if !md.Finalizers().Empty() {
		return reconcile.Wait("ChildTerminating", reconcile.Message("%s is being torn down, and is made again when %s have let go of it",
			md, *md.Finalizers()))
	}

	if err := run.runtime.Destroy(ctx, md); err != nil && !state.IsNotFoundError(err) {
		return err
	}

	return run.runtime.Create(ctx, desired)
}

// remove takes something away that belongs to the controller, and tells whether it is gone.
func (run *pass) remove(ctx context.Context, ptr resource.Pointer) (gone bool, err error) {
	ready, err := run.runtime.Teardown(ctx, ptr)
	if err == nil && ready {
		err = run.runtime.Destroy(ctx, ptr)
	}

	if state.IsNotFoundError(err) {
		return true, nil
	}

	return err == nil && ready, err
}
