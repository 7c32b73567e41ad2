package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-run/switchyard/reconcile"
)

// reportTime bounds the report of a pass that has used up its own time.
const reportTime = 5 * time.Second

// waiting returns the wait in an error.
func waiting(err error) (*reconcile.WaitError, bool) { return errors.AsType[*reconcile.WaitError](err) }

// report brings what the pass has come to into its status and writes it. A report that can not be written has the pass run
// again, whatever it has come to.
func (run *pass) report(ctx, within context.Context, res *result) {
	run.noteFailure(res)

	if run.status.desired == nil {
		return
	}

	changes := run.changes(res)

	// Of a pass that worked on what is not so any more nothing is known, apart from what handlers have set. Conditions of what was
	// asked for before would pass for those of now if it said what it has looked at.
	if !res.overtaken() {
		run.examined(res.conditions)
	}

	if within.Err() != nil {
		var cancel context.CancelFunc

		within, cancel = context.WithTimeout(ctx, reportTime)
		defer cancel()
	}

	if err := run.putStatus(within); err != nil {
		res.unreported(ctx, fmt.Errorf("writing the status: %w", err))
		run.noteUnreported(err)

		return // what has changed is noted when it is written, and not each time it is not
	}

	for _, c := range changes {
		run.action = c.Type
		run.event(Normal, c.Reason, fmt.Sprintf("%s is %s", c.Type, c.Status)+suffix(c.Message))
	}
}

// examined brings what was looked at into the status, and what was found.
func (run *pass) examined(conditions []Condition) {
	*run.status.observation().generation = run.generation

	if run.def.reports.off {
		return
	}

	for _, c := range conditions {
		run.condition(c)
	}
}

// unreported says that the status could not be written. Where others have torn it down and hold it, that is waited for, and no
// failure: they let go of it when they like.
func (res *result) unreported(ctx context.Context, err error) {
	res.err = errors.Join(res.err, err)

	waits, ok := waiting(err)

	switch {
	case ctx.Err() != nil:
		res.verdict, res.after = reconcile.Stopped, 0
	case !ok || res.verdict == reconcile.Failed:
		res.verdict, res.after = reconcile.Failed, 0
	case res.after == 0 || waits.After < res.after:
		res.verdict, res.after = reconcile.Pending, waits.After
	default:
		res.verdict = reconcile.Pending
	}
}

// noteFailure makes an event of a failure.
func (run *pass) noteFailure(res *result) {
	if !res.overtaken() && (res.verdict == reconcile.Failed || res.verdict == reconcile.Halted) {
		run.action = res.at.action
		run.event(Warning, failureReason(res.err), failureMessage(res.at, res.err))
	}
}

// noteUnreported makes an event of a status that could not be written, unless that will go by itself.
func (run *pass) noteUnreported(err error) {
	if _, waits := waiting(err); !waits && !isConflict(err) {
		run.action = "Status"
		run.event(Warning, failureReason(err), "writing the status: "+failureText(err))
	}
}

// changes are those conditions of which an event tells that they are others than before.
func (run *pass) changes(res *result) (all []Condition) {
	if res.overtaken() || run.def.reports.off {
		return nil
	}

	before := run.status.conditions()

	for _, c := range res.conditions {
		if c.Type == Ready && len(run.def.stages) > 0 || c.Status == Unknown || c.Status == False && res.verdict != reconcile.Pending {
			continue // said of a stage, or of no interest, or as a failure
		}

		if old, _ := before.Get(c.Type); old.Status != c.Status || old.Reason != c.Reason {
			all = append(all, c)
		}
	}

	return all
}

func suffix(message string) string {
	if message == "" {
		return ""
	}

	return ": " + message
}
