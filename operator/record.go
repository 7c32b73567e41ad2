package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/contain"
)

// window is the time in which equal events are one resource.
const window = time.Hour

// flush records the events of a pass. It has its own time, so that slow recording takes nothing from the work, and what goes
// wrong is logged and nothing else.
func (q *qController) flush(ctx context.Context, run *pass) {
	if len(run.events) == 0 {
		return
	}

	budget := q.def.events.flush
	if budget == 0 {
		budget = DefaultEventFlush
	}

	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()

	for i, e := range run.events {
		if !q.filter.passes(e) {
			continue
		}

		err := contain.Call(func() error { return q.record(ctx, run.runtime, e) })
		if err == nil {
			continue
		}

		if ctx.Err() != nil {
			run.dropped += len(run.events) - i

			break
		}

		run.logger.Warn("an event was not recorded", append(contain.Fields(err), zap.String("reason", e.Reason))...)
	}

	if run.dropped > 0 {
		run.logger.Warn("events were dropped: there were too many, or recording them took too long", zap.Int("events", run.dropped))
	}
}

func (q *qController) record(ctx context.Context, r controller.QRuntime, e Event) error {
	if q.def.events.recorder != nil {
		return q.def.events.recorder.Record(ctx, e)
	}

	md := resource.NewMetadata(e.Subject.Namespace(), EventType, eventID(e), resource.VersionUndefined)

	return safe.WriterModify(ctx, r, newEvent(md), func(res *EventResource) error {
		spec := res.TypedSpec()
		first, count := spec.First, spec.Count+1

		if count == 1 {
			first = e.Time
		}

		*spec = EventSpec{
			Severity: e.Severity, SubjectNamespace: e.Subject.Namespace(), SubjectType: e.Subject.Type(), SubjectID: e.Subject.ID(),
			SubjectUID: e.SubjectUID, Controller: e.Controller, Action: e.Action, Reason: e.Reason, Message: e.Message,
			Count: count, First: first, Last: e.Time,
		}

		return nil
	})
}

// eventID is the same for events that are counted together.
func eventID(e Event) resource.ID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %q %q %d", e.Subject.Namespace(), e.Subject.Type(), e.Subject.ID(), e.SubjectUID,
		e.Controller, e.Severity, e.Reason, e.Action, e.Time.Unix()/int64(window/time.Second)))

	return hex.EncodeToString(sum[:12])
}
