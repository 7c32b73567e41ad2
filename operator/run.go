package operator

import (
	"context"
	"reflect"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/reconcile"
)

// Reasons that the layer gives.
const (
	reasonReconciled         = "Reconciled"
	reasonDependencyNotReady = "DependencyNotReady"
	reasonOutOfScope         = "OutOfScope"
	otherwise                = "Otherwise"
)

// result is what a pass has come to.
type result struct {
	verdict reconcile.Verdict
	after   time.Duration
	err     error
	// at is where the pass has ended, unless it has succeeded.
	at *step
	// conditions are what is reported.
	conditions []Condition
	// worked says that handlers have run for a primary that is there to stay.
	worked bool
	// over says that there is nothing to report.
	over bool
}

// overtaken tells whether somebody else was faster, so that nothing is known but that the pass runs again.
func (res *result) overtaken() bool { return res.verdict == reconcile.Failed && isConflict(res.err) }

// steps runs the steps of the pass until one waits or fails. The pass may not take longer than the context within; it is
// judged by the one of the run.
func (run *pass) steps(ctx, within context.Context) (res result) {
	order := run.def.order
	res.worked = true

	for i, s := range order {
		run.action = s.action

		branch, err := run.step(within, s, func() {
			run.exited(run.halfway(ctx, res, s, order[i+1:]))
		})
		res.err = run.failing(answerable(err))

		verdict, after := reconcile.Classify(ctx, res.err)

		if verdict == reconcile.Succeeded && within.Err() != nil {
			res.err = within.Err() // too late is not done
			verdict, after = reconcile.Classify(ctx, res.err)
		}

		res.verdict = verdict

		if res.verdict != reconcile.Succeeded {
			if verdict != reconcile.Pending || res.after == 0 || after < res.after {
				res.after = after // an earlier step that wants to run again sooner does
			}

			res.at = s
			res.conditions = append(res.conditions, run.unfinished(res, order[i+1:])...)

			return res
		}

		if after > 0 && (res.after == 0 || after < res.after) {
			res.after = after
		}

		if s.condition != "" {
			res.conditions = append(res.conditions, Condition{Type: s.condition, Status: True, Reason: branch})
		}
	}

	res.err = nil
	res.conditions = append(res.conditions, Condition{Type: Ready, Status: True, Reason: reasonReconciled})

	return res
}

// unfinished is what is reported of a pass that ended in a step, and did not come to the later ones.
func (run *pass) unfinished(res result, later []*step) (all []Condition) {
	c := Condition{Status: False}

	if waits, ok := waiting(res.err); ok && res.verdict == reconcile.Pending {
		c.Reason, c.Message = waits.Reason, waits.Message
	} else {
		c.Reason, c.Message = failureReason(res.err), failureMessage(res.at, res.err)
	}

	if c.Type = res.at.condition; c.Type != "" {
		all = append(all, c)
	}

	for _, s := range later {
		all = append(all, Condition{Type: s.condition, Status: Unknown, Reason: reasonDependencyNotReady, Message: "waits for " + res.at.title()})
	}

	c.Type = Ready

	return append(all, c)
}

// halfway is what a pass has come to of which a handler has ended the goroutine.
func (run *pass) halfway(ctx context.Context, res result, s *step, later []*step) result {
	res.at, res.after, res.err = s, 0, run.failing(contain.ErrGoexit)
	res.verdict = reconcile.Failed

	if ctx.Err() != nil {
		res.verdict = reconcile.Stopped
	}

	res.conditions = append(res.conditions, run.unfinished(res, later)...)

	return res
}

// step runs one step and returns the name of what has run in it. If that ends the goroutine, exited is called before it does.
func (run *pass) step(ctx context.Context, s *step, exited func()) (branch string, err error) {
	returned := false

	defer func() {
		if !returned {
			exited()
		}
	}()

	err = contain.Call(func() (err error) {
		branch, err = s.call(ctx, run)

		return err
	})
	returned = true

	return branch, err
}

// call calls the handler, or that of the first case that is so, and returns the name of what it has called.
func (s *step) call(ctx context.Context, run *pass) (branch string, err error) {
	if s.run != nil {
		return reasonReconciled, s.run(ctx, run)
	}

	for _, c := range s.cases {
		switch is, err := c.when(run); {
		case err != nil:
			return "", err
		case is:
			return c.name, c.run(ctx, run)
		}
	}

	return otherwise, s.otherwise[0](ctx, run)
}

// save writes the primary as the handler wants it, over what the pass began with and nothing else.
func (run *pass) save(ctx context.Context) error {
	if run.saved == nil || sameContent(run.primary, run.saved) {
		return nil
	}

	base := run.primary.Metadata()

	// Modify would create what is gone, of this; as it has no version, that is refused like any other change.
	gone := run.primary.DeepCopy()
	gone.Metadata().SetVersion(resource.VersionUndefined)

	err := run.runtime.Modify(ctx, gone, func(current resource.Resource) error {
		if !current.Metadata().Version().Equal(base.Version()) || Incarnation(current) != run.incarnation {
			return &changedError{base}
		}

		md := current.Metadata()
		*md.Labels(), *md.Annotations() = *run.saved.Metadata().Labels(), *run.saved.Metadata().Annotations()

		return setSpec(current, run.saved)
	}, controller.WithModifyNoOwner())

	switch {
	case state.IsPhaseConflictError(err), state.IsNotFoundError(err):
		return &changedError{base}
	case state.IsOwnerConflictError(err):
		return refused("%s belongs to %q and can not be saved by others: have its owner change it", base, base.Owner())
	default:
		return err
	}
}

// sameContent tells whether two resources have the same spec, labels and annotations.
func sameContent(a, b resource.Resource) bool {
	b = b.DeepCopy()
	labels, annotations := *b.Metadata().Labels(), *b.Metadata().Annotations()
	*b.Metadata() = *a.Metadata()
	*b.Metadata().Labels(), *b.Metadata().Annotations() = labels, annotations

	return resource.Equal(a, b)
}

// setSpec gives a resource the spec of another one, which it takes over.
func setSpec(to, from resource.Resource) error {
	target, source := reflect.ValueOf(to.Spec()), reflect.ValueOf(from.Spec())

	if target.Kind() != reflect.Pointer || target.Type() != source.Type() {
		return refused("the Spec of %T can not be set: have it return a pointer", to)
	}

	target.Elem().Set(source.Elem())

	return nil
}

// changedError says that a primary is not any more what the pass began with.
type changedError struct{ primary *resource.Metadata }

func (e *changedError) Error() string {
	return e.primary.String() + " was changed while the pass worked on it; it runs again"
}

// ConflictError makes it one of the contract's.
func (*changedError) ConflictError() {}

// GetResource is part of the contract's conflicts.
func (e *changedError) GetResource() resource.Pointer { return e.primary }
