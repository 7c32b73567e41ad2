package operator

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/reconcile"
)

const reasonTearingDown = "TearingDown"

// cleanup does what has to be done before a primary may go: first what the handler does, then the children go, then the
// status, and the finalizer last. It begins from the start each time.
func (run *pass) cleanup(ctx, within context.Context) (res result) {
	res.at = run.def.finalize
	if res.at == nil {
		res.at = &step{def: run.def, action: "Finalize"}
	}

	run.action = res.at.action

	res.err = run.cleanUp(within, func() { run.exited(run.leftover(run.halfway(ctx, res, res.at, nil))) })
	res.verdict, res.after = reconcile.Classify(ctx, res.err)

	if res.verdict == reconcile.Succeeded && res.after > 0 {
		res.verdict = reconcile.Pending // it wants to be called again, so it is not done
		res.err = Wait(reasonTearingDown, After(res.after))
	}

	if res.verdict == reconcile.Succeeded {
		return result{over: true}
	}

	res.conditions = run.unfinished(res, nil)

	return run.leftover(res)
}

// leftover is what a cleanup that is not done has to report: nothing, where the status is not there any more, or never was.
func (run *pass) leftover(res result) result {
	res.over = run.status.current == nil || run.statusGoes

	if res.over {
		run.noteFailure(&res)
	}

	return res
}

// cleanUp is the cleanup itself. If the handler ends the goroutine, exited is called before it does.
func (run *pass) cleanUp(ctx context.Context, exited func()) error {
	if s := run.def.finalize; s != nil {
		_, err := run.step(ctx, s, exited)
		if err = run.failing(answerable(err)); err != nil {
			return err
		}

		if err := ctx.Err(); err != nil {
			return err
		}
	}

	for _, owned := range run.def.owned {
		left, err := run.prune(ctx, owned.kind, nil)
		if err != nil {
			return fmt.Errorf("removing the children of type %s: %w", owned.kind.Type, err)
		}

		if left > 0 {
			return Wait("ChildrenTerminating", Message("%d of type %s are held by others", left, owned.kind.Type))
		}
	}

	if run.status.current != nil {
		run.statusGoes = true

		gone, err := run.remove(ctx, run.status.current.Metadata())
		if err != nil {
			return fmt.Errorf("removing the status: %w", err)
		}

		if !gone {
			return Wait("StatusTerminating", Message("its status is held by others"))
		}
	}

	err := run.runtime.RemoveFinalizer(ctx, run.primary.Metadata(), run.def.finalizer, resource.Finalizer(run.def.name))
	if state.IsNotFoundError(err) {
		return nil
	}

	return err
}
