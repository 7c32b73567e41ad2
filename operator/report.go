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
	run.note(res)

	if run.status.desired == nil {
		return
	}

	seen := run.status.observation()
	*seen.generation = run.generation

	// Of a pass that worked on what is not so any more nothing is known, apart from what handlers have set.
	if !run.def.reports.off && !res.overtaken() {
		for _, c := range res.conditions {
			run.condition(c)
		}
	}

	if within.Err() != nil {
		var cancel context.CancelFunc

		within, cancel = context.WithTimeout(ctx, reportTime)
		defer cancel()
	}

	if err := run.put(within, run.status.current, run.status.desired); err != nil {
		res.err = errors.Join(res.err, fmt.Errorf("writing the status: %w", err))
		res.verdict, res.after = reconcile.Failed, 0

		if ctx.Err() != nil {
			res.verdict = reconcile.Stopped
		}
	}
}

// note makes events of what has changed, and of what has failed.
func (run *pass) note(res *result) {
	if res.overtaken() {
		return
	}

	if res.verdict == reconcile.Failed || res.verdict == reconcile.Halted {
		run.action = res.at.action
		run.event(Warning, failureReason(res.err), failureMessage(res.at, res.err))
	}

	if run.status.desired == nil || run.def.reports.off {
		return
	}

	before := run.status.conditions()

	for _, c := range res.conditions {
		if c.Type == Ready && len(run.def.stages) > 0 || c.Status == Unknown || c.Status == False && res.verdict != reconcile.Pending {
			continue // said of a stage, or of no interest, or above
		}

		if old, _ := before.Get(c.Type); old.Status != c.Status || old.Reason != c.Reason {
			run.action = c.Type
			run.event(Normal, c.Reason, fmt.Sprintf("%s is %s", c.Type, c.Status)+suffix(c.Message))
		}
	}
}

func suffix(message string) string {
	if message == "" {
		return ""
	}

	return ": " + message
}
